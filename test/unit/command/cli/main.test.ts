// The command line: output, errors and exit status. No test here reaches the kernel.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { COMMANDS } from '../../../../src/command/cli/definitions.js';
import { helpText } from '../../../../src/command/config/help.js';
import { COMMAND } from '../../../laboratory/proxyProcess.js';
import { sample } from '../../../support/extent.js';
import { ROOT } from '../../../support/paths.js';

const folder = mkdtempSync(join(tmpdir(), 'knp-main-'));
after(() => rmSync(folder, { recursive: true }));

function type(...args: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [COMMAND, ...args], { encoding: 'utf8' });
  return { status, stdout, stderr };
}

const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };

describe('the command', () => {
  it('prints help and its version', () => {
    assert.deepEqual(type('--help'), { status: 0, stdout: helpText(COMMANDS, 80), stderr: '' });
    assert.deepEqual(type('--version'), { status: 0, stdout: `kube-netlink-proxy ${version}\n`, stderr: '' });
    const raw = JSON.parse(type('--version=raw').stdout);
    assert.deepEqual(
      [raw.version, raw.node, raw.platform],
      [version, process.versions.node, `linux/${process.arch}`],
    );
  });

  it('exits with 1 if the command line is invalid, and prints a short usage, the error and a suggestion', () => {
    const { status, stdout, stderr } = type('--manifest=examples');
    assert.deepEqual([status, stdout], [1, '']);
    const lines = stderr.trimEnd().split('\n');
    assert.equal(lines.at(-1), 'Error: unknown flag: --manifest (did you mean --manifests?)');
    assert.ok(lines.length < 10, stderr);
    assert.match(stderr, /^Usage:\n {2}kube-netlink-proxy \[run\] \[flags\] .*\n/);
    assert.match(type('paln', '--once').stderr, /\nError: unknown command: paln \(did you mean plan\?\)\n$/);
    assert.match(
      type('--cures=bleeding', '--config=/nowhere').stderr,
      /\nError: --cures must be of .*; found bleeding\n$/,
    );
  });

  it('exits with 2 if a command of people fails, at any position of its name: 1 of plan means that there are changes', () => {
    const failing = [
      ['--config=/nowhere', 'plan'],
      ['--x', 'plan'],
      ['plan', '--cleanup'],
      ['services', '--interval=x'],
    ];
    for (const args of sample(failing, 2)) {
      assert.equal(type(...args).status, 2, args.join(' '));
    }
    assert.equal(type('--config=/nowhere', '--manifests', 'plan').status, 1, 'a folder of that name');
  });

  it('describes each command, and suggests the closest one for a misspelt word', () => {
    assert.deepEqual(type('help'), { status: 0, stdout: helpText(COMMANDS, 80), stderr: '' });
    assert.equal(type('help', 'run').stdout, helpText(COMMANDS, 80));
    const { status, stdout, stderr } = type('help', 'diff');
    assert.deepEqual([status, stderr], [0, '']);
    assert.match(
      stdout,
      /^Usage: kube-netlink-proxy diff \[options\]\n.*\nExit status:\n {2}0 {2}the kernel has/s,
    );
    assert.deepEqual(type('--manifests', 'x', 'diff', '-h'), { status, stdout, stderr });
    const refused = [
      [['servces'], 'unknown command: servces (did you mean services?)'],
      [['help', 'servces'], 'unknown command: servces (did you mean services?)'],
      [['services', '--intervall=1'], 'unknown option: --intervall (did you mean --interval?)'],
      [['plan', '--manifest=x'], 'unknown option: --manifest (did you mean --manifests?)'],
      [['plan', '--conntrack-mni=1'], 'unknown option: --conntrack-mni (did you mean --conntrack-min?)'],
      [
        ['top', '--interval=0'],
        /^option '-n, --interval <seconds>' argument '0' is invalid\. It must be a number from 0\.1 to /,
      ],
      [['top', '--count=1.5'], /It must be an integer from 1 to /],
      [['plan', '-o', 'xml'], /argument 'xml' is invalid\. Allowed choices are text, wide, json, yaml\.$/],
      [['status', '-o', 'wide'], /Allowed choices are text, json, yaml\.$/],
      [['completion', 'csh'], /value 'csh' is invalid for argument 'shell'/],
      [['completion'], "missing required argument 'shell'"],
      [['man', '--config=x'], 'man has no option --config=x'],
      [['plan', 'x'], "too many arguments for 'plan'. Expected 0 arguments but got 1."],
    ] as const;
    for (const [args, error] of sample(refused, 3)) {
      const last =
        type(...args)
          .stderr.trimEnd()
          .split('\n')
          .at(-1)
          ?.replace(/^Error: /, '') ?? '';
      if (typeof error === 'string') assert.equal(last, error);
      else assert.match(last, error);
    }
  });

  it('ends silently if its output is no longer read', () => {
    const script = `"${process.execPath}" "${COMMAND}" man | head -n 1; echo "\${PIPESTATUS[0]}"`;
    const { stdout, stderr } = spawnSync('bash', ['-c', script], { encoding: 'utf8' });
    assert.match(stdout, /^\.TH .*\n0\n$/);
    assert.equal(stderr, '');
  });

  it('validates its input before it uses the kernel, and names the flag or file', () => {
    const broken = join(folder, 'broken.kubeconfig');
    writeFileSync(broken, 'apiVersion: v1\nkind: Config\ncurrent-context: nowhere\n');
    const cases: [args: string[], error: string][] = [
      [
        ['--kubeconfig=/nonexistent'],
        "kubeconfig /nonexistent: ENOENT: no such file or directory, open '/nonexistent'",
      ],
      [
        [`--kubeconfig=${broken}`],
        `kubeconfig ${broken}: current-context: must name one of contexts, found "nowhere"`,
      ],
      [['--manifests=/nonexistent'], '--manifests: open /nonexistent: no such file or directory'],
      [['--once', '--manifests=/nonexistent'], '--manifests: open /nonexistent: no such file or directory'],
      [['--hostname-override= '], 'failed complete: empty hostname-override is invalid'],
    ];
    for (const [args, error] of sample(cases, 2)) {
      const { status, stderr } = type(...args, '--proxy-mode=ipvs');
      assert.deepEqual([status, stderr], [1, `Error: ${error}\n`]);
    }
  });

  it('prints all errors of a configuration, one per line', () => {
    const path = join(folder, 'wrong.conf');
    writeFileSync(
      path,
      'apiVersion: kubeproxy.config.k8s.io/v1alpha1\nkind: KubeProxyConfiguration\nmode: x\noomScoreAdj: 2000\n',
    );
    const { status, stderr } = type(`--config=${path}`);
    assert.equal(status, 1);
    assert.deepEqual(
      stderr.split('\n').map((line) => line.replace(/: Invalid value.*/, '')),
      [
        'Error: failed validate: KubeProxyConfiguration.KubeProxyLinuxConfiguration.OOMScoreAdj',
        'Error: failed validate: KubeProxyConfiguration.Mode.ProxyMode',
        '',
      ],
    );
  });

  it('writes a configuration, and prints a warning for each unknown field and each field without effect', () => {
    const path = join(folder, 'odd.conf');
    writeFileSync(
      path,
      'apiVersion: kubeproxy.config.k8s.io/v1alpha1\nkind: KubeProxyConfiguration\nmode: ipvs\nfoo: 1\nportRange: 1-2\n',
    );
    const written = join(folder, 'written.conf');
    const { status, stdout, stderr } = type(`--config=${path}`, `--write-config-to=${written}`);
    assert.deepEqual([status, stdout], [0, '']);
    assert.match(readFileSync(written, 'utf8'), /^apiVersion: .*\nbindAddress: 0\.0\.0\.0\n/);
    const said = stderr
      .trimEnd()
      .split('\n')
      .map((line) => line.replace(/^\S+Z WARN {2}/, ''));
    assert.deepEqual(said, [
      'Using lenient decoding as strict decoding failed err="strict decoding error: unknown field \\"foo\\""',
      'portRange has no effect: it is unused, as in kube-proxy',
    ]);
  });
});
