// The names of chains: those that kube-proxy gave the same Service ports and endpoints.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import {
  endpointChain,
  hashedName,
  isPerService,
  portChains,
  servicePortName,
} from '../../../../../src/proxy/modes/iptables/plan/names.js';
import { probability } from '../../../../../src/proxy/modes/iptables/plan/ruleText.js';

const HASHES: Readonly<Record<string, string>> = {
  'default/lbtcp': '7TVXROIT6UXCX2AG',
  'default/web:httptcp': 'CDGGSHYLG3RE2FKL',
  'default/kubernetes:httpstcp': 'NPX46M4PTMTKRN6Y',
  'kube-system/kube-dns:dnsudp': 'TCOU7JCQXEZGVUNU',
  'kube-system/kube-dns:dns-tcptcp': 'ERIFXISQEP7F7OF4',
  'default/sctp:ssctp': 'YPSVDYCM26PJVJRL',
  'default/web:httptcp10.244.1.10:8080': 'GWQABTP5GBYXHJY5',
  'default/six:httptcp[fd00:10:244:1::10]:8080': 'PHWXGTIZSOKXHN4F',
};

it('hashes', () => {
  for (const [text, hash] of Object.entries(HASHES))
    assert.equal(hashedName('KUBE-', text), `KUBE-${hash}`, text);
});

it('the chains of a Service port and of an endpoint', () => {
  const name = servicePortName('default/web', 'http');
  assert.equal(name, 'default/web:http');
  assert.deepEqual(portChains(name, 'tcp'), {
    cluster: 'KUBE-SVC-CDGGSHYLG3RE2FKL',
    local: 'KUBE-SVL-CDGGSHYLG3RE2FKL',
    external: 'KUBE-EXT-CDGGSHYLG3RE2FKL',
    firewall: 'KUBE-FW-CDGGSHYLG3RE2FKL',
  });
  assert.equal(endpointChain(name, 'tcp', '10.244.1.10:8080'), 'KUBE-SEP-GWQABTP5GBYXHJY5');
  assert.equal(servicePortName('default/lb', ''), 'default/lb');
});

it('recognizes chains of Services, those of old versions too', () => {
  assert.ok(isPerService('nat', 'KUBE-SVC-CDGGSHYLG3RE2FKL'));
  assert.ok(isPerService('nat', 'KUBE-XLB-CDGGSHYLG3RE2FKL'));
  for (const name of [
    'KUBE-SERVICES',
    'KUBE-SVC-SHORT',
    'KUBE-SVC-CDGGSHYLG3RE2FK1',
    'MY-KUBE-SVC-CDGGSHYLG3RE2FKL',
  ])
    assert.ok(!isPerService('nat', name), name);
  assert.ok(!isPerService('filter', 'KUBE-SVC-CDGGSHYLG3RE2FKL'));
});

it('probabilities as the kernel rounds them', () => {
  const printed = { 2: '0.50000000000', 3: '0.33333333349', 4: '0.25000000000', 5: '0.20000000019' };
  for (const [n, text] of Object.entries(printed)) assert.equal(probability(Number(n)), text);
});
