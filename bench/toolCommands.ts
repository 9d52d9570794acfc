// Phases as commands of the tools, and as input of their batch modes.
import { formatSets } from '../src/kernel/ipset/save.js';
import { program, restoreInput } from '../src/kernel/iptables/index.js';
import { formatRules } from '../src/kernel/ipvs/formatRules.js';
import { joinedByFamily, type Phase, type Restore, type ServerChange } from './phases.js';

/** A program with its arguments, and its standard input. */
export interface ToolCommand {
  readonly command: readonly [program: string, ...words: string[]];
  readonly input: string;
}

/** The packages of the tools, as Debian names them. */
export const PACKAGES: Readonly<Record<string, string>> = {
  ipvsadm: 'ipvsadm',
  ipset: 'ipset',
  ip: 'iproute2',
  conntrack: 'conntrack',
  'iptables-restore': 'iptables',
  nft: 'nftables',
};

/** One command for each operation. */
export function singleCommands(phase: Phase): ToolCommand[] {
  if (phase.kind === 'rules') return phase.restores.map(restoreCommand);
  const tool = TOOLS[phase.kind];
  return linesOf(phase).map((line) => ({ command: [tool, ...line.split(' ')], input: '' }));
}

/** The command that adds or deletes a real server. */
export function changeCommand({ deleted, service, realServer }: ServerChange): ToolCommand {
  const [, line = ''] = linesOf({ kind: 'services', services: [{ service, realServers: [realServer] }] });
  const words = line.split(' ');
  // `-a -t SERVICE -r SERVER -m -w 1` → `-d -t SERVICE -r SERVER`
  return { command: ['ipvsadm', ...(deleted ? ['-d', ...words.slice(1, 5)] : words)], input: '' };
}

/** One command for all operations of the phase, in the batch mode of its tool. */
export function batchCommands(phase: Phase): ToolCommand[] {
  if (phase.kind === 'rules') return joinedByFamily(phase.restores).map(restoreCommand);
  const [first, ...words] = BATCHES[phase.kind];
  return [{ command: [first, ...words], input: `${linesOf(phase).join('\n')}\n` }];
}

const TOOLS = { services: 'ipvsadm', entries: 'ipset', addresses: 'ip' } as const;

const BATCHES = {
  services: ['ipvsadm', '-R'],
  entries: ['ipset', 'restore'],
  addresses: ['ip', '-batch', '-'],
} as const;

function linesOf(phase: Exclude<Phase, { kind: 'rules' }>): string[] {
  switch (phase.kind) {
    case 'services': {
      const text = formatRules(
        phase.services.map(({ service, realServers }) => ({ ...service, realServers })),
      );
      return text.trimEnd().split('\n');
    }
    case 'entries': {
      const [, ...lines] = formatSets([{ set: phase.set, entries: phase.entries }])
        .trimEnd()
        .split('\n');
      return lines;
    }
    case 'addresses':
      return phase.addresses.map((address) => `addr add ${address}/32 dev ${phase.link}`);
  }
}

/** The commands that print the rules of each family of these restores. */
export function saveCommands(restores: readonly Restore[]): ToolCommand[] {
  const families = new Set(restores.map(({ family }) => family));
  return [...families].map((family) => ({ command: [program('save', family)], input: '' }));
}

function restoreCommand({ family, operations }: Restore): ToolCommand {
  return {
    command: [program('restore', family), '--noflush', '-w', '5'],
    input: restoreInput(operations).toString(),
  };
}
