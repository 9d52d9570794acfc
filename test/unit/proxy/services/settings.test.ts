// Annotations → settings: every value, every wrong value, and what leaves a setting without an effect.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { describeProblem } from '../../../../src/kernel/errors.js';
import { SETTING_NAMES, type SettingName } from '../../../../src/proxy/input/settingNames.js';
import { decodeObject } from '../../../../src/proxy/objects/decode.js';
import type { Service } from '../../../../src/proxy/objects/types.js';
import { settingsOf, weightOf } from '../../../../src/proxy/services/settings/read.js';
import { SettingsReader } from '../../../../src/proxy/services/settings/settingsReader.js';
import { NO_SETTINGS, SERVICE_SCHEDULERS } from '../../../../src/proxy/services/settings/types.js';
import {
  ALL_SETTINGS,
  annotations,
  settingService,
  settingSlice,
} from '../../../support/settings/objects.js';

const OWN = 'kube-netlink-proxy.io';

/** Annotations of a Service with affinity and a UDP port → its settings. */
const VALUES: readonly (readonly [given: Record<string, string>, expected: object])[] = [
  ...SERVICE_SCHEDULERS.map((scheduler) => [{ scheduler }, { scheduler }] as const),
  [{ 'scheduler-flags': 'none' }, { schedulerFlags: [] }],
  [{ 'scheduler-flags': 'port' }, { schedulerFlags: ['port'] }],
  [{ 'scheduler-flags': ' port , fallback ' }, { schedulerFlags: ['fallback', 'port'] }],
  [
    { scheduler: 'sh', 'scheduler-flags': 'sh-port' },
    { scheduler: 'sh', schedulerFlags: ['port'] },
  ],
  [
    { scheduler: 'mh', 'scheduler-flags': 'mh-fallback' },
    { scheduler: 'mh', schedulerFlags: ['fallback'] },
  ],
  [{ 'persistence-timeout': '1' }, { persistenceTimeout: 1 }],
  [{ 'persistence-timeout': '4294967' }, { persistenceTimeout: 4_294_967 }],
  [{ 'persistence-netmask': 'IPv4=24' }, { persistenceNetmask: { 4: 24 } }],
  [{ 'persistence-netmask': 'IPv6=1, IPv4=32' }, { persistenceNetmask: { 4: 32, 6: 1 } }],
  [{ 'one-packet': 'true' }, { onePacket: true }],
  [{ 'one-packet': 'false' }, { onePacket: false }],
  [{ 'upper-threshold': '4294967295' }, { upperThreshold: 4_294_967_295 }],
  [
    { 'upper-threshold': '10', 'lower-threshold': '10' },
    { upperThreshold: 10, lowerThreshold: 10 },
  ],
  [{ 'drain-timeout': '0' }, { drainTimeout: 0 }],
  [{ 'drain-timeout': '4294967' }, { drainTimeout: 4_294_967 }],
  ...(['wrr', 'wlc', 'sed', 'nq'] as const).map(
    (scheduler) =>
      [
        { scheduler, 'slow-start': '86400' },
        { scheduler, slowStart: 86_400 },
      ] as const,
  ),
  [{ 'fail-fast': 'removed' }, { failFast: 'removed' }],
  [{ 'fail-fast': 'not-serving' }, { failFast: 'not-serving' }],
  [{ 'zone-weights': 'same=10' }, { zoneWeights: new Map([['same', 10]]) }],
  [
    { 'zone-weights': 'eu-1a=0, same=1000,other=3,constructor=7,Z.a_b-9=1' },
    {
      zoneWeights: new Map([
        ['eu-1a', 0],
        ['same', 1000],
        ['other', 3],
        ['constructor', 7],
        ['Z.a_b-9', 1],
      ]),
    },
  ],
  [{ forwarding: 'nat' }, { forwarding: 'nat' }],
  [{ 'kube-router.io/service.scheduler': 'lc' }, { scheduler: 'lc' }],
  [
    { 'kube-router.io/service.scheduler': 'mh', 'kube-router.io/service.schedflags': 'flag-1,flag-2' },
    { scheduler: 'mh', schedulerFlags: ['fallback', 'port'] },
  ],
  [{ scheduler: 'wrr', 'kube-router.io/service.scheduler': 'nonsense' }, { scheduler: 'wrr' }],
];

