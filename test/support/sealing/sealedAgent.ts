// An agent with the seccomp profile of deploy/ and the capabilities that its mode needs: it programs the objects of an API server, answers
// all of its pages, and is read with the commands for people. Without one of its capabilities or system calls it fails with a
// message that says so.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { PATIENCE } from '../../laboratory/patience.js';
import { COMMAND, launched } from '../../laboratory/proxyProcess.js';
import { ApiCluster } from '../apiServer/apiCluster.js';
import { makeAuthority } from '../apiServer/certificates.js';
import { closeAfter } from '../closeAfter.js';
import { NODE } from '../clusters/manifests.js';
import { kubeadmConfiguration, kubeadmKubeconfig } from '../deployment/kubeadm.js';
import { tools } from '../namespaces/tools.js';
import { AgentProcess } from '../processes/agentProcess.js';
import { objects, type SealedMode } from './sealedModes.js';
import { seccompProfile, underProfile, without } from './seccompProfile.js';
import { withCapabilities } from './withCapabilities.js';

const TOKEN = 'a-token';

/** The plugin that gives the token: a program that the agent starts. */
const PLUGIN = `#!/bin/sh
echo '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"${TOKEN}"}}'
`;

/** Tests an agent of this mode; those that record its system calls give it a launcher of their own. */
export function testSealedAgent(sealed: SealedMode): void {
  const profile = seccompProfile();
  const recording = process.env['KNP_LAUNCHER'];
  let folder: string;
  let cluster: ApiCluster;
  let agent: AgentProcess;
  let flags: readonly string[];

  const file = (name: string, text: string) => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };

  before(async () => {
    process.env['KNP_LAUNCHER'] =
      recording ?? [...withCapabilities(sealed.capabilities), ...underProfile(profile)].join(' ');
    tools('ip link set lo up');
    folder = mkdtempSync(join(tmpdir(), 'knp-sealed-'));
    closeAfter({ close: () => rmSync(folder, { recursive: true }) });
    const authority = makeAuthority('test');
    cluster = closeAfter(await ApiCluster.start({ tls: authority.server(), tokens: new Set([TOKEN]) }));
    cluster.hold(NODE + objects('10.244.1.7', '10.244.2.7'));
    const plugin = file('plugin', PLUGIN);
    chmodSync(plugin, 0o755);
    const user = `exec: {apiVersion: client.authentication.k8s.io/v1, command: ${plugin}, interactiveMode: Never}`;
    const kubeconfig = kubeadmKubeconfig(cluster.server.url, file('ca.crt', authority.cert), 'none');
    const path = file('kubeconfig.conf', kubeconfig.replace('tokenFile: none', user));
    const configuration = kubeadmConfiguration(path)
      .replace('mode: ""', `mode: ${sealed.mode}`)
      .replace('enableProfiling: false', 'enableProfiling: true');
    flags = [
      `--config=${file('config.conf', configuration)}`,
      '--hostname-override=node-a',
      ...(sealed.flags ?? []),
    ];
    // As the init container does, with all privileges: it loads modules.
    const setUp = await ended(process.execPath, [COMMAND, ...flags, '--init-only']);
    assert.equal(setUp.status, 0, setUp.stderr);
    agent = closeAfter(new AgentProcess(flags));
  });

  test('its first pass programs the objects of the API server', async () => {
    assert.match(await agent.logged(/"msg":"synced"/), /"failures":0/);
    assert.deepEqual(sealed.endpoints(), ['10.244.1.7:8080', '10.244.2.7:8080']);
  });

  if (recording === undefined) {
    test('it has the filter, and no other capabilities', () => {
      const status = readFileSync(`/proc/${agent.pid}/status`, 'utf8');
      const bits = { net_admin: 12n, net_raw: 13n } as Readonly<Record<string, bigint>>;
      const mask = sealed.capabilities.reduce((sum, name) => sum | (1n << (bits[name] as bigint)), 0n);
      for (const set of ['CapEff', 'CapPrm', 'CapBnd'])
        assert.equal(BigInt(`0x${new RegExp(`^${set}:\\s*(\\w+)$`, 'm').exec(status)?.[1]}`), mask, set);
      assert.match(status, /^NoNewPrivs:\t1$/m);
      assert.match(status, /^Seccomp:\t2$/m);
    });
  }

  test('a change is programmed', async () => {
    cluster.hold(NODE + objects('10.244.2.7', '10.244.2.8'));
    const wanted = ['10.244.2.7:8080', '10.244.2.8:8080'];
    for (const deadline = Date.now() + PATIENCE; ; await delay(50)) {
      const found = sealed.endpoints();
      // A real server of ipvs mode is draining until its connections have ended; it has none.
      if (found.join() === wanted.join()) break;
      assert.ok(Date.now() < deadline, `the kernel has ${found}\n${agent.log.slice(-5).join('\n')}`);
    }
  });

  test('its servers answer, and take profiles', async () => {
    const get = async (url: string) => {
      const response = await fetch(url);
      return { status: response.status, size: (await response.arrayBuffer()).byteLength };
    };
    const pages = ['metrics', 'configz', 'proxyMode', 'status', 'services'].map((page) => `10249/${page}`);
    const profiles = ['profile?seconds=1', 'allocs?seconds=1', 'heap'].map(
      (page) => `10249/debug/pprof/${page}`,
    );
    for (const page of ['10256/healthz', '10256/livez', ...pages, ...profiles]) {
      const { status, size } = await get(`http://127.0.0.1:${page}`);
      assert.equal(status, 200, page);
      assert.ok(size > 0, page);
    }
  });

  test('the commands for people and the tools of the image work beside it, under the same profile', async () => {
    const plan = await ended(...launched(process.execPath, COMMAND, 'plan', ...flags));
    assert.deepEqual([plan.status, plan.stdout], [0, 'nothing would change\n'], plan.stderr);
    const [explained, path] = await run('explain', '10.96.0.1:80', '--from=198.51.100.1', ...flags);
    assert.ok(explained !== null && explained < 2, path);
    assert.match(path, /^10\.96\.0\.1:80\/tcp \(Service demo\/web\)$/m);
    const [reported, report] = await run('status');
    assert.equal(reported, 0, report);
    assert.match(report, new RegExp(`, ${sealed.mode} mode,`));
    for (const words of sealed.tools)
      assert.equal((await ended(...launched(...words))).status, 0, words.join(' '));
  });

  test('SIGTERM ends it with status 0', async () => {
    assert.equal((await agent.end('SIGTERM')).status, 0);
  });

  if (recording !== undefined) return;

  describe('it fails, and says why', () => {
    const manifests = () => `--manifests=${file('objects.yaml', objects('10.244.1.7'))}`;
    const runOnce = (words: readonly string[]) => {
      const args = [
        COMMAND,
        '--once',
        manifests(),
        '--hostname-override=node-a',
        `--proxy-mode=${sealed.mode}`,
        ...(sealed.flags ?? []),
      ];
      return ended(words[0] as string, [...words.slice(1), process.execPath, ...args]);
    };

    for (const call of sealed.calls) {
      test(`without the system call ${call}`, async () => {
        const words = [...withCapabilities(sealed.capabilities), ...underProfile(without(profile, call))];
        const { status, stderr } = await runOnce(words);
        assert.equal(status, 1, stderr);
        assert.match(stderr, /^.*EPERM: .*a security module or a seccomp filter refuses the call/m);
      });
    }

    for (const missing of sealed.capabilities) {
      test(`without the capability ${missing}`, async () => {
        const others = sealed.capabilities.filter((name) => name !== missing);
        const { status, stderr } = await runOnce([...withCapabilities(others), ...underProfile(profile)]);
        assert.equal(status, 1, stderr);
        const told = missing === 'net_admin' ? /EPERM: .*CAP_NET_ADMIN/ : /iptables/;
        assert.match(stderr, told);
      });
    }
  });
}

/** Runs a program to its end: the test's API server answers it meanwhile. */
async function ended(
  program: string,
  args: readonly string[],
): Promise<{ status: number | null; stdout: string; stderr: string }> {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const closed = once(child, 'close');
  const texts = [child.stdout, child.stderr].map(async (stream) =>
    (await stream.setEncoding('utf8').toArray()).join(''),
  );
  const [stdout = '', stderr = ''] = await Promise.all(texts);
  const [status] = (await closed) as [number | null];
  return { status, stdout, stderr };
}

/** Runs a command of the proxy like the agent; returns its exit status and its standard output. */
async function run(...args: string[]): Promise<[status: number | null, text: string]> {
  const { status, stdout, stderr } = await ended(...launched(process.execPath, COMMAND, ...args));
  return [status, stdout === '' ? stderr : stdout];
}
