// The definition of the benchmark's command line.
import { type CommandDefinition, FAILED } from '../../src/command/cli/command.js';

/** The benchmark. */
export const BENCH: CommandDefinition<'bench'> = {
  name: 'bench',
  summary: 'measure netlink, the tools and this proxy on the kernel of this machine',
  description: `Measures the same changes of the kernel by this proxy, by the tools (one process for each change, and
their batch modes), by one netlink request for each change, and by a C++ loop that only sends messages, which is the limit.
It runs in new network, mount and process namespaces: the node's own virtual services, sets, rules and interfaces
are neither read nor changed, and nothing is left after the end or after Ctrl-C, except kernel modules that the kernel loads
on demand. The locks of the kernel's network configuration are common to all namespaces, so other programs that change it may wait
for some ms. With reports of earlier runs as arguments, it measures nothing and shows them as one.`,
  arguments: [{ syntax: '[paths...]', help: 'reports of earlier runs, which -o json printed' }],
  options: [
    {
      flags: '--scenarios <names>',
      help: 'comma-separated, of ipvs, ipset, addresses, conntrack, rules, rulesAgain, full, endpoint, restart, nodeLabel, drain, deletion, audit, fullInMemory, nodeLabelInMemory, iptablesFull, iptablesEndpoint, iptablesRestart, iptablesNodeLabel, iptablesAudit, iptablesFullInMemory, iptablesEndpointInMemory, nftablesFull, nftablesEndpoint, nftablesService, nftablesEndpoints, nftablesRestart, nftablesNodeLabel, nftablesAudit, nftablesFullInMemory, nftablesEndpointInMemory, scalableFull, scalableEndpoint, scalableRestart, memory, nftablesMemory, scalableMemory, oneOperation and batch; default: all',
    },
    {
      flags: '--methods <names>',
      help: 'comma-separated, of ours, raw, rawLibipset, rawSingle, single, toolBatch, spawn and execFile; default: all',
    },
    {
      flags: '--sizes <sizes>',
      help: 'numbers of Services, comma-separated; 100x5 has 5 endpoints for each Service instead of 10; default: 100,1000,5000,10000',
    },
    {
      flags: '--repetitions <count>',
      help: 'measured runs of each figure, at most; default: 5',
      number: { least: 1, whole: true },
    },
    {
      flags: '--budget <seconds>',
      help: 'time for the runs of each figure, in s; a run that would exceed it is left out, but every figure has one run; default: 30',
      number: { least: 1, whole: true },
    },
    {
      flags: '--sample <count>',
      help: 'commands that are measured of methods that start a process for each change; the others are extrapolated; default: 50',
      number: { least: 1, whole: true },
    },
    {
      flags: '--seed <number>',
      help: 'seed of the clusters',
      default: '1',
      number: { least: 0, whole: true },
    },
    { flags: '--quick', help: 'same as --sizes 100 --repetitions 2 --sample 20, if these are not given' },
    { flags: '--system-calls', help: 'count system calls too, with strace, in runs of their own' },
    { flags: '--targets', help: 'print only the targets with their values' },
    {
      flags: '--folder <path>',
      help: 'also write benchmarks.md, or with --against against.md, at most three charts (SVG), and the report (JSON) to this folder',
    },
    {
      flags: '--progress <form>',
      help: 'progress on standard error; auto is a bar on a terminal, otherwise lines, and nothing with JSON and YAML',
      default: 'auto',
      choices: ['auto', 'bar', 'lines', 'none'],
    },
    {
      flags: '--against <command>',
      help: 'measure another proxy beside this one, with an API server of objects in memory; {kubeconfig} and {node} in this shell command are replaced',
    },
    {
      flags: '--pass-pattern <pattern>',
      help: 'regular expression of the line that the other proxy logs at the end of a pass, on standard output or standard error',
    },
    {
      flags: '--own-flags <flags>',
      help: 'with --against: flags of this proxy; default: --proxy-mode=ipvs',
    },
    {
      flags: '--rate <changes>',
      help: 'with --against: also change so many endpoints a second, each until a client reaches the new one',
      number: { least: 1, whole: true },
    },
    {
      flags: '--seconds <count>',
      help: 'with --rate: how long endpoints change; default: 60',
      number: { least: 1, whole: true },
    },
  ],
  formats: ['text', 'wide', 'json', 'yaml', 'markdown'],
  inputs: false,
  statuses: [
    [0, 'the figures were measured'],
    [FAILED, 'the arguments are invalid, the user is not root, or the benchmark failed'],
  ],
  examples: [
    ['bench -- --quick', 'a first impression, in a minute'],
    ['bench -- --folder results', 'everything, with a document and charts'],
    ['bench -- --targets -o json', 'the targets, for programs'],
  ],
};