const LONG = 'x'.repeat(100_000);
const WRONG: Readonly<Record<Exclude<SettingName, 'weight'>, readonly string[]>> = {
  scheduler: ['', 'fastest', 'RR', 'twos', 'none', 'rr,lc', '../../etc', 'constructor', LONG],
  'scheduler-flags': ['', 'flag-3', 'fallback;port', 'toString', `port,${'port,'.repeat(100)}port`, LONG],
  'persistence-timeout': ['', '0', '-1', '1.5', '1e3', '0x10', '+1', '4294968', '٣', '10s', LONG],
  'persistence-netmask': ['', '24', 'IPv4=0', 'IPv4=33', 'IPv6=129', 'IPv4=8,IPv4=9', 'IPv4=8,IPv6=9,', LONG],
  'one-packet': ['', 'yes', 'True', '1', LONG],
  'upper-threshold': ['', '0', '-1', '4294967296', '99999999999999999999', LONG],
  'lower-threshold': ['', 'none', '0', LONG],
  'drain-timeout': ['', '-1', '1.5', '15m', '4294968', LONG],
  'slow-start': ['', '0', '1m', '86401', LONG],
  'fail-fast': ['', 'true', 'Removed', 'removed,not-serving', LONG],
  'zone-weights': [
    ...['', '10', 'same', 'same=', '=1', 'same=-1', 'same=1001', 'same=1.5', 'same=1e2', 'same=٣', '*=1'],
    ...['a=1,a=2', 'a=1,', ',', 'a=1;b=2', '-a=1', 'a/b=1', '__proto__=1', `${'z'.repeat(64)}=1`, 'a =1'],
    ...['same=1\nother=2', `${'a'.repeat(63)}=1,`.repeat(8), LONG],
  ],
  forwarding: ['', 'masquerade', 'Tunnel', 'nat,tunnel', 'route', 'toString', LONG],
};

