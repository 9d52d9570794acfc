// The command check: its report, and its exit status. No test here reaches a kernel or an API server.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { check } from '../../../../src/command/cli/check/check.js';
import { checkLines, checkStatus } from '../../../../src/command/cli/check/report.js';
import { readInputFlags } from '../../../../src/command/config/commandLine.js';
import { COMMAND } from '../../../laboratory/proxyProcess.js';
import { ROOT } from '../../../support/paths.js';

const folder = mkdtempSync(join(tmpdir(), 'knp-check-'));
after(() => rmSync(folder, { recursive: true }));

/** Writes a file, and returns its path. */
function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

const KIND = 'apiVersion: kubeproxy.config.k8s.io/v1alpha1\nkind: KubeProxyConfiguration\n';
const configuration = (name: string, text: string) =>
  file(name, `${KIND}mode: ipvs\nclusterCIDR: 10.244.0.0/16\n${text}`);

function service(name: string, spec: string, created: string): string {
  const metadata = `{namespace: demo, name: ${name}, creationTimestamp: ${created}}`;
  return `apiVersion: v1\nkind: Service\nmetadata: ${metadata}\nspec: ${spec}\n`;
}

/** The report of these paths with these flags, with its problems as `level field rule`. */
async function checked(paths: string[], ...flags: string[]) {
  const report = await check(paths, readInputFlags(flags));
  const lines = report.problems.map(({ level, field, rule }) => `${level} ${field} ${rule}`);
  return { report, lines, status: checkStatus(report, false), strict: checkStatus(report, true) };
}

describe('a configuration', () => {
  it('of an unknown mode is checked as far as possible, whatever the name is', async () => {
    const path = file(
      'mode.yaml',
      `${KIND}mode: constructor\nclusterCIDR: 10.244.0.0/16\nipvs: {scheduler: wlrc}\n`,
    );
    const { lines } = await checked([path]);
    assert.deepEqual(
      lines.map((line) => line.split(' ').slice(0, 2).join(' ')),
      ['error KubeProxyConfiguration.Mode.ProxyMode', 'error ipvs.scheduler'],
    );
  });

  const cases: [name: string, text: string, status: number, problem?: RegExp][] = [
    ['is valid', 'ipvs: {scheduler: mh}\n', 0],
    [
      'has an unknown scheduler',
      'ipvs: {scheduler: wlrc}\n',
      1,
      /^error ipvs\.scheduler .*\(did you mean wlc\?\)$/,
    ],
    ['has an unknown field', 'ipvs: {foo: 1}\n', 0, /^warning ipvs\.foo unknown field "ipvs\.foo"$/],
    [
      'has a field twice',
      'portRange: ""\nportRange: ""\n',
      0,
      /^warning portRange line 6: key "portRange" already set in map$/,
    ],
    [
      'has an unknown feature gate',
      'featureGates: {Nope: true}\n',
      1,
      /^error featureGates\.Nope unrecognized feature gate/,
    ],
    [
      'has a locked feature gate',
      'featureGates: {GitRepoVolumeDriver: true}\n',
      1,
      /^error featureGates\.GitRepoVolumeDriver cannot set/,
    ],
    [
      'has an invalid value',
      'oomScoreAdj: 2000\n',
      1,
      /^error KubeProxyConfiguration\.KubeProxyLinuxConfiguration\.OOMScoreAdj Invalid value: 2000: must be within/,
    ],
    [
      'has a value of another type',
      'oomScoreAdj: x\n',
      1,
      /^error KubeProxyConfiguration\.oomScoreAdj .*Go struct field/,
    ],
    ['has a field without effect', 'portRange: 1-2\n', 0, /^warning portRange has no effect: it is unused/],
    ['is not YAML', 'ipvs: {scheduler: [\n', 2, /^error contents yaml: /],
  ];
  for (const [i, [name, text, status, problem]] of cases.entries()) {
    it(`${name}: exit status ${status}`, async () => {
      const path = configuration(`config-${i}.yaml`, text);
      const result = await checked([path]);
      assert.equal(result.status, status, result.lines.join('\n'));
      assert.equal(result.strict, status || (problem ? 1 : 0));
      if (!problem) assert.deepEqual(result.lines, []);
      else
        assert.ok(
          result.lines.some((line) => problem.test(line)),
          result.lines.join('\n'),
        );
      for (const { file, object } of result.report.problems) {
        assert.deepEqual([file, object], [path, 'KubeProxyConfiguration']);
      }
    });
  }

  it('with a blank mode and a blank cluster CIDR has a warning for each', async () => {
    const { lines, status } = await checked([file('blank.yaml', KIND)]);
    assert.deepEqual(
      lines.map((line) => line.split(' ', 2).join(' ')),
      ['warning mode', 'warning clusterCIDR'],
    );
    assert.equal(status, 0);
  });
});

