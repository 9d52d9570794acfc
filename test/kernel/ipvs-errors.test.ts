// The errors of a real kernel's IPVS: their targets, and hints that are true in the client's own namespace.
// Needs: ipvs, dummy device
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openIpvs } from '../../src/kernel/ipvs/index.js';
import { ipvsNamespace } from '../support/namespaces/ipvsNamespace.js';
import { emptyNamespaces } from '../support/namespaces/netns.js';
import { server, service } from '../support/tables/ipvs.js';

const { namespace, ipvs } = await ipvsNamespace();

test('real servers of a service that is not there', async () => {
  const target = 'tcp 10.96.0.1:443 -> 10.0.0.4:6443';
  const facts = { name: 'NetlinkError', code: 'ESRCH', target };
  await assert.rejects(ipvs.addRealServer(service(), server()), {
    ...facts,
    operation: 'ipvs.addRealServer',
  });
  await assert.rejects(ipvs.updateRealServer(service(), server()), {
    ...facts,
    operation: 'ipvs.updateRealServer',
  });
  await assert.rejects(ipvs.deleteRealServer(service(), server()), {
    ...facts,
    operation: 'ipvs.deleteRealServer',
  });
});

test('the error of an unknown scheduler has a hint', async () => {
  await assert.rejects(ipvs.add(service({ scheduler: 'nope' })), {
    code: 'ENOENT',
    errno: 2,
    operation: 'ipvs.addService',
    target: 'tcp 10.96.0.1:443',
    hint: /^unknown scheduler nope: .*the kernel .*ip_vs_nope/,
    message: /^ENOENT: ipvs\.addService tcp 10\.96\.0\.1:443 \(unknown scheduler nope: /,
  });
});

test('a refused real server is explained by lo that is down only where that is the cause', async (t) => {
  const namespaces = emptyNamespaces();
  t.after(() => namespaces.remove());
  const down = namespaces.keep(await openIpvs({ netns: namespaces.add() }));
  await down.add(service());
  const explained = {
    code: 'EINVAL',
    kernelMessage: 'the network namespace has no local routing table',
    hint: 'the kernel refuses every IPv4 real server there: set lo up (ip link set lo up)',
  };
  await assert.rejects(down.addRealServer(service(), server()), explained);
  // IPv6 needs no such table.
  const six = service({ address: 'fd00::1' });
  await down.add(six);
  await down.addRealServer(six, server({ address: 'fd00::4' }));
  await assert.rejects(down.addRealServer(six, server({ address: 'ff02::1' })), {
    code: 'EINVAL',
    hint: undefined,
  });
  await ipvs.add(service());
  const multicast = { code: 'EINVAL', kernelMessage: undefined, hint: undefined };
  await assert.rejects(ipvs.addRealServer(service(), server({ address: '224.0.0.1' })), multicast);
  // The table remains when lo is set down again.
  namespace.run('ip', 'link', 'set', 'lo', 'down');
  await ipvs.addRealServer(service(), server());
});
