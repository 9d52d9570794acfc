import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { COMMANDS } from '../../../../src/command/cli/definitions.js';
import { type KernelCommand, readFlags, UsageError } from '../../../../src/command/config/commandLine.js';
import { KUBE_PROXY_FLAGS } from '../../../../src/command/config/flags.js';
import { FLAG_TYPES } from '../../../../src/command/config/flagTypes.js';
import { flagLines, helpText } from '../../../../src/command/config/help.js';
import { ConfigurationError, loadConfiguration } from '../../../../src/command/config/load.js';
import { CONFIGURATION } from '../../../../src/command/config/schema.js';
import { MODES } from '../../../../src/command/modes/select.js';

function load(...args: string[]) {
  return loadConfiguration(readFlags(args) as KernelCommand, MODES);
}

/** The field as v1alpha1 JSON would show it. */
function field(path: string, args: string[]): unknown {
  let value: unknown = CONFIGURATION.encode(load(...args).configuration);
  for (const step of path.split('.')) value = (value as Record<string, unknown>)[step];
  return value;
}

describe("every flag of kube-proxy's", () => {
  /** A flag, its value, the field that it sets, and the field's value as JSON. */
  const cases: [flag: keyof typeof KUBE_PROXY_FLAGS, text: string, path?: string, value?: unknown][] = [
    ['bind-address', '2001:DB8::5', 'bindAddress', '2001:db8::5'],
    ['bind-address-hard-fail', 'true', 'bindAddressHardFail', true],
    ['boot-id-file', '/x'],
    ['cleanup', 'false'],
    ['cluster-cidr', '10.244.0.0/16,fd00:10:244::/48', 'clusterCIDR', '10.244.0.0/16,fd00:10:244::/48'],
    ['config', ''],
    ['config-sync-period', '5m', 'configSyncPeriod', '5m0s'],
    ['conntrack-max-per-core', '0', 'conntrack.maxPerCore', 0],
    ['conntrack-min', '1', 'conntrack.min', 1],
    ['conntrack-tcp-be-liberal', 'true', 'conntrack.tcpBeLiberal', true],
    ['conntrack-tcp-timeout-close-wait', '0s', 'conntrack.tcpCloseWaitTimeout', '0s'],
    ['conntrack-tcp-timeout-established', '2h', 'conntrack.tcpEstablishedTimeout', '2h0m0s'],
    ['conntrack-udp-timeout', '30s', 'conntrack.udpTimeout', '30s'],
    ['conntrack-udp-timeout-stream', '3m', 'conntrack.udpStreamTimeout', '3m0s'],
    ['detect-local-mode', 'NodeCIDR', 'detectLocalMode', 'NodeCIDR'],
    ['feature-gates', 'AllAlpha=true,WatchList=false', 'featureGates', { AllAlpha: true, WatchList: false }],
    ['healthz-bind-address', '127.0.0.1', 'healthzBindAddress', '127.0.0.1:10256'],
    ['healthz-port', '0', 'healthzBindAddress', ''],
    ['help', 'false'],
    ['hostname-override', ' Node-A ', 'hostnameOverride', 'node-a'],
    ['init-only', 'true'],
    ['iptables-localhost-nodeports', 'false', 'iptables.localhostNodePorts', false],
    ['iptables-masquerade-bit', '0', 'iptables.masqueradeBit', 0],
    ['iptables-min-sync-period', '0', 'iptables.minSyncPeriod', '0s'],
    ['iptables-sync-period', '1m', 'iptables.syncPeriod', '1m0s'],
    ['ipvs-exclude-cidrs', '10.1.0.0/16,10.2.0.0/16', 'ipvs.excludeCIDRs', ['10.1.0.0/16', '10.2.0.0/16']],
    ['ipvs-min-sync-period', '5s', 'ipvs.minSyncPeriod', '5s'],
    ['ipvs-scheduler', 'lc', 'ipvs.scheduler', 'lc'],
    ['ipvs-strict-arp', 'true', 'ipvs.strictARP', true],
    ['ipvs-sync-period', '1m', 'ipvs.syncPeriod', '1m0s'],
    ['ipvs-tcp-timeout', '15m0s', 'ipvs.tcpTimeout', '15m0s'],
    ['ipvs-tcpfin-timeout', '2m', 'ipvs.tcpFinTimeout', '2m0s'],
    ['ipvs-udp-timeout', '5m', 'ipvs.udpTimeout', '5m0s'],
    ['kube-api-burst', '20', 'clientConnection.burst', 20],
    ['kube-api-content-type', 'application/json', 'clientConnection.contentType', 'application/json'],
    ['kube-api-qps', '7.5', 'clientConnection.qps', 7.5],
    ['kubeconfig', '/etc/kubeconfig', 'clientConnection.kubeconfig', '/etc/kubeconfig'],
    ['log-flush-frequency', '1s', 'logging.flushFrequency', '1s'],
    ['log-json-info-buffer-size', '0', 'logging.options.json.infoBufferSize', '0'],
    ['log-json-split-stream', 'false', 'logging.options.json', { infoBufferSize: '0' }],
    ['log-text-info-buffer-size', '0Ki', 'logging.options.text.infoBufferSize', '0Ki'],
    ['log-text-split-stream', 'false', 'logging.options.text', { infoBufferSize: '0' }],
    ['logging-format', 'json', 'logging.format', 'json'],
    ['machine-id-file', '/x'],
    ['masquerade-all', 'true', 'iptables.masqueradeAll', true],
    ['master', 'https://10.0.0.1:6443'],
    ['metrics-bind-address', '0.0.0.0:9000', 'metricsBindAddress', '0.0.0.0:9000'],
    ['metrics-port', '9000', 'metricsBindAddress', '127.0.0.1:10249'],
    ['nodeport-addresses', 'primary', 'nodePortAddresses', ['primary']],
    ['oom-score-adj', '-998', 'oomScoreAdj', -998],
    ['pod-bridge-interface', 'cni0', 'detectLocal.bridgeInterface', 'cni0'],
    ['pod-interface-name-prefix', 'veth', 'detectLocal.interfaceNamePrefix', 'veth'],
    ['profiling', 'true', 'enableProfiling', true],
    ['proxy-mode', 'ipvs', 'mode', 'ipvs'],
    ['proxy-port-range', '300-400', 'portRange', '300-400'],
    ['show-hidden-metrics-for-version', '1.35', 'showHiddenMetricsForVersion', '1.35'],
    ['v', '4', 'logging.verbosity', 4],
    ['version', 'false'],
    [
      'vmodule',
      'a=1,b*=2',
      'logging.vmodule',
      [
        { filePattern: 'a', verbosity: 1 },
        { filePattern: 'b*', verbosity: 2 },
      ],
    ],
    ['write-config-to', '/tmp/x'],
  ];

  for (const [flag, text, path, value] of cases) {
    it(`--${flag}`, () => {
      const spellings = [
        [`--${flag}=${text}`],
        [`--${flag.replaceAll('-', '_')}=${text}`],
        ...(FLAG_TYPES[KUBE_PROXY_FLAGS[flag].type].placeholder === '' ? [] : [[`--${flag}`, text]]),
      ];
      for (const args of spellings) {
        if (path === undefined) assert.doesNotThrow(() => load(...args), args.join(' '));
        else assert.deepEqual(field(path, args), value, args.join(' '));
      }
    });
  }

  it('is one of the cases', () => {
    const named = cases.map(([flag]) => flag).toSorted();
    assert.deepEqual(named, Object.keys(KUBE_PROXY_FLAGS).toSorted());
    assert.equal(named.length, 60);
  });
});

