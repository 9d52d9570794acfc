// The behaviours of each version of kube-proxy that can be mirrored: one table, which docs/versions.md has too, and what follows from it.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { readFlags } from '../../../../src/command/config/commandLine.js';
import { blankModeWarning, defaultConfiguration } from '../../../../src/command/config/configuration.js';
import { isGateOn, KUBE_PROXY_GATES } from '../../../../src/command/config/featureGates.js';
import { FLAGS } from '../../../../src/command/config/flags.js';
import { loadConfiguration } from '../../../../src/command/config/load.js';
import {
  BEHAVIOURS,
  type Behaviour,
  behaviourOf,
  DEFAULT_VERSION,
  MIRRORED_VERSIONS,
  type MirroredVersion,
} from '../../../../src/command/config/mirroredVersion.js';
import { nftablesOptions } from '../../../../src/command/modes/nftables/fromConfiguration.js';
import { MODES } from '../../../../src/command/modes/select.js';
import { decodeConfiguration } from '../../../support/clusters/decodeConfiguration.js';
import { ROOT } from '../../../support/paths.js';

/** A configuration that mirrors a version, with no errors. */
function configured(mirroredVersion: string, raw: Record<string, unknown> = {}) {
  const { configuration, problems } = decodeConfiguration({ mirroredVersion, ...raw });
  assert.deepEqual(problems, []);
  return configuration;
}

const problemsOf = (mirroredVersion: string, raw: Record<string, unknown>) =>
  decodeConfiguration({ mirroredVersion, ...raw }).problems;

const isAccepted = (version: string, raw: Record<string, unknown>) => problemsOf(version, raw).length === 0;

const nftables = (version: string, raw: Record<string, unknown> = {}) =>
  nftablesOptions(configured(version, { mode: 'nftables', ...raw }), { families: [4, 6] });

const GATE = 'KubeProxyNFTablesLocalhostNodePorts';
const LOCALHOST = { nodePortAddresses: ['primary', 'localhost'] };

