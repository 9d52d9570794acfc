// What the tools of others say about a network namespace: independent of everything of ours.
import { execFileSync } from 'node:child_process';

/** The state of a namespace's kernel, as text that is equal when the state is. */
export interface Witnessed {
  readonly ipvsadm: string;
  readonly ipset: string;
  readonly address: string;
  readonly iptables: string;
  readonly ip6tables: string;
}

/** Asks all of them. */
export function witness(namespace: string): Witnessed {
  return {
    ipvsadm: ask(namespace, 'ipvsadm', '-S', '-n'),
    ipset: ask(namespace, 'ipset', 'save'),
    address: ask(namespace, 'ip', 'addr', 'show', 'kube-ipvs0'),
    iptables: rules(ask(namespace, 'iptables-save')),
    ip6tables: rules(ask(namespace, 'ip6tables-save')),
  };
}

/** Runs a command in a namespace; what it prints. */
export function ask(namespace: string, ...command: readonly string[]): string {
  return execFileSync('ip', ['netns', 'exec', namespace, ...command], { encoding: 'utf8' });
}

/** The non-empty lines of a text, sorted. */
export function linesOf(text: string): string[] {
  return text.split('\n').filter(Boolean).sort();
}

/** Without the time of saving and without counters, which traffic changes. */
function rules(saved: string): string {
  return saved.replace(/^#.*\n/gm, '').replace(/ \[\d+:\d+\]$/gm, '');
}
