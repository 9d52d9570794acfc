// Lists of operations: only an array is one, of clients and of fakes alike, and each element has a result of its own.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { OperationResult } from '../../../../src/kernel/shared/types.js';
import { FakeIptables } from '../../../../src/kernel/testing/index.js';
import { CountedAddon } from '../../../support/misuse/countedAddon.js';
import { FAKES, OPEN, type Subpath, type Verbs } from '../../../support/misuse/subpaths.js';

/** Each verb with a list, the name of this argument, and a valid element. */
const LISTS: readonly (readonly [Subpath, verb: string, argument: string, element: unknown])[] = [
  ['ipvs', 'apply', 'operations', { do: 'stopDaemon', state: 'master' }],
  ['ipvs', 'listRealServers', 'ids', { address: '10.0.0.1', port: 80, protocol: 'tcp' }],
  ['ipset', 'apply', 'operations', { do: 'flush', name: 'a' }],
  ['rtnetlink', 'apply', 'operations', { do: 'deleteLink', name: 'a' }],
  ['conntrack', 'apply', 'operations', { do: 'deleteFlow', flow: flow() }],
  ['conntrack', 'deleteFlows', 'flows', flow()],
  ['netlink', 'send', 'messages', { type: 16 }],
];

function flow() {
  return { protocol: 50, original: { source: '10.0.0.1', destination: '10.0.0.2' } };
}

/** Values that are not lists, made of an element that would be valid. */
function noLists(element: unknown): unknown[] {
  const generated = function* () {
    yield element;
  };
  const arrayLike = { 0: element, length: 1 };
  return [
    element,
    new Set([element]),
    generated(),
    arrayLike,
    new Map([[0, element]]),
    undefined,
    null,
  ].concat([
    Symbol('a'),
    'a',
    1,
    NaN,
    new Date(0),
    new Uint8Array(1),
    () => [element],
    Promise.resolve([element]),
  ]);
}

/** Values that are neither an operation nor the name of an object. */
const NO_ELEMENTS = [
  undefined,
  null,
  NaN,
  2 ** 53,
  -1,
  'a',
  true,
  Symbol('a'),
  () => 1,
  [],
  new Map(),
  new Date(0),
].concat([{ do: Symbol('a') } as never, { do: Object.create(null) } as never, { do: 1n } as never]);

async function checkLists(of: (subpath: Subpath) => Promise<object>): Promise<void> {
  for (const [subpath, verb, argument, element] of LISTS) {
    const client = (await of(subpath)) as Verbs;
    for (const value of noLists(element)) {
      await assert.rejects(
        async () => client[verb]?.(value),
        (error: Error) => {
          assert.equal(error.name, 'TypeError');
          const start = `${subpath}.${verb}: ${argument} must be an array, found `;
          assert.equal(error.message.slice(0, start.length), start);
          return true;
        },
      );
    }
  }
}

/** Each invalid element has its error, and the valid ones around it are sent. */
async function checkElements(of: (subpath: Subpath) => Promise<object>): Promise<void> {
  for (const [subpath, verb, , element] of LISTS.filter(([, name]) => name !== 'listRealServers')) {
    const client = (await of(subpath)) as Verbs;
    // The last one is a hole of the array.
    const list = [element, ...NO_ELEMENTS, element];
    list.length++;
    const results = (await client[verb]?.(list)) as readonly OperationResult[];
    const codes = Array.from(results, (result) => result?.code ?? 'none');
    const isElement = (place: number) => place === 0 || place === list.length - 2;
    for (const [place, code] of codes.entries()) {
      if (isElement(place)) assert.notEqual(code, 'ERR_INVALID_ARGUMENT', `${subpath}.${verb} ${place}`);
      else assert.equal(code, 'ERR_INVALID_ARGUMENT', `${subpath}.${verb} of ${String(place)}`);
    }
    assert.equal(codes.length, list.length);
  }
}

describe('a list of operations', () => {
  let addon: CountedAddon;
  before(() => {
    addon = new CountedAddon();
  });
  after(() => addon.restore());

  it('is an array, or the call of a client is a TypeError that names the argument, and nothing is sent', async () => {
    await checkLists((subpath) => OPEN[subpath]());
    // To open conntrack is to ask the kernel something.
    assert.deepEqual(new Set(addon.calls), new Set(['NetlinkClient.query']));
  });

  it('is an array, or the call of a fake is a TypeError that names the argument', async () => {
    await checkLists(async (subpath) => FAKES[subpath]());
  });

  it('has a result for each element, whatever its type, of a client', () =>
    checkElements((subpath) => OPEN[subpath]()));

  it('has a result for each element, whatever its type, of a fake', () =>
    checkElements(async (subpath) => FAKES[subpath]()));

  it('is an array for iptables too', async () => {
    await assert.rejects(new FakeIptables().restore(4, new Set() as never), {
      name: 'TypeError',
      message: 'iptables.restore: operations must be an array, found Set(0) {}',
    });
  });
});