describe('settings of a Service', () => {
  for (const [given, expected] of VALUES) {
    it(JSON.stringify(given), () => {
      const read = settingsOf(settingService(given, true), ALL_SETTINGS);
      assert.deepEqual(read, { settings: expected, problems: [] });
    });
  }

  for (const [name, texts] of Object.entries(WRONG)) {
    it(`wrong values of ${name} are reported, and other settings stay`, () => {
      const other = name === 'one-packet' ? { scheduler: 'lc' } : { 'one-packet': 'true' };
      const kept = name === 'one-packet' ? { scheduler: 'lc' } : { onePacket: true };
      for (const text of texts) {
        const { settings, problems } = settingsOf(
          settingService({ [name]: text, ...other }, true),
          ALL_SETTINGS,
        );
        assert.deepEqual(settings, kept, text);
        assert.equal(problems.length, 1, text);
        const [problem] = problems;
        assert.equal(problem?.field, `metadata.annotations.${OWN}/${name}`);
        assert.deepEqual(problem?.reference, {
          apiVersion: 'v1',
          kind: 'Service',
          namespace: 'demo',
          name: 'web',
        });
        assert.match(describeProblem(problem), /^Service demo\/web: metadata\.annotations\..*: must be /);
        assert.ok(describeProblem(problem).length < 600);
      }
    });
  }

  it('keeps at most 254 characters of an annotation', () => {
    const { annotations: found } = settingService({ scheduler: LONG });
    assert.equal(found?.[`${OWN}/scheduler`]?.length, 254);
    const { problems } = settingsOf(settingService({ scheduler: LONG }), ALL_SETTINGS);
    assert.match(problems[0]?.rule ?? '', /at most 253 characters$/);
  });

  it('keeps no other annotations, and has no field without any', () => {
    assert.deepEqual(settingService({ scheduler: 'lc', 'example.com/note': LONG }).annotations, {
      [`${OWN}/scheduler`]: 'lc',
    });
    assert.equal(
      'annotations' in settingService({ 'example.com/note': 'x', 'kube-router.io/service.dsr': 'tunnel' }),
      false,
    );
    assert.equal('annotations' in settingSlice('web-a', ['10.0.0.1']), false);
  });

  it('reports unknown names of ours, and a weight on a Service', () => {
    for (const name of [`${OWN}/shceduler`, `${OWN}/weight`, `${OWN}/`]) {
      const { problems } = decodeObject({
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { namespace: 'demo', name: 'web', annotations: { [name]: '1' } },
        spec: { clusterIP: '10.96.0.1', ports: [{ port: 80 }] },
      });
      assert.deepEqual(
        problems.map(({ field, rule }) => [field, rule]),
        [
          [
            `metadata.annotations.${name}`,
            'is not a setting of a Service: docs/service-settings.md lists them',
          ],
        ],
      );
    }
  });

  /** Settings that another field or setting leaves without an effect. */
  const unfit: readonly (readonly [Service, Record<string, unknown>, string])[] = [
    [
      settingService({ 'persistence-timeout': '5', scheduler: 'lc' }),
      { scheduler: 'lc' },
      'persistence-timeout',
    ],
    [
      settingService({ 'persistence-netmask': 'IPv4=8', scheduler: 'lc' }),
      { scheduler: 'lc' },
      'persistence-netmask',
    ],
    [
      settingService({ 'one-packet': 'true', scheduler: 'lc' }, false, false),
      { scheduler: 'lc' },
      'one-packet',
    ],
    [settingService({ 'scheduler-flags': 'port', scheduler: 'lc' }), { scheduler: 'lc' }, 'scheduler-flags'],
    [settingService({ 'slow-start': '5' }), {}, 'slow-start'],
    [settingService({ 'slow-start': '5', scheduler: 'mh' }), { scheduler: 'mh' }, 'slow-start'],
    [settingService({ 'lower-threshold': '5' }), {}, 'lower-threshold'],
    [settingService({ forwarding: 'tunnel' }), {}, 'forwarding'],
    [settingService({ forwarding: 'tunnel', scheduler: 'sh' }), { scheduler: 'sh' }, 'forwarding'],
    [
      settingService({ forwarding: 'tunnel', scheduler: 'mh', 'upper-threshold': '9' }),
      { scheduler: 'mh', upperThreshold: 9 },
      'forwarding',
    ],
    [
      settingService({ forwarding: 'tunnel', scheduler: 'mh', 'zone-weights': 'same=9' }),
      { scheduler: 'mh', zoneWeights: new Map([['same', 9]]) },
      'forwarding',
    ],
    [settingService({ forwarding: 'tunnel', scheduler: 'mh' }, true), { scheduler: 'mh' }, 'forwarding'],
    [
      {
        ...settingService({ forwarding: 'tunnel', scheduler: 'mh' }),
        ...{ type: 'LoadBalancer', externalTrafficPolicy: 'Local' },
      },
      { scheduler: 'mh' },
      'forwarding',
    ],
    [
      settingService({ 'lower-threshold': '5', 'upper-threshold': '4' }),
      { upperThreshold: 4 },
      'lower-threshold',
    ],
  ];
  for (const [service, expected, name] of unfit) {
    it(`${name} without an effect: ${JSON.stringify(service.annotations)}`, () => {
      const { settings = {}, problems } = settingsOf(service, ALL_SETTINGS);
      assert.deepEqual(settings, expected);
      assert.deepEqual(
        problems.map(({ field }) => field),
        [`metadata.annotations.${OWN}/${name}`],
      );
    });
  }

  it('tunnel goes with mh, without affinity, and with policy Cluster', () => {
    const given = { forwarding: 'tunnel', scheduler: 'mh' };
    assert.deepEqual(settingsOf(settingService(given), ALL_SETTINGS), { settings: given, problems: [] });
  });

  it('are none if none is allowed: ours are reported, and those of other projects are not', () => {
    const all = Object.fromEntries(
      SETTING_NAMES.filter((name) => name !== 'weight').map((name) => [name, '1']),
    );
    const { settings, problems } = settingsOf(settingService(all, true), NO_SETTINGS);
    assert.equal(settings, undefined);
    assert.deepEqual(
      problems.map(({ rule }) => rule),
      Object.keys(all).map(() => 'is not allowed: --service-settings does not name it'),
    );
    const others = { 'kube-router.io/service.scheduler': 'lc', 'kube-router.io/service.schedflags': '?' };
    assert.deepEqual(settingsOf(settingService(others), NO_SETTINGS), { problems: [] });
  });

  it('that the mode does not have are reported with its reason, wrong values with their rule', () => {
    const rules = new Map([['scheduler', 'only ipvs mode has it'] as const]);
    const ruleOf = (scheduler: string) => settingsOf(settingService({ scheduler }), rules).problems[0]?.rule;
    assert.equal(ruleOf('lc'), 'only ipvs mode has it');
    assert.match(ruleOf('x') ?? '', /^must be a scheduler/);
  });
});

