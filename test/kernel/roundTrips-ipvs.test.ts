// What IPVS lists is deleted and written again, with ipvsadm(8) as witness.
// Needs: ipvs, dummy device
import { ipvsNamespace } from '../support/namespaces/ipvsNamespace.js';
import { ipvsRoundTrips } from '../support/roundTrips/ipvs.js';

const { namespace, ipvs } = await ipvsNamespace();

// ipvsadm ends at the first protocol that it does not know: the file of the kernel has all.
ipvsRoundTrips(
  async () => ipvs,
  () => namespace.run('sort', '/proc/net/ip_vs'),
);
