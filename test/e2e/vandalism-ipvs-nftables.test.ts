// Other tools damage the tables of ipvs mode with rules of nf_tables. A notification of the kernel repairs them, as in nftables mode.
// Needs: ipvs, dummy device, nftables
import { type Damages, inNode, shell, testVandalism } from '../support/disruptions/vandalism.js';

const nft = (command: string) => inNode('nft', command);

/** The sets and chains of a table. The kernel lists elements in no order, and sets and chains in that of their creation. */
const partsOf = (table: string) =>
  nft(`list table ${table}`)
    .split('\n\t}\n')
    .map((part) =>
      part.includes('elements = {')
        ? part
            .split(/[\s,]*\n\s*/)
            .sort()
            .join('\n')
        : part,
    )
    .sort();

const NOTIFIED: Damages = [
  ['a table is deleted', () => nft('delete table ip kube-proxy-ipvs')],
  ['all tables are deleted', () => nft('flush ruleset')],
  ['the rules of a table are flushed', () => nft('flush table ip6 kube-proxy-ipvs')],
  ['a set is flushed', () => nft('flush set ip6 kube-proxy-ipvs KUBE-6-CLUSTER-IP')],
  [
    'elements are deleted and added',
    () =>
      shell(`nft -f - <<END
        delete element ip kube-proxy-ipvs KUBE-NODE-PORT-TCP { 30080 }
        add element ip kube-proxy-ipvs KUBE-LOAD-BALANCER { 192.0.2.1 . tcp . 80 }
END`),
  ],
  ['a rule is added', () => nft('insert rule ip kube-proxy-ipvs filter/INPUT drop')],
  ['a chain is flushed', () => nft('flush chain ip kube-proxy-ipvs nat/KUBE-SERVICES')],
];

testVandalism({
  flags: ['--ipvs-rules', 'nftables'],
  more: () => ({
    'table ip': partsOf('ip kube-proxy-ipvs'),
    'table ip6': partsOf('ip6 kube-proxy-ipvs'),
  }),
  audited: [],
  notified: NOTIFIED,
});
