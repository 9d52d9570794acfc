// Reads the state on which the path of a packet depends. Changes nothing.
import { familyOf } from '../../../net/address.js';
import type { PacketQuestion } from '../../explanation.js';
import type { PathFacts } from '../../shared/explain/facts.js';
import { type PathKernel, readPathFacts } from '../../shared/explain/readFacts.js';
import { ROUTE_LOCALNET } from '../planNode.js';

/** Reads the state for packets to an address. Rejects with the NetlinkError of the part that cannot be read. */
export function readFacts(
  kernel: PathKernel,
  { address }: Pick<PacketQuestion, 'address'>,
): Promise<PathFacts> {
  return readPathFacts(kernel, familyOf(address), [ROUTE_LOCALNET]);
}
