// IPVS of a namespace, for the tests of one file.
import { after, beforeEach } from 'node:test';
import { type Ipvs, openIpvs } from '../../../src/kernel/ipvs/index.js';
import { makeNamespace, type Namespace } from './netns.js';

const EVERYTHING = 'delete every virtual service';

/** A namespace with lo up, and a client of its IPVS, which is emptied before each test. Both end after the last test. */
export async function ipvsNamespace(): Promise<{ readonly namespace: Namespace; readonly ipvs: Ipvs }> {
  const namespace = makeNamespace();
  const ipvs = await openIpvs({ netns: namespace.path });
  after(async () => {
    // A namespace lives on with its connections that nobody answers, and its services hold the modules of their schedulers.
    await ipvs.flush({ confirm: EVERYTHING });
    await ipvs.close();
    namespace.remove();
  });
  beforeEach(() => ipvs.flush({ confirm: EVERYTHING }));
  return { namespace, ipvs };
}