describe('weight of a slice', () => {
  const slice = (weight: string, name = 'weight') => settingSlice('web-a', ['10.0.0.1'], { [name]: weight });

  it('is an integer from 0 to 65535, under our name or that of Cilium', () => {
    for (const text of ['0', '1', '65535']) {
      assert.equal(weightOf(slice(text), ALL_SETTINGS).weight, Number(text));
      assert.equal(weightOf(slice(text, 'service.cilium.io/weight'), ALL_SETTINGS).weight, Number(text));
      assert.deepEqual(weightOf(slice(text), ALL_SETTINGS).problems, []);
    }
    for (const text of ['', '-1', '65536', '1.5', 'a', LONG]) {
      assert.equal(weightOf(slice(text), ALL_SETTINGS).weight, undefined);
      const [problem] = weightOf(slice(text), ALL_SETTINGS).problems;
      assert.equal(problem?.object, 'EndpointSlice demo/web-a');
      assert.match(problem?.rule ?? '', /^must be an integer from 0 to 65535/);
    }
  });

  it('has no effect if it is not allowed', () => {
    assert.equal(weightOf(slice('5'), NO_SETTINGS).weight, undefined);
    assert.equal(weightOf(slice('5'), NO_SETTINGS).problems.length, 1);
    assert.deepEqual(weightOf(slice('x', 'service.cilium.io/weight'), NO_SETTINGS).problems, []);
    assert.equal(
      weightOf(slice('5'), new Map([['weight', 'only ipvs mode has it'] as const])).weight,
      undefined,
    );
  });

  it('does not make objects without annotations larger', () => {
    assert.deepEqual(annotations({}), {});
    assert.deepEqual(settingsOf(settingService({}), ALL_SETTINGS), { problems: [] });
  });
});

it('are read once for each object', () => {
  const reader = new SettingsReader(ALL_SETTINGS);
  const given = { scheduler: 'fastest', 'one-packet': 'true' };
  const service = settingService(given);
  const read = reader.ofService(service);
  assert.deepEqual(read, settingsOf(service, ALL_SETTINGS));
  assert.equal(reader.ofService(service), read);
  assert.notEqual(reader.ofService(settingService(given)), read);
  assert.deepEqual(reader.ofService(settingService({})), { problems: [] });
  const slice = settingSlice('web-a', ['10.0.0.1'], { weight: '5' });
  const weight = reader.ofSlice(slice);
  assert.deepEqual(weight, { weight: 5, problems: [] });
  assert.equal(reader.ofSlice(slice), weight);
  assert.deepEqual(reader.ofSlice(settingSlice('web-a', ['10.0.0.1'])), { problems: [] });
});