describe('the flags', () => {
  it('are checked like a file if there is none, with their warnings', async () => {
    const result = await checked(
      [],
      '--proxy-mode=ipvs',
      '--ipvs-scheduler=xx',
      '--boot-id-file=/x',
      '--healthz-port=1',
    );
    assert.deepEqual(
      result.report.problems.map(({ file, field, level }) => [file, field, level]),
      [
        ['command line', '--boot-id-file', 'warning'],
        ['command line', '--healthz-port', 'warning'],
        ['command line', 'ipvs.scheduler', 'error'],
        ['command line', 'clusterCIDR', 'warning'],
      ],
    );
    assert.equal((await checked([], '--proxy-mode=foo')).status, 1);
  });

  it('name the version by which a file is checked; an unknown one is one problem', async () => {
    const path = file(
      'words.yaml',
      `${KIND}mode: iptables\nclusterCIDR: 10.244.0.0/16\nnodePortAddresses: [primary, all]\n`,
    );
    const found = async (...flags: string[]) => {
      const { report } = await checked([path], ...flags);
      return report.problems.map(({ field, level }) => `${level} ${field}`);
    };
    const refused = 'error KubeProxyConfiguration.NodePortAddresses[0]';
    assert.deepEqual(await found(), [refused]);
    assert.deepEqual(await found('--mirrored-version=1.37'), []);
    assert.deepEqual(await found('--mirrored-version=1.38'), ['warning mirroredVersion']);
    assert.deepEqual(await found('--mirrored-version=2'), ['error --mirrored-version', refused]);
    const { report } = await checked(
      [],
      '--mirrored-version=2',
      '--proxy-mode=iptables',
      '--cluster-cidr=10.0.0.0/8',
    );
    assert.deepEqual(
      report.problems.map(({ field, value }) => [field, value]),
      [['--mirrored-version', '2']],
    );
  });

  for (const scheduler of ['lc', 'unknown']) {
    it(`have a warning for each field that the mode does not use: scheduler ${scheduler}`, async () => {
      const flags = [
        '--proxy-mode=iptables',
        `--ipvs-scheduler=${scheduler}`,
        '--cluster-cidr=10.244.0.0/16',
      ];
      const { report, status } = await checked([], ...flags);
      const rule = 'has no effect: iptables mode does not use it';
      const place = { file: 'command line', object: 'KubeProxyConfiguration' };
      assert.deepEqual(report.problems, [{ ...place, field: 'ipvs.scheduler', rule, level: 'warning' }]);
      assert.equal(status, 0);
    });
  }
});

