// Rules of another program with hostile text, among the rules of a node.
import type { FakeKernel } from '../../../src/kernel/testing/index.js';
import type { ModeName } from './proxies.js';

/**
 * The rules of a family with such a rule in a chain of ours, so that it is shown as one to be deleted, and in the first chain of a
 * packet.
 *
 * @param dump as iptables-save prints it
 * @param comment of the rules, without line breaks: the kernel keeps none
 */
export function withForeignRules(dump: string, comment: string): string {
  const rule = `-m comment --comment "${comment}" -m unknown -j ACCEPT`;
  return dump
    .replace('-A KUBE-SERVICES ', () => `-A KUBE-SERVICES ${rule}\n-A KUBE-SERVICES `)
    .replace(/\*nat\n(?::.*\n)*/, (chains) => `${chains}-A PREROUTING ${rule}\n`);
}

/** Makes such rules on a kernel, where the mode has its rules. */
export async function addForeignRules(kernel: FakeKernel, mode: ModeName, comment: string): Promise<void> {
  if (mode !== 'ipvs tables') {
    kernel.iptables.load(4, withForeignRules(kernel.iptables.dump(4), comment));
    return;
  }
  const chain = { family: 'ip', table: 'kube-proxy-ipvs', chain: 'nat/KUBE-SERVICES' } as const;
  const expressions = [{ kind: 'verdict', verdict: { verdict: 'accept' } }] as const;
  // nft writes no longer ones.
  const short = Buffer.from(comment).subarray(0, 120).toString();
  const rule = { ...chain, expressions, comment: short };
  const [error] = await kernel.nftables.apply([{ do: 'addRule', rule }]);
  if (error) throw error;
}
