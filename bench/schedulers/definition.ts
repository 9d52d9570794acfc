// The definition of the command line of the load figures.
import { type CommandDefinition, FAILED } from '../../src/command/cli/command.js';
import { SPEEDS, TRAFFIC, VARIANTS } from './traffic.js';

const listed = (values: readonly { readonly name: string }[]) =>
  `comma-separated, of ${values.map(({ name }) => name).join(', ')}; default: all`;

/** The load figures. */
export const LOAD: CommandDefinition<'schedulers'> = {
  name: 'schedulers',
  summary: 'simulate how evenly schedulers of IPVS distribute connections to the endpoints of a Service',
  description: `Simulates a Service whose clients are distributed over 1, 10 and 100 nodes, with the schedulers rr, lc, sed and mh,
which select endpoints as the kernel does: each node knows its own connections only. A figure is the highest load of an endpoint ÷ the mean of
all endpoints: at a moment (mean of all moments), and in parentheses over the whole time. 1.00 is even. Nothing is read or changed in
the kernel. The same options give the same figures on every machine. docs/schedulers.md says what they mean.`,
  options: [
    { flags: '--schedulers <names>', help: listed(VARIANTS) },
    { flags: '--traffic <names>', help: listed(TRAFFIC) },
    { flags: '--speeds <names>', help: `speeds of the endpoints, ${listed(SPEEDS)}` },
    { flags: '--nodes <counts>', help: 'numbers of nodes, comma-separated', default: '1,10,100' },
    {
      flags: '--endpoints <count>',
      help: 'endpoints of the Service',
      default: '10',
      number: { least: 1, whole: true },
    },
    {
      flags: '--clients <count>',
      help: 'clients of all nodes together, each with an address',
      default: '500',
      number: { least: 1, whole: true },
    },
    {
      flags: '--rate <count>',
      help: 'new short connections of all nodes together, per second; each lasts 0.2 s in the mean at a fast endpoint',
      default: '500',
      number: { least: 1 },
    },
    {
      flags: '--open <count>',
      help: 'long connections of all nodes together that are open at a time; each lasts 600 s in the mean',
      default: '2000',
      number: { least: 1, whole: true },
    },
    {
      flags: '--order <order>',
      help: 'order of the real servers: the same on all nodes, or a random one on each',
      default: 'equal',
      choices: ['equal', 'random'],
    },
    {
      flags: '--seed <number>',
      help: 'seed of all that is random',
      default: '1',
      number: { least: 0, whole: true },
    },
  ],
  formats: ['text', 'json', 'yaml', 'markdown'],
  inputs: false,
  statuses: [
    [0, 'the figures were made'],
    [FAILED, 'the arguments are invalid'],
  ],
  examples: [
    ['schedulers', 'all figures, in half a minute'],
    ['schedulers --traffic short --order random', 'one table, as after a while of changes of the endpoints'],
    ['schedulers --schedulers rr,lc --nodes 300 --rate 20000 -o json', 'a cluster of your own, for programs'],
  ],
};
