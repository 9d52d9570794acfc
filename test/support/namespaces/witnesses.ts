// The state of a network namespace, read with standard tools, independently of our code.
import { execFileSync } from 'node:child_process';

/** The kernel state of a namespace as text. Equal states have equal texts. */
export interface Witnessed {
  readonly ipvsadm: string;
  readonly ipset: string;
  readonly address: string;
  readonly iptables: string;
  readonly ip6tables: string;
}

/** Reads the state with all tools. */
export function witness(namespace: string): Witnessed {
  return {
    ipvsadm: ask(namespace, 'ipvsadm', '-S', '-n'),
    ipset: ask(namespace, 'ipset', 'save'),
    address: ask(namespace, 'ip', 'addr', 'show', 'kube-ipvs0'),
    iptables: rules(ask(namespace, 'iptables-save')),
    ip6tables: rules(ask(namespace, 'ip6tables-save')),
  };
}

/** Runs a command in a namespace, and returns its output. */
export function ask(namespace: string, ...command: readonly string[]): string {
  return execFileSync('ip', ['netns', 'exec', namespace, ...command], { encoding: 'utf8' });
}

/** The non-empty lines of a text, sorted. */
export function linesOf(text: string): string[] {
  return text.split('\n').filter(Boolean).sort();
}

/** Removes the time and the counters, which traffic changes. */
function rules(saved: string): string {
  return saved.replace(/^#.*\n/gm, '').replace(/ \[\d+:\d+\]$/gm, '');
}
