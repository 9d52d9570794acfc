// A node on which the agent cannot start: its pod is never ready, so that a rollout with maxUnavailable: 1 stops at this node.
// The commands for people end with an error and the next step.
// Needs: conntrack, command
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { parseAllDocuments } from 'yaml';
import { PATIENCE } from '../laboratory/patience.js';
import { COMMAND } from '../laboratory/proxyProcess.js';
import { node } from '../support/apiServer/objects.js';
import { ApiServer } from '../support/apiServer/server.js';
import { closeAfter } from '../support/closeAfter.js';
import { service, slice } from '../support/clusters/manifests.js';
import { ask } from '../support/http/ask.js';
import { AS_NOBODY } from '../support/namespaces/asNobody.js';
import { tools } from '../support/namespaces/tools.js';
import { ROOT } from '../support/paths.js';
import { AgentProcess } from '../support/processes/agentProcess.js';

const MODE = ['--proxy-mode=iptables', '--cluster-cidr=10.244.0.0/16', '--hostname-override=node-a'];
/** On a busy machine an agent takes long to begin, in ms. */
const LONGEST_START = 180_000;

interface Probe {
  readonly httpGet: { readonly path: string };
}

/** The readiness probe of the DaemonSet: what a rollout waits for. */
function readinessPath(): string {
  const documents = parseAllDocuments(readFileSync(join(ROOT, 'deploy/base/daemonset.yaml'), 'utf8'));
  const pod = documents[0]?.toJS() as {
    spec: {
      updateStrategy: { rollingUpdate: { maxUnavailable: number } };
      template: { spec: { containers: { readinessProbe: Probe }[] } };
    };
  };
  assert.equal(pod.spec.updateStrategy.rollingUpdate.maxUnavailable, 1);
  return pod.spec.template.spec.containers[0]?.readinessProbe.httpGet.path ?? '';
}

let folder: string;

before(() => {
  folder = mkdtempSync(join(tmpdir(), 'knp-start-'));
  closeAfter({ close: () => rmSync(folder, { recursive: true }) });
  writeFileSync(join(folder, 'objects.yaml'), service('web', '10.96.0.1') + slice('web', '10.244.1.7'));
  tools('ip link set lo up');
});

function kubeconfig(url: string, token: string): string {
  const path = join(folder, 'kubeconfig');
  const users = `users: [{ name: u, user: { token: ${token} } }]`;
  const contexts = 'contexts: [{ name: x, context: { cluster: c, user: u } }]\ncurrent-context: x';
  const clusters = `clusters: [{ name: c, cluster: { server: '${url}' } }]`;
  writeFileSync(path, `apiVersion: v1\nkind: Config\n${clusters}\n${users}\n${contexts}\n`);
  return path;
}

/** The ports of an agent: two of them run at the same time. */
interface Ports {
  readonly health: number;
  readonly metrics: number;
}

const USUAL: Ports = { health: 10_256, metrics: 10_249 };
const SECOND: Ports = { health: 20_256, metrics: 20_249 };
const THIRD: Ports = { health: 20_257, metrics: 20_250 };

const listening = ({ health, metrics }: Ports) => [
  `--healthz-bind-address=127.0.0.1:${health}`,
  `--metrics-bind-address=127.0.0.1:${metrics}`,
];

/** Asks the readiness probe until the port is open, and then for 3 s; returns the distinct answers. */
async function readiness({ health }: Ports): Promise<number[]> {
  const found = new Set<number>();
  const path = readinessPath();
  for (let end = Date.now() + LONGEST_START; Date.now() < end; await wait(250)) {
    const { status } = await ask(path, health);
    if (status !== 0 && !found.has(status)) end = Math.min(end, Date.now() + 3000);
    found.add(status);
  }
  return [...found].sort();
}

async function becomesReady({ health }: Ports): Promise<void> {
  for (
    const end = Date.now() + PATIENCE;
    (await ask(readinessPath(), health)).status !== 200;
    await wait(100)
  ) {
    assert.ok(Date.now() < end, 'the agent is not ready after the fault has ended');
  }
}

const failures = async (code: string, { metrics }: Ports) => {
  const { text } = await ask('/metrics', metrics);
  const lines = text.split('\n').filter((line) => line.startsWith('kube_netlink_proxy_api_failures_total'));
  return lines.filter((line) => line.includes(`code="${code}"`)).length;
};

describe('an agent is never ready', { concurrency: 2 }, () => {
  test('with a token that the API server does not accept, and is ready once it does', async () => {
    const tokens = new Set(['good']);
    const server = closeAfter(await new ApiServer({ tokens }).start());
    server.store.set(node('node-a'));
    const source = `--kubeconfig=${kubeconfig(server.url, 'late')}`;
    const agent = new AgentProcess([...MODE, ...listening(USUAL), source]);
    try {
      assert.deepEqual(await readiness(USUAL), [0, 503]);
      assert.equal(agent.status, undefined, 'it keeps trying: a restart would not help');
      assert.equal((await ask('/livez', USUAL.health)).status, 200);
      assert.match((await ask('/healthz', USUAL.health)).text, /"nodeEligible":false/);
      assert.match(await agent.logged(/request to the API server failed/), /401 .*renew the token/);
      assert.ok((await failures('401', USUAL)) > 0);
      tokens.add('late');
      await becomesReady(USUAL);
    } finally {
      await agent.end('SIGTERM');
    }
  });

  test('without a Node of its name, and is ready once there is one', async () => {
    const server = closeAfter(await new ApiServer().start());
    server.store.set(node('node-b'));
    const agent = new AgentProcess([...MODE, ...listening(THIRD), `--master=${server.url}`]);
    try {
      assert.deepEqual(await readiness(THIRD), [0, 503]);
      assert.match(await agent.logged(/there is no Node of this name/), /node-a/);
      const { text } = await ask('/status', THIRD.metrics);
      assert.equal(JSON.parse(text).nodeObject, 'missing');
      server.store.set(node('node-a'));
      await becomesReady(THIRD);
    } finally {
      await agent.end('SIGTERM');
    }
  });

  test('with an API server that does not answer', async () => {
    const agent = new AgentProcess([...MODE, ...listening(SECOND), '--master=http://127.0.0.1:1']);
    try {
      assert.deepEqual(await readiness(SECOND), [0, 503]);
      assert.equal(agent.status, undefined, 'it keeps trying: a restart would not help');
      assert.match(await agent.logged(/request to the API server failed/), /ECONNREFUSED/);
      assert.ok((await failures('ECONNREFUSED', SECOND)) > 0);
    } finally {
      await agent.end('SIGTERM');
    }
  });
});

