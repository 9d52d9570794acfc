// The completion script of fish. Pure.
import { AGENT_OPTIONS, COMMAND_SYNTAX, INPUT_FLAGS, type OptionSyntax } from '../syntax.js';

/** The script. */
export function fishScript(): string {
  const names = COMMAND_SYNTAX.map(({ definition }) => definition.name).join(' ');
  const agent = `not __fish_seen_subcommand_from ${names}`;
  const commands = [
    { name: 'run', summary: 'program the kernel, and keep it up to date' },
    ...COMMAND_SYNTAX.map(({ definition }) => definition),
  ];
  const lines = [
    '# fish completion of kube-netlink-proxy; made by: kube-netlink-proxy completion fish',
    'complete -c kube-netlink-proxy -f',
    ...commands.map(({ name, summary }) =>
      line(`${agent}; and not __fish_seen_subcommand_from run`, `-a ${name} -d ${quoted(summary)}`),
    ),
    ...AGENT_OPTIONS.map((option) => line(agent, parts(option))),
    ...COMMAND_SYNTAX.flatMap(({ definition, options, inputs, choices, paths }) => {
      const seen = `__fish_seen_subcommand_from ${definition.name}`;
      const all = inputs ? [...options, ...INPUT_FLAGS] : options;
      return [
        ...(choices ? [line(seen, `-a ${quoted(choices.join(' '))}`)] : []),
        ...(paths ? [line(seen, '-F')] : []),
        ...all.map((option) => line(seen, parts(option))),
      ];
    }),
  ];
  return `${lines.join('\n')}\n`;
}

function line(condition: string, rest: string): string {
  return `complete -c kube-netlink-proxy -n ${quoted(condition)} ${rest}`;
}

function parts({ long, short, help, placeholder, choices, path }: OptionSyntax): string {
  const value = choices ? ` -x -a ${quoted(choices.join(' '))}` : path ? ' -r -F' : ' -x';
  const letter = short === undefined ? '' : ` -s ${short.slice(1)}`;
  return `-l ${long.slice(2)}${letter}${placeholder === undefined ? '' : value} -d ${quoted(help)}`;
}

function quoted(text: string): string {
  return `'${text.replace(/[\\']/g, '\\$&')}'`;
}