describe('flags are read as Go reads them', () => {
  it('booleans without a value, and not with the next argument as their value', () => {
    assert.equal(field('iptables.masqueradeAll', ['--masquerade-all']), true);
    assert.throws(() => load('--masquerade-all', 'true'), /does not take any arguments, got \["true"\]/);
  });

  it('verbosity in all its forms', () => {
    for (const args of [['-v=4'], ['-v4'], ['-v', '4'], ['--v=4'], ['--v', '4']]) {
      assert.equal(field('logging.verbosity', args), 4, args.join(' '));
    }
  });

  it('lists, gates and patterns from a repeated flag; for other flags the last value wins', () => {
    const twice = (flag: string, one: string, two: string) => [`--${flag}=${one}`, `--${flag}=${two}`];
    assert.deepEqual(field('ipvs.excludeCIDRs', twice('ipvs-exclude-cidrs', '10.1.0.0/16', '10.2.0.0/16')), [
      '10.1.0.0/16',
      '10.2.0.0/16',
    ]);
    assert.deepEqual(field('featureGates', twice('feature-gates', 'AllAlpha=true', 'AllBeta=T')), {
      AllAlpha: true,
      AllBeta: true,
    });
    assert.equal((field('logging.vmodule', twice('vmodule', 'a=1', 'b=2')) as unknown[]).length, 2);
    assert.equal(field('ipvs.scheduler', twice('ipvs-scheduler', 'lc', 'sh')), 'sh');
  });

  it('zero values as given, not as defaults', () => {
    assert.throws(
      () => load('--proxy-mode=ipvs', '--ipvs-sync-period=0s'),
      /SyncPeriod: Invalid value: "0s": must be greater than 0/,
    );
    assert.equal(field('clientConnection.burst', ['--kube-api-burst=0']), 0);
  });

  it("blank addresses without effect, and --bind-address=:: without effect on the servers' addresses", () => {
    assert.equal(field('healthzBindAddress', ['--healthz-bind-address=']), '0.0.0.0:10256');
    assert.equal(field('metricsBindAddress', ['--metrics-bind-address=']), '127.0.0.1:10249');
    assert.equal(field('bindAddress', ['--bind-address=']), '0.0.0.0');
    assert.equal(field('healthzBindAddress', ['--bind-address=::']), '0.0.0.0:10256');
  });

  it('addresses in any spelling as canonical ones: only a canonical :: means both families', () => {
    assert.equal(field('healthzBindAddress', ['--healthz-bind-address=[0:0::0]:99']), '[::]:99');
    assert.equal(field('healthzBindAddress', ['--healthz-bind-address=FD00::0:1']), '[fd00::1]:10256');
    assert.equal(field('metricsBindAddress', ['--metrics-bind-address=010.0.0.1:99']), '10.0.0.1:99');
  });

  it('ports from --healthz-port and --metrics-port if an address has none', () => {
    assert.equal(
      field('healthzBindAddress', ['--healthz-bind-address=::1', '--healthz-port=99']),
      '[::1]:99',
    );
    assert.equal(
      field('metricsBindAddress', ['--metrics-bind-address=10.0.0.1', '--metrics-port=99']),
      '10.0.0.1:99',
    );
    assert.throws(() => load('--metrics-port=0'), /MetricsBindAddress: Invalid value: "": must be IP:port/);
    assert.equal(
      field('healthzBindAddress', ['--healthz-port=0', '--write-config-to=/x']),
      '0.0.0.0:10256',
      'no effect on a configuration that is written',
    );
  });

  const refused: [args: string[], message: string][] = [
    [['--x'], 'unknown flag: --x'],
    [['--un_known=1'], 'unknown flag: --un_known'],
    [['-x'], "unknown shorthand flag: 'x' in -x"],
    [['--=x'], 'bad flag syntax: --=x'],
    [['---x'], 'bad flag syntax: ---x'],
    [['--config'], 'flag needs an argument: --config'],
    [['-v'], "flag needs an argument: 'v' in -v"],
    [
      ['--bind-address=zz'],
      'invalid argument "zz" for "--bind-address" flag: "zz" is not a valid IP address',
    ],
    [
      ['--healthz-bind-address=zz'],
      'invalid argument "zz" for "--healthz-bind-address" flag: "zz" is not in a valid format (ip or ip:port): address zz: missing port in address',
    ],
    [
      ['--healthz-bind-address=zz:1'],
      'invalid argument "zz:1" for "--healthz-bind-address" flag: "zz" is not a valid IP address',
    ],
    [
      ['--metrics-bind-address=1.2.3.4:x'],
      'invalid argument "1.2.3.4:x" for "--metrics-bind-address" flag: "x" is not a valid number',
    ],
    [
      ['--masquerade-all=maybe'],
      'invalid argument "maybe" for "--masquerade-all" flag: strconv.ParseBool: parsing "maybe": invalid syntax',
    ],
    [
      ['--oom-score-adj=x'],
      'invalid argument "x" for "--oom-score-adj" flag: strconv.ParseInt: parsing "x": invalid syntax',
    ],
    [
      ['--conntrack-min=99999999999'],
      'invalid argument "99999999999" for "--conntrack-min" flag: strconv.ParseInt: parsing "99999999999": value out of range',
    ],
    [
      ['--kube-api-qps=many'],
      'invalid argument "many" for "--kube-api-qps" flag: strconv.ParseFloat: parsing "many": invalid syntax',
    ],
    [
      ['--kube-api-qps=1e39'],
      'invalid argument "1e39" for "--kube-api-qps" flag: strconv.ParseFloat: parsing "1e39": value out of range',
    ],
    [
      ['--ipvs-udp-timeout=soon'],
      'invalid argument "soon" for "--ipvs-udp-timeout" flag: time: invalid duration "soon"',
    ],
    [
      ['--feature-gates=X'],
      'invalid argument "X" for "--feature-gates" flag: malformed pair, expect string=bool',
    ],
    [
      ['--feature-gates=X=2'],
      'invalid argument "X=2" for "--feature-gates" flag: invalid value of X: 2, err: strconv.ParseBool: parsing "2": invalid syntax',
    ],
    [['-v=x'], 'invalid argument "x" for "-v, --v" flag: strconv.ParseUint: parsing "x": invalid syntax'],
    [['--vmodule=a'], 'invalid argument "a" for "--vmodule" flag: "a" does not have the pattern=N format'],
    [
      ['--vmodule=a=x'],
      'invalid argument "a=x" for "--vmodule" flag: parsing verbosity in "a=x": strconv.ParseUint: parsing "x": invalid syntax',
    ],
    [
      ['--proxy-port-range=9-1'],
      'invalid argument "9-1" for "--proxy-port-range" flag: "9-1" is not a valid port range',
    ],
    [
      ['--log-text-info-buffer-size=x'],
      `invalid argument "x" for "--log-text-info-buffer-size" flag: quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'`,
    ],
    [['foo'], 'unknown command: foo'],
    [['foo', 'bar'], 'unknown command: foo'],
    [['--once', 'foo', 'bar'], '"kube-netlink-proxy" does not take any arguments, got ["foo" "bar"]'],
    [['paln'], 'unknown command: paln (did you mean plan?)'],
    [['run', '--', '--v'], '"kube-netlink-proxy" does not take any arguments, got ["--v"]'],
    [['--ipvs_sched=lc'], 'unknown flag: --ipvs_sched (did you mean --ipvs-scheduler?)'],
    [['--once', '-o', 'json'], "unknown shorthand flag: 'o' in -o"],
    [['--once', '--timeout=0'], '--timeout must be 0.1 or more, in s, for example 30'],
    [
      ['--once', '--timeout=30s'],
      'invalid argument "30s" for "--timeout" flag: strconv.ParseFloat: parsing "30s": invalid syntax',
    ],
    [['--timeout=30'], '--timeout needs --once, or a command: plan --timeout 30'],
    [['--drain-timeout=-1s'], '--drain-timeout must be a duration of 0 or more, for example 1h30m or 10s'],
  ];
  for (const [args, message] of refused) {
    it(`rejects ${args.join(' ')}`, () => {
      assert.throws(
        () => readFlags(args, ['plan']),
        (error) => {
          assert.ok(error instanceof UsageError);
          assert.equal(error.message, message);
          return true;
        },
      );
    });
  }
});

