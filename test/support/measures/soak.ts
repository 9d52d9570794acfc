// Operations and clients in great numbers, and the memory and descriptors of the process before and after them.
//
//   MALLOC_ARENA_MAX=1 node --max-semi-space-size=1 dist/test/support/measures/soak.js OPERATIONS OPENS [FAMILY…]
//
// Prints a line for each family. To be run in a network namespace of its own, as root. Exits with 1 beyond the bounds. Without
// the two settings, the memory also depends on the load of the machine: see soakTests.ts.
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { openConntrack } from '../../../src/kernel/conntrack/index.js';
import { openIpset } from '../../../src/kernel/ipset/index.js';
import { openIpvs } from '../../../src/kernel/ipvs/index.js';
import { openNetlink } from '../../../src/kernel/netlink/index.js';
import { openRtnetlink } from '../../../src/kernel/rtnetlink/index.js';
import { throwOnFailure } from '../../../src/kernel/shared/throwOnFailure.js';
import { collectGarbage } from './garbage.js';
import { settled } from './settled.js';

/** Growth of the resident memory after the warm-up, in MiB. */
const MOST_GROWTH = 4;
/** Operations of one call. */
const BATCH = 500;

/**
 * Opens a client, and removes what a terminated worker left. Returns the closing of the client, and a round of operations, after
 * which the kernel is as it was before.
 */
type Open = () => Promise<{ round(): Promise<number>; close(): Promise<void> }>;

// include/uapi/linux/{netlink,rtnetlink}.h
const NLM_F_CREATE = 0x400;
const RTM_NEWADDR = 20;
const RTM_DELADDR = 21;
const RTNLGRP_IPV4_IFADDR = 5;

const FAMILIES: Readonly<Record<string, Open>> = {
  async ipvs() {
    const client = await openIpvs();
    await client.flush({ confirm: 'delete every virtual service' });
    const services = Array.from({ length: BATCH }, (_, i) => ({
      protocol: 'tcp' as const,
      address: `10.${i >> 8}.${i & 255}.1`,
      port: 80,
    }));
    const add = services.map(
      (service) => ({ do: 'addService', service: { ...service, scheduler: 'rr' } }) as const,
    );
    const remove = services.map((service) => ({ do: 'deleteService', service }) as const);
    return {
      close: () => client.close(),
      async round() {
        throwOnFailure(await client.apply(add));
        throwOnFailure(await client.apply(remove));
        return 2 * BATCH;
      },
    };
  },

  async ipset() {
    const client = await openIpset();
    const set = { name: 'knp-soak', type: 'hash:ip' as const, family: 4 as const };
    await client.create(set).catch((error) => {
      if (error.code !== 'EEXIST') throw error;
    });
    await client.flush(set.name);
    const entries = Array.from({ length: BATCH }, (_, i) => ({ address: `10.${i >> 8}.${i & 255}.1` }));
    return {
      close: () => client.close(),
      async round() {
        throwOnFailure(await client.apply(entries.map((entry) => ({ do: 'add', set, entry }))));
        throwOnFailure(await client.apply(entries.map((entry) => ({ do: 'delete', set, entry }))));
        return 2 * BATCH;
      },
    };
  },

  async rtnetlink() {
    const client = await openRtnetlink();
    const ids = Array.from({ length: BATCH }, (_, i) => ({
      link: 'lo',
      address: `10.${i >> 8}.${i & 255}.1`,
      prefix: 32,
    }));
    await client.apply(ids.map((address) => ({ do: 'deleteAddress', address }))); // none, as a rule
    return watched(client, client.watch(), async () => {
      throwOnFailure(await client.apply(ids.map((address) => ({ do: 'addAddress', address }))));
      throwOnFailure(await client.apply(ids.map((address) => ({ do: 'deleteAddress', address }))));
      return 2 * BATCH;
    });
  },

  async netlink() {
    const client = await openNetlink({ protocol: 'route' });
    // struct ifaddrmsg of an address on lo, and IFA_LOCAL.
    const payloads = Array.from({ length: BATCH }, (_, i) =>
      Uint8Array.of(2, 32, 0, 0, 1, 0, 0, 0, 8, 0, 2, 0, 10, i >> 8, i & 255, 1),
    );
    const add = payloads.map((payload) => ({ type: RTM_NEWADDR, flags: NLM_F_CREATE, payload }));
    const remove = payloads.map((payload) => ({ type: RTM_DELADDR, payload }));
    await client.send(remove); // none, as a rule
    return watched(client, client.watch([RTNLGRP_IPV4_IFADDR]), async () => {
      throwOnFailure(await client.send(add));
      throwOnFailure(await client.send(remove));
      return 2 * BATCH;
    });
  },

  async conntrack() {
    const client = await openConntrack();
    const flows = Array.from({ length: BATCH }, (_, i) => ({
      protocol: 'udp' as const,
      original: { source: '10.0.0.1', destination: '10.0.0.2', sourcePort: 1000 + i, destinationPort: 53 },
    }));
    await client.deleteFlows(flows); // none, as a rule
    return watched(client, client.watch(), async () => {
      throwOnFailure(
        await client.apply(flows.map((flow) => ({ do: 'addFlow', flow: { ...flow, timeout: 600 } }))),
      );
      throwOnFailure(await client.deleteFlows(flows));
      return 2 * BATCH;
    });
  },
};

