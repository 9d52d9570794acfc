// The links that the contracts of rtnetlink start with.
import type { Rtnetlink } from '../../../src/kernel/rtnetlink/types.js';

/** Opens a client of an empty network namespace, real or fake. */
export type Open = () => Promise<Rtnetlink>;

/** Two ends of a veth that are up, the first with an address of each family. */
export async function withVeth(open: Open): Promise<Rtnetlink> {
  const rtnetlink = await open();
  await rtnetlink.addLink('va', 'veth', { peer: { name: 'vb' } });
  for (const link of ['va', 'vb']) await rtnetlink.setLink(link, { up: true });
  await rtnetlink.addAddress({ link: 'va', address: '10.1.0.1', prefix: 24 });
  await rtnetlink.addAddress({ link: 'va', address: 'fd01::1', prefix: 64, flags: ['nodad'] });
  return rtnetlink;
}
