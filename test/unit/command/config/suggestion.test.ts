import assert from 'node:assert/strict';
import { it } from 'node:test';
import { FLAGS } from '../../../../src/command/config/flags.js';
import { closestTo } from '../../../../src/command/config/suggestion.js';

const cases: readonly (readonly [word: string, meant: string | undefined])[] = [
  ['manifest', 'manifests'],
  ['manfiests', 'manifests'],
  ['kubconfig', 'kubeconfig'],
  ['ipvs-schedular', 'ipvs-scheduler'],
  ['ipvs-sched', 'ipvs-scheduler'],
  ['nodeport-adresses', 'nodeport-addresses'],
  ['conntrack-tcp-timeout', 'conntrack-udp-timeout'],
  ['hostname', 'hostname-override'],
  ['onec', 'once'],
  ['x', undefined],
  ['vv', undefined],
  ['replicas', undefined],
];

for (const [word, meant] of cases) {
  it(`--${word}: ${meant ?? 'nothing is close'}`, () => assert.equal(closestTo(word, FLAGS.keys()), meant));
}
