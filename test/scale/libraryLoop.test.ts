// Batches and texts of the library, up to a million operations: none blocks the event loop for long, and an abort is seen at once.
// The addon is replaced by one that has nothing to do, so that only JavaScript's part is measured.
// Needs: idle
import assert from 'node:assert/strict';
import { performance } from 'node:perf_hooks';
import { after, describe, it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { openConntrack } from '../../src/kernel/conntrack/index.js';
import { PACKING as CONNTRACK } from '../../src/kernel/conntrack/packing.js';
import { parseSetsAsync } from '../../src/kernel/ipset/restore.js';
import { formatSetsAsync } from '../../src/kernel/ipset/save.js';
import { PACKING as IPSET } from '../../src/kernel/ipset/verbs.js';
import { openIpvs } from '../../src/kernel/ipvs/index.js';
import { parseRulesAsync } from '../../src/kernel/ipvs/rules.js';
import { PACKING as IPVS } from '../../src/kernel/ipvs/verbs.js';
import { MessageWriter } from '../../src/kernel/netlink/messages.js';
import { NAMING } from '../../src/kernel/netlink/names.js';
import { formatRulesetAsync, type Ruleset } from '../../src/kernel/nftables/text/index.js';
import { openRtnetlink } from '../../src/kernel/rtnetlink/index.js';
import { PACKING as RTNETLINK } from '../../src/kernel/rtnetlink/verbs.js';
import {
  loadAddon,
  type NativeClient,
  type NativeFailure,
  type NativePortion,
} from '../../src/kernel/shared/addon.js';
import { applyAll, type Packing, sendAll } from '../../src/kernel/shared/batch.js';
import { Calls } from '../../src/kernel/shared/calls.js';
import type { CallOptions, OperationResult } from '../../src/kernel/shared/types.js';
import { loopTurns } from '../support/measures/loopTimes.js';

const SIZES = [10_000, 100_000, 1_000_000];
/** Maximum time for which the event loop may be blocked, in ms of CPU time. */
const MOST = 10;
/** When a call is aborted, in ms; then the maximum time from that to the end of the call. */
const DELAY = 20;
const MOST_AFTER_ABORT = 20;

/** Operations that the library sends together. */
const PORTION = 1024;

/** Carries out everything, or nothing of so many operations. */
class Kernel implements NativeClient {
  #failing: number;

  constructor(failing: number) {
    this.#failing = failing;
  }

  async open(): Promise<Uint8Array> {
    return new Uint8Array();
  }
  close(): void {}
  async apply(): Promise<NativeFailure[]> {
    await turn(); // as a call on another thread
    const failing = Math.min(this.#failing, PORTION);
    this.#failing -= failing;
    return Array.from({ length: failing }, (_, index) => ({ index, errno: 16, code: '', message: '' }));
  }
}

const address = (i: number) => `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`;
const set = { name: 'a', type: 'hash:ip,port', family: 4 } as const;
const service = { address: '10.96.0.10', port: 53, protocol: 'udp' } as const;
const payload = new Uint8Array(64);

type Batch = (
  operations: readonly unknown[],
  fails: boolean,
  options?: CallOptions,
) => Promise<OperationResult[]>;

/** A batch of a family's records. Its packing takes the operations of that family only. */
const packed =
  (packing: Packing<never>): Batch =>
  (operations, fails, options) =>
    applyAll(callsOf(operations, fails), operations as never[], packing, options);

const callsOf = ({ length }: readonly unknown[], fails: boolean) => new Calls(new Kernel(fails ? length : 0));

/** Each family with an operation, and how a batch of them is sent. */
const FAMILIES: Readonly<Record<string, readonly [operation: (i: number) => unknown, batch: Batch]>> = {
  ipvs: [
    (i) => ({ do: 'addRealServer', service, realServer: { address: address(i), port: 53 } }),
    packed(IPVS),
  ],
  ipset: [
    (i) => ({ do: 'add', set, entry: { address: address(i), protocol: 'udp', port: 53 } }),
    packed(IPSET),
  ],
  rtnetlink: [
    (i) => ({ do: 'addAddress', address: { link: 'lo', address: address(i), prefix: 32 } }),
    packed(RTNETLINK),
  ],
  'rtnetlink, routes': [
    (i) => ({ do: 'addRoute', route: { destination: `${address(i)}/32`, link: 'lo', gateway: '10.0.0.1' } }),
    packed(RTNETLINK),
  ],
  conntrack: [
    (i) => ({
      do: 'deleteFlow',
      flow: { protocol: 50, original: { source: address(i), destination: '10.96.0.10' } },
    }),
    packed(CONNTRACK),
  ],
  netlink: [
    () => ({ type: 16, payload }),
    (operations, fails, options) =>
      sendAll(callsOf(operations, fails), operations as never[], NAMING, new MessageWriter(), options),
  ],
};

/** Most elements of the set of a rule, which is one line of text. */
const OF_A_RULE = 10_000;

/** A ruleset with so many rules and elements, in halves: rules in chains of ten, and a named set. One rule has a set of its own. */
function rulesetOf(size: number): Ruleset {
  const table = { family: 'ip', table: 't' } as const;
  const set = { ...table, key: 'ipv4_addr', flags: [], keyLength: 4, handle: 1n } as const;
  const elements = Array.from({ length: size / 2 }, (_, i) => ({ key: address(i) }));
  const ruleWith = (chain: string, name: string) =>
    ({
      ...{ ...table, chain, handle: 1n },
      expressions: [
        { kind: 'payload', base: 'network', offset: 16, length: 4, register: 1 },
        { kind: 'lookup', set: name, source: 1 },
        { kind: 'verdict', verdict: { verdict: 'drop' } },
      ],
    }) as const;
  return {
    tables: [{ family: 'ip', name: 't', flags: [], handle: 1n, use: 0 }],
    chains: Array.from({ length: size / 20 }, (_, i) => ({ ...table, name: `c${i}`, handle: 1n, use: 0 })),
    rules: [
      ruleWith('c0', '__set0'),
      ...Array.from({ length: size / 2 }, (_, i) => ruleWith(`c${Math.floor(i / 10)}`, 'named')),
    ],
    sets: [
      { set: { ...set, name: 'named' }, elements },
      { set: { ...set, name: '__set0', anonymous: true }, elements: elements.slice(0, OF_A_RULE) },
    ],
    objects: [],
  };
}

/** Collects what the test itself has left: a collection of so many objects takes long. */
function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
}

/** The longest block of the event loop while `act` runs. A block in which much garbage was collected may be chance: three tries. */
async function longestBlock(act: () => Promise<unknown>): Promise<number> {
  const tries: number[] = [];
  while (tries.length < 3 && (tries.at(-1) ?? MOST + 1) > MOST) {
    collectGarbage();
    const blocks = loopTurns();
    await turn();
    blocks.take();
    await act();
    tries.push(blocks.take());
    blocks.close();
  }
  return Math.min(...tries);
}

const figures: string[] = [];
after(() => console.log(figures.join('\n')));

/** Asserts that a block was short, and notes it. */
function check(what: string, block: number): void {
  figures.push(`${what}: longest block ${block.toFixed(1)} ms`);
  assert.ok(block <= MOST, `${what}: ${block.toFixed(1)} ms`);
}

describe('the event loop', () => {
  for (const [family, [operation, batch]] of Object.entries(FAMILIES)) {
    for (const size of SIZES) {
      it(`is not blocked for more than ${MOST} ms by ${size} operations of ${family}`, async () => {
        const operations = Array.from({ length: size }, (_, i) => operation(i));
        let results: OperationResult[] = [];
        const block = await longestBlock(async () => {
          results = await batch(operations, false);
        });
        assert.equal(results.length, size);
        assert.equal(results.findIndex(Boolean), -1);
        check(`${family}, ${size} operations`, block);
      });
    }

    it(`is not blocked for more than ${MOST} ms when all of 100 000 operations of ${family} fail`, async () => {
      const operations = Array.from({ length: 100_000 }, (_, i) => operation(i));
      let results: OperationResult[] = [];
      const block = await longestBlock(async () => {
        results = await batch(operations, true);
      });
      assert.equal(
        results.findIndex((result) => result?.code !== 'EBUSY'),
        -1,
      );
      check(`${family}, 100000 failures`, block);
    });

    it(`has the abort of 1 000 000 operations of ${family} within ${MOST_AFTER_ABORT} ms`, async () => {
      const operations = Array.from({ length: 1_000_000 }, (_, i) => operation(i));
      let after = 0;
      const block = await longestBlock(async () => {
        const controller = new AbortController();
        let aborted = 0;
        setTimeout(() => {
          aborted = performance.now();
          controller.abort(new Error('stop'));
        }, DELAY);
        await assert.rejects(batch(operations, false, { signal: controller.signal }), /stop/);
        after = performance.now() - aborted;
      });
      // The signal may be late by a block.
      check(`${family}, abort (the call ended ${after.toFixed(1)} ms after it)`, block);
      assert.ok(after <= MOST_AFTER_ABORT, `${family}: ${after.toFixed(1)} ms`);
    });
  }

  it(`is not blocked for more than ${MOST} ms by calls of clients with 100 000 values`, async () => {
    const size = 100_000;
    const addon = loadAddon();
    const parts = { ...addon };
    class Client extends Kernel {
      constructor() {
        super(size);
      }
      async list(): Promise<Uint8Array> {
        return new Uint8Array();
      }
      async query(): Promise<Uint8Array> {
        return new Uint8Array();
      }
      async beginListing(): Promise<NativePortion> {
        return { messages: new Uint8Array(), restarted: false, ended: true };
      }
      async listServers(): Promise<Uint8Array> {
        return new Uint8Array();
      }
    }
    Object.assign(addon, { RtnetlinkClient: Client, NetlinkClient: Client, IpvsClient: Client });
    try {
      const routes = Array.from(
        { length: size },
        (_, i) => ({ do: 'addRoute', route: { destination: `${address(i)}/32`, link: 'lo' } }) as const,
      );
      let results: OperationResult[] = [];
      const apply = async () => {
        results = await (await openRtnetlink()).apply(routes);
      };
      check('rtnetlink.apply, 100000 failures', await longestBlock(apply));
      assert.ok(results.every((result) => result?.code === 'EBUSY'));
      const selections = Array.from(
        { length: size },
        (_, i) => ({ family: 4, original: { source: address(i) } }) as const,
      );
      const list = async () => (await openConntrack()).list(selections).toArray();
      check('conntrack.list, 100000 selections', await longestBlock(list));
      const ids = Array.from({ length: size }, (_, i) => ({ ...service, address: address(i) }));
      const servers = async () => (await openIpvs()).listRealServers(ids);
      check('ipvs.listRealServers, 100000 ids', await longestBlock(servers));
    } finally {
      Object.assign(addon, parts);
    }
  });

  for (const size of SIZES) {
    it(`is not blocked for more than ${MOST} ms by a text of ${size} lines`, async () => {
      const entries = Array.from(
        { length: size },
        (_, i) => ({ address: address(i), protocol: 'udp', port: 53 }) as const,
      );
      const pieces: string[] = [];
      check(
        `ipset, writing ${size} lines`,
        await longestBlock(async () => {
          pieces.length = 0;
          for await (const piece of formatSetsAsync([{ set, entries }])) pieces.push(piece);
        }),
      );
      async function* text() {
        yield* pieces;
      }
      check(`ipset, reading ${size} lines`, await longestBlock(() => parseSetsAsync(text())));
      async function* rules() {
        yield '-A -u 10.96.0.10:53 -s rr\n';
        for (let start = 0; start < size; start += PORTION) {
          const lines = Array.from(
            { length: Math.min(PORTION, size - start) },
            (_, i) => `-a -u 10.96.0.10:53 -r ${address(start + i)}:53 -m -w 1\n`,
          );
          yield lines.join('');
        }
      }
      check(`ipvsadm, reading ${size} lines`, await longestBlock(() => parseRulesAsync(rules())));
    });

    it(`is not blocked for more than ${MOST} ms by a ruleset with ${size} rules and elements`, async () => {
      const ruleset = rulesetOf(size);
      const write = async () => {
        for await (const piece of formatRulesetAsync(ruleset)) assert.ok(piece.endsWith('\n'));
      };
      check(`nft, writing ${size} rules and elements`, await longestBlock(write));
    });
  }
});