describe('the command line', () => {
  it('requests a run or a clean-up', () => {
    const command = readFlags([
      '--manifests',
      'm',
      '--cures=a,b',
      '--drain-timeout=1m',
      '--once',
      '--timeout=2.5',
      '--object-events',
    ]);
    assert.ok(command.do === 'run');
    assert.equal(command.timeout, 2.5);
    assert.equal(command.objectEvents, true);
    const { manifests, cures, drainBound, once, config, ownAll } = command;
    assert.deepEqual(
      { manifests, cures, drainBound, once, config, ownAll },
      {
        manifests: 'm',
        cures: ['a', 'b'],
        drainBound: 60_000,
        once: true,
        config: undefined,
        ownAll: false,
      },
    );
    assert.equal(readFlags([]).do, 'run');
    assert.equal(readFlags(['run', '']).do, 'run');
    assert.equal(readFlags(['--cleanup']).do, 'cleanup');
    assert.equal(readFlags(['--cleanup=false']).do, 'run');
    const other = readFlags([
      '--init-only',
      '--master=https://a',
      '--write-config-to',
      '/x',
    ]) as KernelCommand;
    assert.deepEqual([other.initOnly, other.master, other.writeConfigTo], [true, 'https://a', '/x']);
  });

  it('requests help or the version, whatever else it contains', () => {
    assert.deepEqual(readFlags(['-h', 'foo']), { do: 'help' });
    assert.deepEqual(readFlags(['--version', '--manifests', 'x']), { do: 'version', raw: false });
    assert.deepEqual(readFlags(['--version=raw']), { do: 'version', raw: true });
    assert.equal(readFlags(['--version=false']).do, 'run');
    for (const flag of [...Object.keys(KUBE_PROXY_FLAGS), 'manifests', 'once', 'cures', 'help']) {
      assert.match(helpText(COMMANDS, 80), new RegExp(`--${flag}\\b`), flag);
    }
    assert.match(helpText(COMMANDS, 80), /--ipvs-sync-period duration\n[^-]*\(default 30s\)/);
  });

  it('names the node by --hostname-override, trimmed and in lower case, or by the hostname', () => {
    assert.equal(load('--hostname-override', ' Node-A ').nodeName, 'node-a');
    assert.notEqual(load('--hostname-override=').nodeName, '');
    assert.throws(
      () => load('--hostname-override=  '),
      (error) =>
        error instanceof ConfigurationError &&
        error.message === 'failed complete: empty hostname-override is invalid',
    );
  });

  it('is logged as every flag with its value', () => {
    const { given } = readFlags([
      '--ipvs-sync-period=90s',
      '--feature-gates=AllBeta=1',
      '-v1',
    ]) as KernelCommand;
    const lines = flagLines(given);
    for (const line of [
      'FLAG: --ipvs-sync-period="1m30s"',
      'FLAG: --feature-gates="AllBeta=true"',
      'FLAG: --v="1"',
      'FLAG: --bind-address="0.0.0.0"',
      'FLAG: --masquerade-all="false"',
      'FLAG: --proxy-mode=""',
    ]) {
      assert.ok(lines.includes(line), line);
    }
  });
});
