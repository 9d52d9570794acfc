// The completion script of zsh. Pure.
import {
  AGENT_OPTIONS,
  COMMAND_SYNTAX,
  type CommandSyntax,
  NAMES,
  type OptionSyntax,
  SUMMARIES,
} from '../syntax.js';

/** The script, as a file of a folder in `fpath`. */
export function zshScript(): string {
  const described = SUMMARIES.map(({ name, summary }) => `    ${quoted(`${name}:${summary}`)}`);
  return `#compdef kube-netlink-proxy
# zsh completion of kube-netlink-proxy; made by: kube-netlink-proxy completion zsh

_kube-netlink-proxy_commands() {
  local -a described=(
${described.join('\n')}
  )
  _describe -t commands command described
}

_kube-netlink-proxy() {
  local command word
  for word in \${words[2,CURRENT-1]}; do
    case $word in ${NAMES.join('|')}) command=$word; break ;; esac
  done
  case $command in
${COMMAND_SYNTAX.map(branch).join('\n')}
    *) ${specs(AGENT_OPTIONS, "'1:command:_kube-netlink-proxy_commands'")} ;;
  esac
}

_kube-netlink-proxy "$@"
`;
}

function branch({ definition, accepted, choices, paths }: CommandSyntax): string {
  // Arguments of any text are not declared: zsh would show their name instead of completing an option.
  const others = choices ? ` '*:value:(${choices.join(' ')})'` : paths ? " '*:path:_files'" : '';
  return `    ${definition.name}) ${specs(accepted, `'1:command:(${definition.name})'${others}`)} ;;`;
}

function specs(options: readonly OptionSyntax[], rest: string): string {
  return `_arguments -S \\\n${options.map((option) => `      ${spec(option)} \\\n`).join('')}      ${rest}`;
}

/** `'(-o --output)'{-o+,--output=}'[output format]:format:(text json)'`. */
function spec({ long, short, help, placeholder, choices, path }: OptionSyntax): string {
  const described = `[${help.replace(/[[\]\\:]/g, '\\$&')}]`;
  const action = choices ? `(${choices.join(' ')})` : path ? '_files' : ' ';
  const value = placeholder === undefined ? '' : `:${placeholder.replace(/[:=,.]/g, ' ').trim()}:${action}`;
  const [longName, shortName] =
    placeholder === undefined ? [long, short] : [`${long}=`, short && `${short}+`];
  if (shortName === undefined) return quoted(`${longName}${described}${value}`);
  return `'(${short} ${long})'{${shortName},${longName}}${quoted(`${described}${value}`)}`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
