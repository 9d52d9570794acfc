// top: the order of its list, its keys, and the mode of the terminal.
import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { describe, it } from 'node:test';
import { namesOf } from '../../../../../src/command/cli/services/names.js';
import { ipvsInventory } from '../../../../../src/command/cli/services/openInventory.js';
import {
  openTerminal,
  showTop,
  type Terminal,
  type TerminalEvent,
  type TopParts,
} from '../../../../../src/command/cli/services/top.js';
import type { VirtualServiceState } from '../../../../../src/kernel/ipvs/types.js';

const NO_RATES = { connections: 0, inPackets: 0, outPackets: 0, inBytes: 0, outBytes: 0 };
const NO_TRAFFIC = { inPackets: 0n, outPackets: 0n, inBytes: 0n, outBytes: 0n };

/** A kernel in which each listing has this number of new connections of each virtual service. */
function kernel(rates: Readonly<Record<string, { perList: number; active: number }>>) {
  let lists = 0;
  return {
    async list(): Promise<VirtualServiceState[]> {
      lists++;
      return Object.entries(rates).map(([address, { perList, active }]) => {
        const counters = { connections: BigInt(lists * perList), ...NO_TRAFFIC };
        const server = {
          ...{ address: '10.244.1.11', port: 8080, weight: 1, forwarding: 'masquerade' as const },
          ...{ upperThreshold: 0, lowerThreshold: 0, inactiveConnections: 0, persistentConnections: 0 },
          ...{ activeConnections: active, counters, rates: NO_RATES },
        };
        const settings = { scheduler: 'rr', schedulerFlags: [], onePacket: false };
        return {
          address,
          port: 80,
          protocol: 'tcp',
          ...settings,
          counters,
          rates: NO_RATES,
          realServers: [server],
        };
      });
    },
    lists: () => lists,
  };
}

const busy = () =>
  kernel({ '10.96.0.1': { perList: 1, active: 9 }, '10.96.0.2': { perList: 500, active: 1 } });

type Parts = TopParts<readonly VirtualServiceState[]>;

function parts(rest: Partial<Parts> = {}, ipvs = busy()): Parts {
  const names = namesOf({ source: 'none', reason: 'test' }, []);
  return { inventory: ipvsInventory(ipvs, names, []), interval: 0.02, order: 'rate', count: 1, ...rest };
}

/** The addresses of a list, in order. */
const addressesOf = (text: string) => [...text.matchAll(/10\.96\.0\.\d+/g)].map(String);

async function printed(rest: Partial<Parts>): Promise<string> {
  const written: string[] = [];
  const write = (text: string) => void written.push(text);
  await showTop(parts(rest), {
    output: { format: 'text', columns: 80, style: (_, text) => text, write, note() {} },
  });
  return written.join('');
}

describe('top without a terminal', () => {
  it('prints a list with rates, the busiest virtual service first', async () => {
    const text = await printed({});
    assert.match(
      text,
      /^2 virtual services of 0 Service ports, 10 active, 0 inactive, \S+ new\/s; by\s+new\s+connections/,
    );
    assert.deepEqual(addressesOf(text), ['10.96.0.2', '10.96.0.1']);
  });

  it('prints as many lists as wanted, in the wanted order', async () => {
    const text = await printed({ count: 3, order: 'active' });
    assert.deepEqual(addressesOf(text), Array(3).fill(['10.96.0.1', '10.96.0.2']).flat());
  });
});

/** A terminal with these events; each wait takes the next one. A timeout advances the clock. */
function scripted(events: TerminalEvent[], columns = 100, rows = 10) {
  const screens: string[] = [];
  const clock = { now: 1000 };
  const terminal: Terminal = {
    style: (_, text) => text,
    columns: () => columns,
    rows: () => rows,
    show: (lines, last) => void screens.push([...lines, last].join('\n')),
    async next(milliseconds) {
      const event = events.shift() ?? 'quit';
      if (event === 'timeout') clock.now += milliseconds;
      return event;
    },
    close() {},
  };
  return { terminal, screens, clock };
}