describe('an agent ends', () => {
  test('without the programs of iptables: with status 1, and its port is closed', async () => {
    const flags = [...MODE, `--manifests=${folder}/objects.yaml`];
    const agent = spawn(process.execPath, [COMMAND, ...flags], {
      env: { ...process.env, PATH: folder },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let text = '';
    agent.stderr.setEncoding('utf8').on('data', (part) => {
      text += part;
    });
    const closed = once(agent, 'close');
    const answers = new Set<number>();
    for (; agent.exitCode === null && agent.signalCode === null; await wait(50)) {
      answers.add((await ask(readinessPath())).status);
    }
    const [status] = (await closed) as [number | null];
    assert.equal(status, 1, text);
    assert.match(text, /install the package iptables/);
    assert.deepEqual([...answers], [0]);
  });
});

describe('plan, diff and run --once, as whole commands', () => {
  /** Runs a command with a limit in s; returns its status, its duration in s, and its lines on standard error. */
  async function run(limit: number, ...args: string[]) {
    const started = performance.now();
    const child = spawn(process.execPath, [COMMAND, ...args, `--timeout=${limit}`, ...MODE], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let [out, error] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (part) => {
      out += part;
    });
    child.stderr.setEncoding('utf8').on('data', (part) => {
      error += part;
    });
    const [status] = (await once(child, 'close')) as [number | null];
    return { status, out, seconds: (performance.now() - started) / 1000, lines: error.trimEnd().split('\n') };
  }

  /** The same with a limit that the machine allows: on a busy one, this answer of the server may come after a short limit. */
  async function runUntil(answer: string, ...args: string[]) {
    for (let limit = 2; ; limit *= 2) {
      const found = await run(limit, ...args);
      if (found.lines.join().includes(answer) || limit * 1000 > PATIENCE) return { ...found, limit };
    }
  }

  for (const [command, failed] of [
    ['plan', 2],
    ['diff', 2],
    ['run --once', 1],
  ] as const) {
    const words = command.split(' ');
    test(`${command}: an API server that is down is an error within the limit, with the next step`, async () => {
      const master = '--master=http://127.0.0.1:1';
      const { status, out, seconds, lines, limit } = await runUntil('ECONNREFUSED', ...words, master);
      assert.deepEqual([status, out], [failed, ''], lines.join('\n'));
      assert.ok(seconds >= limit && seconds < PATIENCE / 1000, `${seconds} s`);
      assert.match(
        lines.at(-2) ?? '',
        /^Error: the API server did not send its objects within \d+ s; the last error: ECONNREFUSED: /,
      );
      assert.match(lines.at(-1) ?? '', /^Next step: check --kubeconfig, --master .* --manifests$/);
    });

    test(`${command}: so is a Node that does not exist, by its name`, async () => {
      const server = closeAfter(await new ApiServer().start());
      server.store.set(node('node-b'));
      const { status, out, lines } = await runUntil('has no Node', ...words, `--master=${server.url}`);
      assert.deepEqual([status, out], [failed, ''], lines.join('\n'));
      assert.equal(lines.at(-2), 'Error: the API server has no Node "node-a"');
      assert.match(lines.at(-1) ?? '', /^Next step: set --hostname-override to the name/);
    });

    test(`${command}: so is a token that it does not accept`, async () => {
      const server = closeAfter(await new ApiServer({ tokens: new Set(['good']) }).start());
      const options = [...words, `--kubeconfig=${kubeconfig(server.url, 'bad')}`];
      const { status, lines } = await runUntil('401', ...options);
      assert.equal(status, failed, lines.join('\n'));
      assert.match(
        lines.at(-2) ?? '',
        /did not send its objects within \d+ s; the last error: .*: 401 .*renew the token/,
      );
      assert.match(lines.at(-1) ?? '', /^Next step: /);
    });
  }
});

test('a user without privileges gets one error, and the next step', () => {
  const [program = '', ...before] = AS_NOBODY;
  const args = [...before, process.execPath, COMMAND, 'plan', ...MODE, `--manifests=${ROOT}/examples`];
  const { status, stderr } = spawnSync(program, args, { encoding: 'utf8' });
  assert.equal(status, 2, stderr);
  const lines = stderr.trimEnd().split('\n').slice(-2);
  assert.match(lines[0] ?? '', /^Error: EPERM: .*CAP_NET_ADMIN/);
  assert.match(lines[1] ?? '', /^Next step: run it as root, or with the capabilities /);
});