describe('manifests', () => {
  it('of examples/ have no problem', async () => {
    const result = await checked([join(ROOT, 'examples')]);
    assert.deepEqual([result.lines, result.status, result.report.files.length], [[], 0, 6]);
  });

  it('have a problem for each invalid field, and for each address of an older Service', async () => {
    const many = join(folder, 'many');
    mkdirSync(many);
    const old = service('old', '{clusterIP: 10.96.0.1, ports: [{port: 80}]}', '2020-01-01T00:00:00Z');
    const young = service('young', '{clusterIP: 10.96.0.1, ports: [{port: 80}]}', '2021-01-01T00:00:00Z');
    writeFileSync(join(many, 'old.yaml'), old);
    writeFileSync(join(many, 'young.yaml'), young);
    writeFileSync(
      join(many, 'bad.yaml'),
      service('bad', '{clusterIP: 10.96.0.2, ports: [{port: 70000}]}', '2020-01-01T00:00:00Z'),
    );
    writeFileSync(join(many, 'config.yaml'), `${KIND}mode: zz\nclusterCIDR: 10.244.0.0/16\n`);
    const { report, status } = await checked([many]);
    assert.equal(status, 1);
    assert.deepEqual(
      report.problems.map(({ file, object, field }) => [file, object, field]),
      [
        [join(many, 'config.yaml'), 'KubeProxyConfiguration', 'KubeProxyConfiguration.Mode.ProxyMode'],
        [join(many, 'bad.yaml'), 'Service demo/bad', 'spec.ports[0].port'],
        [many, 'Service demo/young', 'spec'],
      ],
    );
    assert.match(
      report.problems.at(-1)?.rule ?? '',
      /:\d+\/tcp is served by Service demo\/old, which is older$/,
    );
  });

  it('have no conflict of external IPs if the gate AllowServiceExternalIPs is off', async () => {
    const spec = (address: string) =>
      `{clusterIP: ${address}, externalIPs: [192.0.2.1], ports: [{port: 80}]}`;
    const manifests = file(
      'external.yaml',
      `${service('old', spec('10.96.0.1'), '2020-01-01T00:00:00Z')}---\n` +
        service('young', spec('10.96.0.2'), '2021-01-01T00:00:00Z'),
    );
    const off = configuration('off.yaml', 'featureGates: {AllowServiceExternalIPs: false}\n');
    const on = configuration('on.yaml', '');
    const conflict = [/^error spec 192\.0\.2\.1:80\/tcp is served by Service demo\/old, which is older/];
    for (const [paths, flags, expected] of [
      [[manifests], [], conflict],
      [[manifests, on], [], conflict],
      [[manifests, off], [], []],
      [[off, manifests], [], []],
      [[manifests], [`--config=${off}`], []],
      [[manifests], ['--feature-gates=AllowServiceExternalIPs=false'], []],
      // The flag has no effect with a configuration file.
      [[manifests, on], ['--feature-gates=AllowServiceExternalIPs=false'], conflict],
      [[manifests, on, off], [], conflict],
    ] as const) {
      const all = [...paths, ...flags.flatMap((flag) => (flag.startsWith('--config=') ? [off] : []))];
      const { lines } = await checked(all, ...flags);
      const found = lines.filter((line) => line.startsWith('error'));
      const left = lines.filter((line) => line.startsWith('warning spec.externalIPs is not served'));
      assert.equal(left.length, expected.length === 0 ? 2 : 0, `${paths} ${flags}: ${lines}`);
      assert.equal(found.length, expected.length, `${paths} ${flags}: ${found}`);
      for (const [i, pattern] of expected.entries()) assert.match(found[i] ?? '', pattern);
    }
  });

  it('have only addresses of the ranges of the flags, or of any of the configurations', async () => {
    const spec = '{clusterIP: 10.96.0.1, externalIPs: [192.0.2.1], ports: [{port: 80}]}';
    const manifests = file('ranges.yaml', service('web', spec, '2020-01-01T00:00:00Z'));
    const none = configuration('none.yaml', 'serviceExternalIPRange: [none]\n');
    const own = configuration('own.yaml', 'serviceExternalIPRange: [demo=192.0.2.0/24]\n');
    const any = configuration('any.yaml', '');
    const wrong = configuration('wrong.yaml', 'serviceExternalIPRange: [none, demo=192.0.2.0]\n');
    const refused = ['spec.externalIPs must be in a range of --service-external-ip-range for namespace demo'];
    const places = [0, 1].map((i) => `KubeProxyConfiguration.ServiceExternalIPRange[${i}]`);
    for (const [configurations, flags, expected] of [
      [[], [], []],
      [[], ['--service-external-ip-range=other=192.0.2.0/24'], refused],
      [
        [],
        ['--service-external-ip-range=192.0.2.0/24,none'],
        [`${places[1]} must be alone: it allows no address`],
      ],
      [[none], [], refused],
      [[none, own], [], []],
      [[none, any], [], []],
      [[any], ['--service-external-ip-range=none'], refused],
      [[none], ['--service-external-ip-range=192.0.2.0/24'], []],
      [[none], ['--service-external-ip-range='], refused],
      [
        [wrong],
        [],
        [
          `${places[0]} must be alone: it allows no address`,
          `${places[1]} must be a network in CIDR notation, or a namespace, = and a network: 203.0.113.0/24, team-a=198.51.100.0/28; or none, alone`,
          ...refused,
        ],
      ],
    ] as const) {
      const { lines } = await checked([manifests, ...configurations], ...flags);
      const errors = lines.filter((line) => line.startsWith('error'));
      const found = errors.map((line) => line.replace(/Invalid value: "[^"]+": /, ''));
      assert.deepEqual(
        found,
        expected.map((line) => `error ${line}`),
        `${configurations} ${flags}`,
      );
    }
  });

  it('that are unreadable have exit status 2', async () => {
    const broken = file('broken.yaml', 'kind: [\n');
    const { report, status } = await checked([broken, join(folder, 'absent')]);
    assert.equal(status, 2);
    assert.deepEqual(report.unreadable.toSorted(), [join(folder, 'absent'), broken]);
    assert.match(
      checkLines(report, { columns: 1000, style: (_, text) => text }).join('\n'),
      /^error: .*absent: file: contents: must be readable: open .*absent: no such file or directory\n/,
    );
  });

  it('without an object that is read have a warning: the file may be the wrong one', async () => {
    const other = file('other.yaml', 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n');
    const { lines, status } = await checked([other]);
    assert.deepEqual(lines, [
      'warning contents has no Service, EndpointSlice, Node or KubeProxyConfiguration',
    ]);
    assert.equal(status, 0);
  });
});

describe('the command', () => {
  const type = (...args: string[]) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [COMMAND, 'check', ...args], {
      encoding: 'utf8',
    });
    return { status, stdout, stderr };
  };

  it('prints a line for each problem with its file, object, field, rule and value, and a summary', () => {
    const path = configuration('wrong.yaml', 'ipvs: {scheduler: zz}\nportRange: 1-2\n');
    const { status, stdout, stderr } = type(path);
    assert.deepEqual([status, stderr], [1, '']);
    // Long lines are broken.
    const lines = stdout.replaceAll('\n  ', ' ').split('\n');
    assert.match(
      lines[0] ?? '',
      /^error: .*wrong\.yaml: KubeProxyConfiguration: ipvs\.scheduler: must be .*, found "zz"$/,
    );
    assert.match(lines[1] ?? '', /^warning: .*: portRange: has no effect/);
    assert.equal(lines[3], '1 problem and 1 warning in 1 file');
  });

  it('prints JSON, and refuses to check nothing', () => {
    const path = configuration('good.yaml', '');
    const { status, stdout } = type(path, '-o', 'json');
    assert.equal(status, 0);
    assert.deepEqual(JSON.parse(stdout), { files: [path], unreadable: [], problems: [] });
    const nothing = type();
    assert.equal(nothing.status, 2);
    assert.match(nothing.stderr, /^Error: there is nothing to check/);
  });
});
