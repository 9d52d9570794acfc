// The promise of docs/configuration.md, Repair: damage of any item is repaired within twice the period of audits and the time of two
// audits, although changes never pause, at any minSyncPeriod.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import type { FakeKernel } from '../../src/kernel/testing/index.js';
import type { KeyedOperation, Mode } from '../../src/proxy/modes/mode.js';
import type { ObjectChange } from '../../src/proxy/objects/types.js';
import { createProxy, type ServiceProxy } from '../../src/proxy/proxy.js';
import { OVERDUE } from '../../src/proxy/reconcile/runner.js';
import { readManifest } from '../../src/proxy/source/manifestFile.js';
import type { SourceEvents } from '../../src/proxy/source/source.js';
import { service, slice } from '../support/clusters/manifests.js';
import { sample, WHOLE } from '../support/extent.js';
import { DAMAGES } from '../support/fakes/damages.js';
import { TEST_MODES } from '../support/fakes/testModes.js';
import { VirtualTime } from '../support/fakes/virtualTime.js';
import { outputOf } from '../support/oracle/testNode.js';

/** Period of audits, in ms. */
const AUDIT = 10_000;
/** Time from change to change, in ms. */
const CHANGE = 50;
/** Time of reading a piece of the kernel's state, and of a batch, in ms: longer than from change to change, so that one always waits. */
const PIECE = 60;
/** Time for which changes arrive, at least, in ms: in a sample, that of a few kinds of damage. */
const LONG = WHOLE ? 600_000 : 0;
const MOST_KINDS = 3;
/** Number of changes from one look at the state to the next. */
const LOOK = 5;
/** Turns of the event loop in which the proxy does what it can do before time passes. */
const TURNS = 25;

/** Lines of chains that are not part of the comparison: those of the kernel, and of the Service that changes. */
const OTHER_CHAIN = /^:(?!KUBE-)|^:KUBE-(SVC|SEP)-/;
/** The Service that changes all the time: it is not part of the comparison. */
const CHURN = /10\.96\.0\.9|10\.0\.9\.|demo\/churn/;
const STEADY =
  service('a', '10.96.0.1', '  externalIPs: [192.0.2.1]') +
  slice('a', '10.0.0.1', '10.0.0.2') +
  service('b', '10.96.0.2', '  sessionAffinity: ClientIP') +
  slice('b', '10.0.0.3') +
  service('empty', '10.96.0.3') +
  service('six', 'fd00:96::6') +
  slice('six', 'fd00::6').replace('IPv4', 'IPv6');

async function objectsOf(text: string): Promise<ObjectChange[]> {
  const { objects, problems } = await readManifest('objects.yaml', text);
  assert.deepEqual(problems, []);
  return [...objects.values()].map((object) => ({ type: 'set', object }));
}

/** A mode whose calls take time; `audit` receives the time when it last began to read all items, in ms. */
function slow(
  mode: Mode<unknown, KeyedOperation>,
  time: VirtualTime,
  audit: { began: number },
): Mode<unknown, KeyedOperation> {
  return {
    ...mode,
    async apply(operations) {
      await later();
      return mode.apply(operations);
    },
    async *observe() {
      audit.began = time.now;
      for await (const piece of mode.observe()) {
        await later();
        yield piece;
      }
    },
  };
}

function later(): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, PIECE));
}

/** A running proxy in virtual time, with a change after each {@link CHANGE}. */
class World {
  readonly time = new VirtualTime();
  readonly #audit = { began: 0 };
  /** Longest time of an audit, in ms. */
  longest = 0;
  readonly kernel: FakeKernel;
  /** Number of unknown items after the last pass: a change fails if a table was flushed. */
  unknown = 0;
  readonly #proxy: ServiceProxy;
  #source: SourceEvents | undefined;
  readonly #changes: (readonly ObjectChange[])[] = [];
  #count = 0;

