// The command man: the man page of all commands and flags, in the macros of man(7). Pure but for the output.
import type { CommandRunner } from './command.js';
import { AGENT_OPTIONS, COMMAND_SYNTAX, type CommandSyntax, type OptionSyntax } from './syntax.js';
import { VERSION } from './version.js';

/** `man`. */
export const runMan: CommandRunner = async ({ output }) => {
  output.write(manPage());
  return 0;
};

/** The page, for section 8: commands for administrators. */
export function manPage(): string {
  return `${[
    `.TH KUBE\\-NETLINK\\-PROXY 8 "" "kube\\-netlink\\-proxy ${escaped(VERSION)}" "System Administration"`,
    '.SH NAME',
    'kube\\-netlink\\-proxy \\- program Kubernetes Services into the kernel over netlink',
    '.SH SYNOPSIS',
    ...SYNOPSIS.flatMap(([name, rest]) => ['.B kube\\-netlink\\-proxy', `${name} ${rest}`.trim(), '.br']),
    '.SH DESCRIPTION',
    paragraph(`kube-netlink-proxy is a drop-in replacement of kube-proxy in its ipvs and iptables modes. Without a
command, or with run, it is the agent of a node: it programs the kernel, and keeps it up to date until SIGTERM or
SIGINT. The other commands are for people. They have options of their own, and accept the flags of the agent that say
which configuration and which objects they read.`),
    '.SH COMMANDS',
    ...COMMAND_SYNTAX.flatMap(command),
    '.SH FLAGS OF THE AGENT',
    ...AGENT_OPTIONS.flatMap(option),
    '.SH EXIT STATUS',
    paragraph(
      'The agent: 0 success, 1 failure or invalid command line. Exit statuses of a command are above.',
    ),
    '.SH ENVIRONMENT',
    ...term('NO_COLOR', 'If it is not empty, output has no colours.'),
    ...term('FORCE_COLOR', 'Output has colours even if it is not a terminal; 0 or false: it has none.'),
    '.SH SEE ALSO',
    '.BR ipvsadm (8),',
    '.BR ipset (8),',
    '.BR iptables (8),',
    '.BR ip (8)',
  ].join('\n')}\n`;
}

const SYNOPSIS = [
  ['[\\fBrun\\fR]', '[\\fIflags\\fR]'],
  ['\\fB\\-\\-cleanup\\fR', ''],
  ['\\fIcommand\\fR', '[\\fIoptions\\fR]'],
] as const;

function command({ definition, options }: CommandSyntax): string[] {
  const { name, summary, description, statuses = [], examples = [], arguments: named = [] } = definition;
  const values = named.map(({ syntax }) => syntax).join(' ');
  return [
    `.SS ${escaped(`${name} ${values}`.trim())}`,
    paragraph(description ?? `${summary[0]?.toUpperCase()}${summary.slice(1)}.`),
    ...named.flatMap(({ syntax, help }) => term(syntax, help)),
    ...options.flatMap(option),
    ...(statuses.length === 0
      ? []
      : ['.PP', 'Exit status:', ...statuses.flatMap(([status, meaning]) => term(String(status), meaning))]),
    ...(examples.length === 0
      ? []
      : [
          '.PP',
          'Examples:',
          ...examples.flatMap(([args, purpose]) => term(`kube-netlink-proxy ${args}`, purpose)),
        ]),
  ];
}

function option({ long, short, placeholder, help, default: usual, choices }: OptionSyntax): string[] {
  const names = short === undefined ? long : `${short}, ${long}`;
  const value = placeholder === undefined ? '' : ` \\fI${escaped(choices?.join('|') ?? placeholder)}\\fR`;
  const text = usual === undefined ? help : `${help} (default ${usual})`;
  return ['.TP', `\\fB${escaped(names)}\\fR${value}`, line(text)];
}

function term(name: string, text: string): string[] {
  return ['.TP', `\\fB${escaped(name)}\\fR`, line(text)];
}

function paragraph(text: string): string {
  return text.split('\n').map(line).join('\n');
}

/** A line of text: a control character at its start would be a macro. */
function line(text: string): string {
  return escaped(text).replace(/^[.']/, '\\&$&');
}

/** Text for roff, in ASCII: other characters are named by their code points. */
function escaped(text: string): string {
  const plain = text.replaceAll('\\', '\\e').replaceAll('-', '\\-');
  return plain.replace(/[^\n -~]/gu, (character) => {
    return `\\[u${character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}]`;
  });
}