/** Watches as well: the events of each round of `change` are read before the next one, so that none take memory. */
async function watched(
  client: { close(): Promise<void> },
  stream: AsyncIterable<unknown>,
  change: () => Promise<number>,
): ReturnType<Open> {
  const events = stream[Symbol.asyncIterator]();
  await events.next();
  let read = 0;
  const reading = (async () => {
    while (!(await events.next()).done) read++;
  })();
  return {
    async close() {
      await events.return?.();
      await reading;
      await client.close();
    },
    async round() {
      const done = await change();
      await settled(() => read);
      return done;
    },
  };
}

const descriptors = () => readdirSync('/proc/self/fd').length;

/** The resident memory after garbage collections, in MiB. */
async function resident(): Promise<number> {
  await collectGarbage();
  return process.memoryUsage().rss / 2 ** 20;
}

/** Runs one family; returns its line, and whether it is within the bounds. */
export async function soak(family: string, operations: number, opens: number): Promise<[string, boolean]> {
  const open = FAMILIES[family];
  if (!open) throw new Error(`no family ${family}`);
  const client = await open();
  const openOnce = async () => (await open()).close();
  // A warm-up, as long as what is measured: V8 compiles the code, and the heap, and the arenas that the C library makes for
  // threads, reach their sizes.
  for (let done = 0; done < operations; ) done += await client.round();
  for (let i = 0; i < opens; i++) await openOnce();
  const before = { memory: await resident(), descriptors: await settled(descriptors) };
  const started = Date.now();
  let done = 0;
  while (done < operations) done += await client.round();
  for (let i = 0; i < opens; i++) await openOnce();
  const seconds = (Date.now() - started) / 1000;
  const growth = (await resident()) - before.memory;
  const left = (await settled(descriptors, before.descriptors)) - before.descriptors;
  await client.close();
  const memory = `${before.memory.toFixed(1)} MiB ${growth < 0 ? '' : '+'}${growth.toFixed(1)}`;
  const line = `${family}: ${done} operations, ${opens} opens in ${seconds.toFixed(1)} s: ${memory}, descriptors +${left}`;
  return [line, growth <= MOST_GROWTH && left === 0];
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [operations, opens, ...families] = process.argv.slice(2);
  for (const family of families.length > 0 ? families : Object.keys(FAMILIES)) {
    const [line, isWithin] = await soak(family, Number(operations), Number(opens));
    console.log(line);
    if (!isWithin) process.exitCode = 1;
  }
}