describe('top on a terminal', () => {
  it('redraws for keys without a new listing, and ends at q', async (t) => {
    const { terminal, screens, clock } = scripted(['timeout', 'a', 'resized', 'z', 'quit']);
    t.mock.method(performance, 'now', () => clock.now);
    const ipvs = busy();
    const all = parts({ count: Number.POSITIVE_INFINITY, interval: 0.05 }, ipvs);
    await showTop(all, { terminal });
    assert.deepEqual(
      screens.map((screen) => addressesOf(screen).join()),
      [
        // The estimates of this kernel are 0.
        '10.96.0.1,10.96.0.2',
        '10.96.0.2,10.96.0.1',
        '10.96.0.1,10.96.0.2',
        '10.96.0.1,10.96.0.2',
        '10.96.0.1,10.96.0.2',
      ],
    );
    assert.equal(ipvs.lists(), 2);
    assert.match(screens.at(-1) ?? '', /; by active connections\n.*every 0\.05 s; order: c rate, a active/s);
  });

  it('fits the width and the height of the terminal', async () => {
    const { terminal, screens } = scripted(['quit'], 30, 5);
    await showTop(parts(), { terminal });
    const lines = screens[0]?.split('\n') ?? [];
    assert.equal(lines.length, 5, 'title, gap, headings, one virtual service, keys');
    for (const line of lines) assert.ok(line.length <= 30, line);
    assert.ok(lines[0]?.endsWith('…'));
  });
});

/** A terminal's streams that keep their state. */
function streams() {
  const written: string[] = [];
  const raw: boolean[] = [];
  const input = Object.assign(new EventEmitter(), {
    isTTY: true as const,
    setRawMode: (mode: boolean) => raw.push(mode),
    resume: () => input,
    pause: () => input,
  });
  const output = Object.assign(new EventEmitter(), {
    isTTY: true as const,
    columns: 40,
    rows: 4,
    write: (text: string) => written.push(text),
  });
  type Streams = NonNullable<Parameters<typeof openTerminal>[0]>;
  return { input, output, raw, written, all: { input, output } as unknown as Streams };
}

describe('the terminal', () => {
  it('reports keys, Ctrl-C, signals and a new size, one at a time, and waits no longer than the limit', async () => {
    const { all, input, output } = streams();
    const terminal = openTerminal(all);
    try {
      input.emit('data', Buffer.from('aq'));
      output.emit('resize');
      input.emit('data', Buffer.from('\u0003'));
      process.emit('SIGTERM');
      const events: string[] = [];
      for (let i = 0; i < 6; i++) events.push(await terminal.next(10));
      assert.deepEqual(events, ['a', 'quit', 'resized', 'quit', 'quit', 'timeout']);
      setTimeout(() => input.emit('data', Buffer.from('b')), 5);
      assert.equal(await terminal.next(10_000), 'b');
    } finally {
      terminal.close();
    }
  });

  it('shows the former screen, and no handler stays, after it is closed', () => {
    const { all, input, output, raw, written } = streams();
    const handlers = process.listenerCount('SIGTERM');
    const terminal = openTerminal(all);
    terminal.show(['one', 'two'], 'last');
    terminal.close();
    assert.deepEqual(raw, [true, false]);
    assert.equal(process.listenerCount('SIGTERM'), handlers);
    assert.deepEqual([input.listenerCount('data'), output.listenerCount('resize')], [0, 0]);
    const [opened = '', shown = '', closed = ''] = written;
    assert.match(opened, /\[\?1049h/);
    assert.equal(shown.replaceAll('\u001b', '^'), '^[Hone^[K\r\ntwo^[K\r\n^[K\r\nlast^[K^[J');
    assert.match(closed, /\[\?1049l/);
  });
});
