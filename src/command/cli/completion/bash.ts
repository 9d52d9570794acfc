// The completion script of bash. Pure.
import { AGENT_OPTIONS, COMMAND_SYNTAX, type CommandSyntax, NAMES, type OptionSyntax } from '../syntax.js';

/** The script. */
export function bashScript(): string {
  return `# bash completion of kube-netlink-proxy; made by: kube-netlink-proxy completion bash
_kube_netlink_proxy() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]} command='' word
  # bash divides --flag=value at the equals sign.
  if [[ $current == = ]]; then
    current=''
  elif [[ $previous == = ]]; then
    previous=\${COMP_WORDS[COMP_CWORD-2]}
  fi
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case $word in ${NAMES.join('|')}) command=$word; break ;; esac
  done
  COMPREPLY=()
  case $command in
${COMMAND_SYNTAX.map(branch).join('\n')}
    *)
${values(AGENT_OPTIONS)}
      _kube_netlink_proxy_words '${words(AGENT_OPTIONS)}' '${['run', ...NAMES].join(' ')}' ;;
  esac
}

# Completes options after a dash, otherwise arguments.
_kube_netlink_proxy_words() {
  if [[ $current == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$1" -- "$current")
  else
    mapfile -t COMPREPLY < <(compgen -W "$2" -- "$current")
  fi
}

complete -o default -F _kube_netlink_proxy kube-netlink-proxy
`;
}

function branch({ definition, accepted, choices = [] }: CommandSyntax): string {
  return `    ${definition.name})
${values(accepted)}
      _kube_netlink_proxy_words '${words(accepted)}' '${choices.join(' ')}' ;;`;
}

/** The completion of values: choices, or paths by default; nothing else can be completed. */
function values(options: readonly OptionSyntax[]): string {
  const valued = options.filter(({ placeholder }) => placeholder !== undefined);
  const lines = valued
    .filter(({ choices }) => choices !== undefined)
    .map(
      (option) =>
        `        ${pattern(option)}) mapfile -t COMPREPLY < <(compgen -W '${option.choices?.join(' ')}' -- "$current"); return ;;`,
    );
  const others = valued.filter(({ choices }) => choices === undefined);
  if (others.length > 0) lines.push(`        ${others.map(pattern).join('|')}) return ;;`);
  return lines.length === 0 ? '      :' : `      case $previous in\n${lines.join('\n')}\n      esac`;
}

function pattern({ long, short }: OptionSyntax): string {
  return short === undefined ? long : `${short}|${long}`;
}

function words(options: readonly OptionSyntax[]): string {
  return options.map(({ long }) => long).join(' ');
}
