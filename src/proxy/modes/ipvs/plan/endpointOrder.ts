// The order in which a node adds real servers, with `--cures endpoint-order`.
import type { AddressPorts } from '../../../../kernel/net/addressPorts.js';

/**
 * The indexes of a list in a fixed order that differs between nodes: otherwise, the first connection of every node uses
 * the same endpoint.
 */
export function orderOn(node: string, list: AddressPorts): number[] {
  const ranks = Array.from({ length: list.size }, (_, index) =>
    hash(`${node} ${list.addressAt(index)}:${list.portAt(index)}`),
  );
  return [...ranks.keys()].sort((a, b) => (ranks[a] ?? 0) - (ranks[b] ?? 0));
}

/** FNV-1a, 32 bits. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193) >>> 0;
  return value;
}
