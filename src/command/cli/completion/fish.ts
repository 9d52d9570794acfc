// The completion script of fish. Pure.
import { AGENT_OPTIONS, COMMAND_SYNTAX, NAMES, type OptionSyntax, SUMMARIES } from '../syntax.js';

/** The script. */
export function fishScript(): string {
  const agent = `not __fish_seen_subcommand_from ${NAMES.join(' ')}`;
  const lines = [
    '# fish completion of kube-netlink-proxy; made by: kube-netlink-proxy completion fish',
    'complete -c kube-netlink-proxy -f',
    ...SUMMARIES.map(({ name, summary }) =>
      line(`${agent}; and not __fish_seen_subcommand_from run`, `-a ${name} -d ${quoted(summary)}`),
    ),
    ...AGENT_OPTIONS.map((option) => line(agent, parts(option))),
    ...COMMAND_SYNTAX.flatMap(({ definition, accepted, choices, paths }) => {
      const seen = `__fish_seen_subcommand_from ${definition.name}`;
      return [
        ...(choices ? [line(seen, `-a ${quoted(choices.join(' '))}`)] : []),
        ...(paths ? [line(seen, '-F')] : []),
        ...accepted.map((option) => line(seen, parts(option))),
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