  constructor(mode: string, rest: number) {
    const testKernel = TEST_MODES[mode]?.() ?? assert.fail(mode);
    const opened = testKernel.open(AUDIT, [4, 6]);
    this.kernel = opened.kernel as unknown as FakeKernel;
    this.#proxy = createProxy({
      source: {
        start: async (events) => {
          this.#source = events;
        },
        stop: () => {},
      },
      mode: slow(opened.mode as unknown as Mode<unknown, KeyedOperation>, this.time, this.#audit),
      rtnetlink: this.kernel.rtnetlink,
      watchHost: async () => ({ close: () => {} }),
      nodeName: 'node-a',
      rest,
      events: {
        synced: ({ unknown, repeated }) => {
          // Only audits have it.
          if (repeated !== undefined)
            this.longest = Math.max(this.longest, this.time.now - this.#audit.began);
          this.unknown = unknown;
        },
        problems: () => {},
        failed: (error) => assert.fail(String(error)),
        retrying: () => {},
      },
    });
  }

  async start(): Promise<void> {
    const churn = service('churn', '10.96.0.9');
    // Several: no change undoes those that are planned with it.
    for (let i = 1; i <= 7; i++) this.#changes.push(await objectsOf(slice('churn', `10.0.9.${i}`)));
    await this.#proxy.start();
    this.#source?.changed(await objectsOf(STEADY + churn + slice('churn', '10.0.9.1')));
    this.#source?.synced();
    await this.pass(2 * AUDIT);
  }

  /** The call that is under way ends in virtual time. */
  async stop(): Promise<void> {
    let stopped = false;
    const stopping = this.#proxy.stop().finally(() => {
      stopped = true;
    });
    while (!stopped) {
      for (let i = 0; i < TURNS; i++) await turn();
      const [timer] = this.time.timers;
      if (timer) this.time.fire(timer);
    }
    await stopping;
  }

  /** So much time passes, or less if the condition holds before, in ms. Returns the time that has passed. */
  async pass(milliseconds: number, until: () => boolean = () => false): Promise<number> {
    const started = this.time.now;
    while (this.time.now - started < milliseconds && !(this.#count % LOOK === 0 && until())) {
      this.#source?.changed(this.#changes[++this.#count % this.#changes.length] ?? []);
      const next = this.time.now + CHANGE;
      for (;;) {
        for (let i = 0; i < TURNS; i++) await turn();
        const [timer] = this.time.timers;
        if (!timer || timer.due > next) break;
        this.time.fire(timer);
      }
      this.time.now = next;
    }
    return this.time.now - started;
  }

  /** The lines of the state, without those of the Service that changes. */
  state(): string[] {
    const lines = Object.values(outputOf(this.kernel)).join('').split('\n');
    return lines.filter((line) => !CHURN.test(line) && !OTHER_CHAIN.test(line)).sort();
  }
}

for (const [mode, damages] of Object.entries(DAMAGES)) {
  for (const rest of [0, 1000, 10_000]) {
    it(`${mode}: kinds of damage, minSyncPeriod ${rest / 1000} s`, async () => {
      const world = new World(mode, rest);
      try {
        await world.start();
        const whole = world.state();
        const isWhole = () => JSON.stringify(world.state()) === JSON.stringify(whole);
        do {
          for (const [kind, damage] of sample(Object.entries(damages), MOST_KINDS)) {
            await damage(world.kernel);
            assert.ok(!isWhole(), `${kind}: it shows`);
            const bound = OVERDUE * AUDIT + 2 * world.longest + LOOK * CHANGE;
            const took = await world.pass(2 * bound, isWhole);
            assert.ok(took <= bound, `${kind}: ${took} ms, more than ${bound} ms`);
            // The next damage is at another moment of a period.
            await world.pass(3700);
            assert.equal(world.unknown, 0, kind);
          }
        } while (world.time.now < LONG);
        assert.ok(world.longest >= PIECE && world.longest <= AUDIT / 2, `an audit of ${world.longest} ms`);
        await world.stop();
      } finally {
        world.time.restore();
      }
    });
  }
}
