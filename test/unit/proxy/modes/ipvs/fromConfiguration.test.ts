import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { curesOf, ipvsOptions } from '../../../../../src/command/modes/ipvs/fromConfiguration.js';
import { decodeConfiguration } from '../../../../support/clusters/decodeConfiguration.js';

function options(raw: Record<string, unknown>) {
  const { configuration, problems } = decodeConfiguration(raw);
  assert.deepEqual(problems, []);
  return ipvsOptions(configuration, { families: [4], kernelRelease: '6.1.0' });
}

describe('options of ipvs mode from a configuration', () => {
  it('defaults of absent fields', () => {
    const { scheduler, masqueradeMark, localDetector, nodePortAddresses, timeouts } = options({});
    assert.deepEqual([scheduler, masqueradeMark, nodePortAddresses], ['rr', 0x4000, []]);
    assert.deepEqual(localDetector, { by: 'network', networks: {} });
    assert.deepEqual(timeouts, { tcp: 0, tcpFin: 0, udp: 0 });
  });

  it('canonical networks, and timeouts in whole seconds', () => {
    const { excludeCIDRs, nodePortAddresses, localDetector, timeouts } = options({
      ipvs: { excludeCIDRs: ['10.1.2.3/16'], tcpTimeout: '1.9s', udpTimeout: '2m' },
      nodePortAddresses: ['FD00::1/64'],
      clusterCIDR: 'fd00:10::1/48,010.244.1.1/16',
    });
    assert.deepEqual([excludeCIDRs, nodePortAddresses], [['10.1.0.0/16'], ['fd00::/64']]);
    assert.deepEqual(localDetector, {
      by: 'network',
      networks: { 4: '10.244.0.0/16', 6: 'fd00:10::/48' },
    });
    assert.deepEqual(timeouts, { tcp: 1, tcpFin: 0, udp: 120 });
  });

  it('node ports on the node IPs', () => {
    assert.equal(options({ nodePortAddresses: ['primary'] }).nodePortAddresses, 'primary');
  });

  it('detection of local traffic', () => {
    assert.deepEqual(options({ detectLocalMode: 'NodeCIDR' }).localDetector, { by: 'nodeNetwork' });
    const detectLocal = { bridgeInterface: 'cni0', interfaceNamePrefix: 'veth' };
    assert.deepEqual(options({ detectLocalMode: 'BridgeInterface', detectLocal }).localDetector, {
      by: 'interface',
      match: 'cni0',
    });
    assert.deepEqual(options({ detectLocalMode: 'InterfaceNamePrefix', detectLocal }).localDetector, {
      by: 'interface',
      match: 'veth+',
    });
  });
});

it('a correction is selected by name', () => {
  assert.deepEqual([...curesOf(['external-local'])], ['external-local']);
  assert.throws(() => curesOf(['bleeding']), /--cures must be of .*; found bleeding/);
});