/** What a version does, found by asking the code that does it; and what is expected of 1.36, 1.37 and 1.38. */
const ROWS: readonly (readonly [
  behaviour: string,
  found: (version: MirroredVersion) => unknown,
  expected: readonly [v36: unknown, v37: unknown, v38: unknown],
])[] = [
  [
    'chain with one endpoint, nftables mode: direct',
    (v) => nftables(v).directSingleEndpoint,
    [false, true, true],
  ],
  [
    'nodePortAddresses with words and networks',
    (v) => isAccepted(v, { nodePortAddresses: ['10.0.0.0/8', 'primary', 'localhost', 'all'] }),
    [false, true, true],
  ],
  [
    'nodePortAddresses with primary alone',
    (v) => isAccepted(v, { nodePortAddresses: ['primary'] }),
    [true, true, true],
  ],
  [
    'a nonsense word in nodePortAddresses',
    (v) => isAccepted(v, { nodePortAddresses: ['node'] }),
    [false, false, false],
  ],
  [
    'exit after a change of the node',
    (v) => behaviourOf(configured(v)).exitsOnNodeChange,
    [false, true, true],
  ],
  [
    'warning that the default mode will change',
    (v) => /1\.40/.test(blankModeWarning(MODES, behaviourOf(configured(v)))),
    [false, true, true],
  ],
  [
    'gate KubeProxyIPVS is known',
    (v) => isAccepted(v, { featureGates: { KubeProxyIPVS: true } }),
    [false, true, true],
  ],
  [
    'ipvs mode with gate KubeProxyIPVS off',
    (v) => isAccepted(v, { mode: 'ipvs', featureGates: { KubeProxyIPVS: false } }),
    [false, false, false],
  ],
  ['ipvs mode without the gate', (v) => isAccepted(v, { mode: 'ipvs' }), [true, true, true]],
  [
    'iptables mode with gate KubeProxyIPVS off',
    (v) => isAccepted(v, { mode: 'iptables', featureGates: { KubeProxyIPVS: false } }),
    [false, true, true],
  ],
  [`gate ${GATE} is known`, (v) => isAccepted(v, { featureGates: { [GATE]: true } }), [false, true, true]],
  [
    'protocols rejected on localhost by default',
    (v) => nftables(v).localhostRejects[4],
    [[], [], ['tcp', 'udp', 'sctp']],
  ],
  [
    'the same, with a loopback network',
    (v) => (v === '1.36' ? [] : nftables(v, LOCALHOST).localhostRejects[6]),
    [[], [], ['udp', 'sctp']],
  ],
  [
    'the same, with AllAlpha',
    (v) => nftables(v, { featureGates: { AllAlpha: true } }).localhostRejects[4],
    [[], ['tcp', 'udp', 'sctp'], ['tcp', 'udp', 'sctp']],
  ],
  [
    'the same, with AllBeta off',
    (v) => nftables(v, { featureGates: { AllBeta: false } }).localhostRejects[4],
    [[], [], []],
  ],
  ['metrics of node ports on localhost', (v) => BEHAVIOURS[v].localhostNodePortMetrics, [false, true, true]],
  [
    'RelaxedServiceNameValidation may be off',
    (v) => isAccepted(v, { featureGates: { RelaxedServiceNameValidation: false } }),
    [true, false, false],
  ],
  [
    'an unknown gate is accepted',
    (v) => isAccepted(v, { featureGates: { SomeLaterGate: true } }),
    [false, true, true],
  ],
  [
    'a misspelt gate is accepted',
    (v) => isAccepted(v, { featureGates: { KubeProxyIVPS: true } }),
    [false, false, false],
  ],
  [
    'version whose hidden metrics may be shown',
    (v) =>
      ['1.35', '1.36', '1.37'].filter((hidden) => isAccepted(v, { showHiddenMetricsForVersion: hidden })),
    [['1.35'], ['1.36'], ['1.37']],
  ],
];

describe('what each version does:', () => {
  for (const [behaviour, found, expected] of ROWS) {
    it(behaviour, () => assert.deepEqual(MIRRORED_VERSIONS.map(found), expected));
  }

  it('every behaviour is in this table: versions with the same behaviour have the same fields', () => {
    const { version: _v, previousVersion: _p, provisional: _s, ...v37 } = BEHAVIOURS['1.37'];
    const { version: _w, previousVersion: _q, provisional: _t, ...v38 } = BEHAVIOURS['1.38'];
    assert.deepEqual(v38, v37);
    const differing = (Object.keys(v37) as (keyof Behaviour)[]).filter(
      (name) => BEHAVIOURS['1.36'][name] !== BEHAVIOURS['1.37'][name],
    );
    assert.deepEqual(differing.toSorted(), Object.keys(v37).toSorted());
  });
});

describe('the default version', () => {
  it('is 1.36, in the flag, the field and the log', () => {
    assert.equal(DEFAULT_VERSION, '1.36');
    assert.equal(FLAGS.get('mirrored-version')?.default, DEFAULT_VERSION);
    assert.equal(behaviourOf(defaultConfiguration()).version, DEFAULT_VERSION);
  });

  it('is that of a pre-release of no kube-proxy', () => {
    assert.equal(BEHAVIOURS[DEFAULT_VERSION].provisional, false);
    assert.deepEqual(
      MIRRORED_VERSIONS.filter((version) => BEHAVIOURS[version].provisional),
      ['1.38'],
    );
  });
});

