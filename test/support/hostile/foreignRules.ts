// Rules of another program with hostile text, among the rules of a node.

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
