// Invalid manifests: each error is reported with file, object, field and rule, and affects only its own field or object.
// Needs: ipvs, dummy device
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { type Lab, openLab } from '../laboratory/lab.js';
import { ManifestFolder } from '../laboratory/manifestFolder.js';
import { NODE_A } from '../laboratory/places.js';
import { ProxyProcess, runOnce } from '../laboratory/proxyProcess.js';
import { closeAfter } from '../support/closeAfter.js';
import { ask, linesOf } from '../support/namespaces/witnesses.js';

/** A Service with one valid port and the given lines of ports and fields. */
const service = (name: string, clusterIP: string, port: string, extra = '') => `
apiVersion: v1
kind: Service
metadata: { namespace: demo, name: ${name} }
spec:
  clusterIP: ${clusterIP}
  ports:
    - ${port}
    - { name: good, port: 443 }
${extra}`;

const slice = (service: string, address: string) => `---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: { namespace: demo, name: ${service}, labels: { kubernetes.io/service-name: ${service} } }
addressType: IPv4
ports: [{ name: good, port: 8443 }]
endpoints: [{ addresses: [${address}] }, { addresses: [10.244.2.80] }]
`;

const BAD_FILES = {
  'a-port.yaml':
    service('a-port', '10.96.66.1', '{ name: bad, port: 70000 }') + slice('a-port', '10.244.2.81'),
  'an-address.yaml':
    service(
      'an-address',
      '10.96.66.2',
      '{ name: also-good, port: 80 }',
      '  externalIPs: [10.0.0.300, 203.0.113.66]\n',
    ) + slice('an-address', '10.0.0.300'),
  'a-protocol.yaml': service('a-protocol', '10.96.66.3', '{ name: bad, port: 80, protocol: HTTP }'),
};

const MESSAGES = [
  'a-port.yaml: Service demo/a-port: spec.ports[0].port: must be an integer from 1 to 65535, found 70000',
  'a-protocol.yaml: Service demo/a-protocol: spec.ports[0].protocol: must be TCP, UDP or SCTP, found "HTTP"',
  'an-address.yaml: EndpointSlice demo/an-address: endpoints[0].addresses[0]: must be an IPv4 or IPv6 address, ' +
    'found "10.0.0.300"',
  'an-address.yaml: Service demo/an-address: spec.externalIPs[0]: must be an IPv4 or IPv6 address, found "10.0.0.300"',
];

/** The valid parts of the invalid objects. */
const GOOD_PARTS = [
  '-A -t 10.96.66.1:443 -s rr',
  '-A -t 10.96.66.2:443 -s rr',
  '-A -t 10.96.66.2:80 -s rr',
  '-A -t 10.96.66.3:443 -s rr',
  '-A -t 203.0.113.66:443 -s rr',
  '-A -t 203.0.113.66:80 -s rr',
  '-a -t 10.96.66.1:443 -r 10.244.2.80:8443 -m -w 1',
  '-a -t 10.96.66.1:443 -r 10.244.2.81:8443 -m -w 1',
  '-a -t 10.96.66.2:443 -r 10.244.2.80:8443 -m -w 1',
  '-a -t 203.0.113.66:443 -r 10.244.2.80:8443 -m -w 1',
];

let lab: Lab;
let manifests: ManifestFolder;
let proxy: ProxyProcess;
/** The output of ipvsadm for examples/ only. */
let examples: readonly string[];

const shown = () => linesOf(ask(lab.namespace(NODE_A), 'ipvsadm', '-S', '-n'));

before(async () => {
  lab = closeAfter(openLab([]));
  manifests = closeAfter(new ManifestFolder());
  proxy = closeAfter(new ProxyProcess(lab.namespace(NODE_A), manifests.path));
  await proxy.programmed();
  examples = shown();
  assert.ok(examples.includes('-A -t 10.96.10.10:80 -s rr'), examples.join('\n'));
});

test('an error in a changed manifest is reported, and the rest of the object is programmed', async () => {
  const logged = proxy.log.length;
  manifests.write('a-port.yaml', BAD_FILES['a-port.yaml']);
  await proxy.logged(({ level, msg }) => level === 'error' && msg === MESSAGES[0], 'port 70000');
  assert.equal((await proxy.synced(logged)).full, false);
  const added = GOOD_PARTS.filter((line) => line.includes('10.96.66.1:'));
  assert.deepEqual(shown(), [...examples, ...added].sort());
  assert.equal(await proxy.end(), 0);
});

test('errors at the start are reported, and all other objects are programmed', async () => {
  ask(lab.namespace(NODE_A), 'ipvsadm', '-C');
  for (const [file, text] of Object.entries(BAD_FILES)) manifests.write(file, text);
  const { stderr } = await runOnce(lab.namespace(NODE_A), manifests.path);
  const errors = linesOf(stderr).map((line) => JSON.parse(line) as { level: string; msg: string });
  assert.deepEqual(errors.map(({ msg }) => msg).sort(), MESSAGES);
  assert.ok(errors.every(({ level }) => level === 'error'));
  assert.deepEqual(shown(), [...examples, ...GOOD_PARTS].sort());
});