describe('the setting', () => {
  const load = (...args: string[]) => {
    const command = readFlags(args);
    assert.ok('given' in command);
    return loadConfiguration(command, MODES);
  };

  it('of the flag is that of the configuration', () => {
    const { configuration } = load('--mirrored-version=1.37', '--proxy-mode=ipvs');
    assert.equal(behaviourOf(configuration).version, '1.37');
  });

  it('neither turns ipvs mode off nor warns of it, in any version', () => {
    for (const version of MIRRORED_VERSIONS) {
      assert.equal(isGateOn('KubeProxyIPVS', {}, BEHAVIOURS[version]), true, version);
      const { notices } = load(`--mirrored-version=${version}`, '--proxy-mode=ipvs');
      const others = notices.filter((line) => !line.startsWith('mirroredVersion is provisional'));
      assert.deepEqual(others, [], version);
    }
  });

  it('with a provisional version has a warning', () => {
    const { notices } = load('--mirrored-version=1.38', '--proxy-mode=iptables');
    assert.equal(notices.filter((line) => line.startsWith('mirroredVersion is provisional')).length, 1);
  });

  it('of an unknown version is an error that names the field, the value and the versions', () => {
    assert.deepEqual(problemsOf('1.35', {}), [
      'failed validate: KubeProxyConfiguration.MirroredVersion: Invalid value: "1.35": must be "1.36", "1.37" or "1.38", the minor version of a kube-proxy',
    ]);
    assert.throws(() => load('--mirrored-version=v1.37'), /MirroredVersion: Invalid value: "v1\.37"/);
  });

  it('without quotes in YAML is an error that says so', () => {
    assert.deepEqual(decodeConfiguration({ mirroredVersion: 1.37 }).problems, [
      'failed complete: failed to decode: json: cannot unmarshal number 1.37 into Go struct field KubeProxyConfiguration.mirroredVersion of type string: write the version in quotes, as "1.37"',
    ]);
  });
});

describe('a gate', () => {
  it('that a mode needs is named with the modes that are left', () => {
    assert.deepEqual(problemsOf('1.37', { mode: 'ipvs', featureGates: { KubeProxyIPVS: false } }), [
      'failed validate: KubeProxyConfiguration.Mode.ProxyMode: Invalid value: "ipvs": must be iptables, nftables or blank (blank means the best-available proxy [currently iptables])',
    ]);
  });

  it('that only later versions have is unknown to 1.36', () => {
    assert.deepEqual(problemsOf('1.36', { featureGates: { KubeProxyIPVS: false } }), [
      'failed complete: unrecognized feature gate: KubeProxyIPVS',
    ]);
  });

  it('that is misspelt has a suggestion', () => {
    assert.deepEqual(problemsOf('1.37', { featureGates: { KubeProxyIVPS: false } }), [
      'failed complete: unrecognized feature gate: KubeProxyIVPS (did you mean "KubeProxyIPVS"?)',
    ]);
  });

  it('that no stage of a version has is on only if it is Deprecated later', () => {
    const on = (name: string) => isGateOn(name, { AllAlpha: true, AllBeta: true }, BEHAVIOURS['1.36']);
    assert.equal(on('KubeProxyIPVS'), true);
    assert.equal(on(GATE), false);
  });
});

describe('docs/versions.md', () => {
  const text = readFileSync(join(ROOT, 'docs/versions.md'), 'utf8');

  it('has each gate that concerns kube-proxy, with its stage and default in each version', () => {
    for (const [name, stages] of Object.entries(KUBE_PROXY_GATES)) {
      const cells = MIRRORED_VERSIONS.map((version) => {
        const gate = stages[version];
        if (!gate) return 'unknown';
        return `${gate.stage}, ${gate.default ? 'on' : 'off'}${gate.locked ? ', locked' : ''}`;
      });
      assert.ok(text.includes(`| \`${name}\` | ${cells.join(' | ')} |`), `${name}: ${cells.join(' | ')}`);
    }
  });

  it('names the default and every version', () => {
    assert.match(text, new RegExp(`default is \`${DEFAULT_VERSION.replace('.', '\\.')}\``));
    for (const version of MIRRORED_VERSIONS) assert.ok(text.includes(`\`${version}\``));
  });
});
