// The tests of tables that another program flushes while the proxy runs in iptables mode.
import assert from 'node:assert/strict';
import { before, beforeEach, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { type Lab, openLab } from '../../laboratory/lab.js';
import { ManifestFolder } from '../../laboratory/manifestFolder.js';
import { PATIENCE } from '../../laboratory/patience.js';
import { NODE_A } from '../../laboratory/places.js';
import { ProxyProcess } from '../../laboratory/proxyProcess.js';
import { closeAfter } from '../closeAfter.js';
import { service, slice } from '../clusters/manifests.js';
import { ask } from '../namespaces/witnesses.js';

/** The period of looks and audits, in s. If changes never pause, audits are twice as rare, and looks are not. */
const PERIOD = 3;
/** Tolerance for timers, a pass, and reading the rules, in ms; on a busy machine, this many of the longest times to read them. */
const SLACK = 2000;
const READS = 12;

const FLAGS = ['--proxy-mode=iptables', `--iptables-sync-period=${PERIOD}s`, '-v=4'];

let lab: Lab;
let manifests: ManifestFolder;
let proxy: ProxyProcess;
let intact: string;

/** The longest time to read the rules in the current test, in ms. */
let slowest = 0;
const slack = () => Math.max(SLACK, READS * slowest);

/** What commands print after a damage, in one shell, so that no repair is between. */
function printed(damage: string, commands: string): string {
  const began = performance.now();
  const output = ask(lab.namespace(NODE_A), 'sh', '-ec', `${damage}\n${commands}`);
  if (damage === '') slowest = Math.max(slowest, performance.now() - began);
  return output;
}

/** The rules, without those of the Service that changes. */
function rules(damage = ''): string {
  return printed(damage, 'iptables-save; ip6tables-save')
    .split('\n')
    .filter((line) => /^(-A|:KUBE-)/.test(line) && !line.includes('demo/changing'))
    .map((line) => line.replace(/ \[\d+:\d+\]$/, ''))
    .filter((line) => !/^:KUBE-(SVC|SEP)-/.test(line))
    .sort()
    .join('\n');
}

/** The rules of table nat. */
const savedNat = (damage = '') => printed(damage, 'iptables-save -t nat');

/** Waits until the rules of table nat meet a condition, and returns them. */
async function savedNatWith(isMet: (text: string) => boolean): Promise<string> {
  for (const deadline = performance.now() + PATIENCE; ; await delay(50)) {
    const text = savedNat();
    if (isMet(text)) return text;
    assert.ok(performance.now() < deadline, text);
  }
}

/** Waits until the rules are intact; resolves to the time from the damage, in ms. */
async function repaired(damage: string): Promise<number> {
  const since = performance.now();
  assert.notEqual(rules(damage), intact);
  for (;;) {
    const now = rules();
    const took = performance.now() - since;
    if (now === intact) return took;
    assert.ok(took < PATIENCE, `not repaired:\n${now}`);
    await delay(50);
  }
}

const FLUSHES: Readonly<Record<string, string>> = {
  'the rules of table nat': 'iptables -w -t nat -F',
  'the rules of table filter': 'iptables -w -t filter -F; ip6tables -w -t filter -F',
  'all tables with their chains, and so the canaries': `
    for program in iptables ip6tables; do
      printf '*%s\\nCOMMIT\\n' nat filter mangle | $program-restore -w
    done`,
};

/** Sets $chain to the chain of Service demo/steady. */
const CHAIN =
  "chain=$(iptables-save -t nat | sed -n 's/^-A KUBE-SERVICES .*steady cluster IP.* -j //p'); test -n $chain";

/** Deletes $chain, and the rules that jump to it; again if the proxy adds such a rule between the commands. */
const DELETE = `
    delete() {
      iptables-save -t nat | sed -n "s/^-A \\(.* -j $chain\\)$/iptables -w -t nat -D \\1/p" | sh -e &&
        iptables -w -t nat -F $chain && iptables -w -t nat -X $chain
    }
    attempts=1
    until delete; do
      test $((attempts += 1)) -lt 10 || exit 1
    done`;

const DAMAGES: Readonly<Record<string, string>> = {
  'an emptied chain of a Service': `${CHAIN}; iptables -w -t nat -F $chain`,
  'a deleted chain of a Service': `${CHAIN}${DELETE}`,
};

/** The endpoint of Service demo/changing that stays. */
const STAYING = '10.244.1.11';

/**
 * The tests of a file.
 *
 * @param rest minSyncPeriod, in s: each full pass may wait for it
 */
export function testFlushedTables(rest: number): void {
  before(async () => {
    lab = closeAfter(openLab([]));
    manifests = closeAfter(new ManifestFolder(''));
    manifests.write('steady.yaml', service('steady', '10.96.0.80') + slice('steady', '10.244.1.10'));
    change(0);
    proxy = closeAfter(
      new ProxyProcess(lab.namespace(NODE_A), manifests.path, [
        ...FLAGS,
        `--iptables-min-sync-period=${rest}s`,
      ]),
    );
    assert.equal((await proxy.programmed()).failures, 0);
    intact = rules();
    assert.match(intact, /demo\/steady cluster IP/);
  });

  beforeEach(() => {
    slowest = 0;
  });

  for (const [what, damage] of Object.entries(FLUSHES)) {
    test(`while endpoints change all the time, ${what} are repaired within a period and minSyncPeriod`, async (context) => {
      const took = await whileChanging(() => repaired(damage));
      context.diagnostic(`${took.toFixed(0)} ms`);
      assert.ok(took < (PERIOD + rest) * 1000 + slack(), `it took ${took} ms`);
    });
  }

  test('while endpoints change all the time, a deleted chain of an endpoint of their Service is repaired', async (context) => {
    const took = await whileChanging(async () => {
      const endpoint = new RegExp(`-A (KUBE-SEP-\\w+) .*--to-destination ${STAYING}:`);
      // The repairs of the test before may not be complete.
      const before = await savedNatWith((text) => endpoint.test(text));
      const chain = endpoint.exec(before)?.[1] ?? '';
      const since = performance.now();
      assert.doesNotMatch(savedNat(`chain=${chain}${DELETE}`), endpoint);
      await savedNatWith((text) => endpoint.test(text) && text.includes(` -j ${chain}\n`));
      return performance.now() - since;
    });
    context.diagnostic(`${took.toFixed(0)} ms`);
    // The change fails. Its retry 0.5 s later also reads the chains to which its rules jump. Both may wait.
    assert.ok(took < 500 + 2 * rest * 1000 + slack(), `it took ${took} ms`);
  });

  for (const [what, damage] of Object.entries(DAMAGES)) {
    test(`${what} is repaired within an audit period without changes`, async (context) => {
      const took = await repaired(damage);
      context.diagnostic(`${took.toFixed(0)} ms`);
      assert.ok(took < PERIOD * 1000 + slack(), `it took ${took} ms`);
    });
  }
}

/** Changes the endpoint of another Service. */
function change(i: number): void {
  manifests.write(
    'changing.yaml',
    service('changing', '10.96.0.81') + slice('changing', STAYING, `10.244.1.${20 + (i % 200)}`),
  );
}

/** Changes endpoints while a step runs. */
async function whileChanging<Result>(step: () => Promise<Result>): Promise<Result> {
  let over = false;
  const changing = (async () => {
    for (let i = 1; !over; i++) {
      change(i);
      await delay(100);
    }
  })();
  try {
    return await step();
  } finally {
    over = true;
    await changing;
  }
}
