// The names of chains and sets: those that kube-proxy gave the same Service ports and endpoints.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import {
  endpointText,
  hashedName,
  isAffinitySet,
  isOfService,
  portText,
  servicePortName,
} from '../../../../../src/proxy/modes/nftables/plan/names.js';
import {
  isOwnSetName,
  ownSetName,
  sameSetName,
  shortSetName,
} from '../../../../../src/proxy/modes/nftablesRules/plan/setNames.js';

const NAMES: Readonly<Record<string, string>> = {
  '2QRHZV4L': 'default/kubernetes/tcp/https',
  AXK6CI2C: 'demo/web/tcp/http',
  CER3S5DK: 'demo/sticky/tcp/http__10.244.1.111/8080',
  C5QN7UJN: 'demo/fw/tcp/https',
};

it('hashes', () => {
  for (const [hash, text] of Object.entries(NAMES))
    assert.equal(hashedName('service', text), `service-${hash}-${text}`);
});

it('the texts of a Service port and of an endpoint', () => {
  assert.equal(portText('demo/web', 'tcp', 'http'), 'demo/web/tcp/http');
  assert.equal(portText('demo/web', 'udp', ''), 'demo/web/udp/');
  assert.equal(
    endpointText('demo/sticky/tcp/http', '10.244.1.111', 8080),
    'demo/sticky/tcp/http__10.244.1.111/8080',
  );
  assert.equal(endpointText('a/b/tcp/', 'fd00::1', 53), 'a/b/tcp/__fd00..1/53');
  assert.equal(servicePortName('demo/web', 'http'), 'demo/web:http');
  assert.equal(servicePortName('demo/web', ''), 'demo/web');
});

it('a long name is cut to 240 characters behind its prefix, and its hash is that of the whole text', () => {
  const text = `${'n'.repeat(63)}/${'s'.repeat(63)}/sctp/${'p'.repeat(67)}__fd00..1234.5678.9abc.def0/65535`;
  const name = hashedName('endpoint', text);
  assert.equal(text.length, 233);
  assert.equal(name, `endpoint-${name.slice(9, 17)}-${text.slice(0, 228)}...`);
  assert.equal(name.length, 'endpoint-'.length + 240);
  const other = hashedName('endpoint', text.replace(/65535$/, '65534'));
  assert.equal(other.slice(17), name.slice(17));
  assert.notEqual(other, name);
  const whole = text.slice(2);
  assert.ok(hashedName('affinity', whole).endsWith(`-${whole}`), 'the longest that is not cut');
});

it('recognizes what belongs to a Service', () => {
  assert.ok(isOfService('service-AXK6CI2C-demo/web/tcp/http'));
  assert.ok(!isOfService('service-endpoints-check'));
  assert.ok(isAffinitySet('affinity-CER3S5DK-demo/sticky/tcp/http__10.244.1.111/8080'));
  assert.ok(!isAffinitySet('cluster-ips'));
});

it('the name of a set of a rule is short, and that of its chain with this content only', () => {
  const names = new Set(
    Array.from({ length: 1000 }, (_, i) => ownSetName(`service-${i >> 1}`, i % 2 === 0 ? '10.0.0.1:80' : '')),
  );
  assert.equal(names.size, 1000);
  for (const name of names) {
    const short = shortSetName(name);
    assert.ok(isOwnSetName(name) && isOwnSetName(short) && short.length === 7, name);
    assert.ok(sameSetName(name, short) && sameSetName(short, name) && sameSetName(name, name), name);
  }
  const [one = '', other = ''] = names;
  for (const [a, b] of [
    [one, other],
    [shortSetName(one), other],
    [one, shortSetName(other)],
    [one, `${shortSetName(one)}${other.slice(7)}`],
    [one, undefined],
    ['cluster-ips', 'cluster'],
  ])
    assert.ok(!sameSetName(a, b), `${a} ${b}`);
  for (const other of ['__map3', '__set12', '__set12345', 'cluster-ips', `${[...names][0]}A`])
    assert.ok(!isOwnSetName(other));
});
