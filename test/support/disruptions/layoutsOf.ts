// The layouts of nftables mode that a node's table has.
import { ask } from '../namespaces/witnesses.js';

/** The chains that only one layout has, by its name. */
const CHAINS = {
  'kube-proxy': /chain (service|external)-[A-Z2-7]{8}-/,
  scalable: /chain (balance|external)-\d+-\d+ /,
} as const;

/** A layout of nftables mode: a value of `--nftables-layout`. */
export type LayoutName = keyof typeof CHAINS;

/** The layouts whose chains nft lists in the IPv4 table, in the order of their names. Fails if there is no table. */
export function layoutsOf(node: string): string[] {
  const table = ask(node, 'nft', 'list', 'table', 'ip', 'kube-proxy');
  return Object.entries(CHAINS).flatMap(([layout, chains]) => (chains.test(table) ? [layout] : []));
}
