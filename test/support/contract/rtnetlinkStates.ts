// The contract of the states of links, of their kinds, and of the messages of errors: the behaviour that the kernel and the fake share.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import type { NetlinkError } from '../../../src/kernel/errors.js';
import type { Rtnetlink, RtnetlinkOperation } from '../../../src/kernel/rtnetlink/types.js';
import { PATIENCE } from '../../laboratory/patience.js';
import { messageOf, outcomes } from './refusals.js';
import { type Open, withVeth } from './rtnetlinkVeth.js';

/** Registers the tests. */
export function rtnetlinkStatesContract(open: Open): void {
  it('a veth has a carrier while both ends are up', async () => {
    const rtnetlink = await open();
    await rtnetlink.addLink('va', 'veth', { peer: { name: 'vb' } });
    await settles(rtnetlink, { va: 'down', vb: 'down' });
    await rtnetlink.setLink('va', { up: true });
    await settles(rtnetlink, { va: 'up: lowerlayerdown', vb: 'down' });
    await rtnetlink.setLink('vb', { up: true });
    await settles(rtnetlink, { va: 'up: up, running', vb: 'up: up, running' });
    await rtnetlink.setLink('va', { up: false });
    await settles(rtnetlink, { va: 'down', vb: 'up: lowerlayerdown' });
  });

  it('a bridge has a carrier while a port forwards', async () => {
    const rtnetlink = await withVeth(open);
    await rtnetlink.addLink('br', 'bridge', { up: true });
    await settles(rtnetlink, { br: 'up: unknown, running' });
    await rtnetlink.setLink('va', { master: 'br' });
    await settles(rtnetlink, { br: 'up: up, running', va: 'up: up, running, port 3' });
    await rtnetlink.setLink('vb', { up: false });
    await settles(rtnetlink, { br: 'up: down', va: 'up: lowerlayerdown, port 0' });
    await rtnetlink.setLink('vb', { up: true });
    await settles(rtnetlink, { br: 'up: up, running', va: 'up: up, running, port 3' });
    await rtnetlink.setLink('br', { up: false });
    await settles(rtnetlink, { br: 'down', va: 'up: up, running, port 0' });
    await rtnetlink.setLink('br', { up: true });
    await rtnetlink.setLink('va', { master: null });
    await settles(rtnetlink, { br: 'up: down', va: 'up: up, running' });
    await rtnetlink.addLink('stp', 'bridge', { up: true, bridge: { stp: true } });
    await rtnetlink.setLink('va', { master: 'stp' });
    await settles(rtnetlink, { stp: 'up: down', va: 'up: up, running, port 1' });
  });

  it('links above another one have its carrier, if the kernel has their kind', async () => {
    const rtnetlink = await withVeth(open);
    for (const kind of ['vlan', 'macvlan'] as const) {
      const added = kind === 'vlan' ? addVlan(rtnetlink) : rtnetlink.addLink('x', kind, { link: 'va' });
      const code = await added.then(
        () => 'done',
        (error) => error.code,
      );
      if (code !== 'done') {
        assert.equal(code, 'EOPNOTSUPP', kind);
        continue;
      }
      await rtnetlink.setLink('x', { up: true });
      await settles(rtnetlink, { x: 'up: up, running' });
      await rtnetlink.setLink('vb', { up: false });
      await settles(rtnetlink, { x: 'up: lowerlayerdown' });
      await rtnetlink.setLink('va', { up: false });
      // A VLAN goes down with the link below, and up with it.
      await settles(rtnetlink, { x: kind === 'vlan' ? 'down' : 'up: lowerlayerdown' });
      await rtnetlink.setLink('x', { up: false });
      const setUp = rtnetlink.setLink('x', { up: true });
      if (kind === 'vlan') await assert.rejects(setUp, { code: 'ENETDOWN' });
      else await setUp;
      for (const link of ['va', 'vb']) await rtnetlink.setLink(link, { up: true });
      await settles(rtnetlink, { x: 'up: up, running' });
      assert.deepEqual((await rtnetlink.getLink('x'))?.link, 'va');
      await rtnetlink.deleteLink('x');
    }
  });

  it("errors have the kernel's messages, and a hint where it is true", async () => {
    const rtnetlink = await withVeth(open);
    await rtnetlink.addLink('br', 'bridge');
    await rtnetlink.addLink('br2', 'bridge');
    const results = await rtnetlink.apply(MESSAGES.map(([operation]) => operation));
    assert.ok(outcomes(results).every((outcome) => outcome !== 'done'));
    const wrong = results.flatMap((result, i) => {
      const [operation, message, hint] = MESSAGES[i] ?? assert.fail();
      const found = messageOf(result);
      const isRight = found === message || (found === undefined && isNew(message));
      const given = (result as NetlinkError | undefined)?.hint;
      return isRight && (hint?.test(given ?? '') ?? given === undefined)
        ? []
        : [[operation, found, message, given, hint]];
    });
    assert.deepEqual(wrong, []);
  });
}

function addVlan(rtnetlink: Rtnetlink): Promise<void> {
  return rtnetlink.addLink('x', 'vlan', { link: 'va', vlan: { id: 5 } });
}

/** The kernel finds the state of links out after it has answered. */
async function settles(rtnetlink: Rtnetlink, wanted: Readonly<Record<string, string>>): Promise<void> {
  const find = async () => {
    const found: [string, string][] = [];
    for (const name of Object.keys(wanted)) {
      const { up, state, flags, bridgePort } = (await rtnetlink.getLink(name)) ?? assert.fail(name);
      const parts = [up ? `up: ${state}` : state];
      if (flags.includes('running')) parts.push('running');
      if (bridgePort) parts.push(`port ${bridgePort.state}`);
      found.push([name, parts.join(', ')]);
    }
    return Object.fromEntries(found);
  };
  for (const deadline = performance.now() + PATIENCE; performance.now() < deadline; ) {
    if (JSON.stringify(await find()) === JSON.stringify(wanted)) return;
    await setTimeout(10);
  }
  assert.deepEqual(await find(), wanted);
}

/** Whether Linux 6.1 does not have the message. */
function isNew(message: string | undefined): boolean {
  return /^ipv[46]: address (already assigned|not found)$/i.test(message ?? '');
}

const VA = { link: 'va' } as const;
const NEIGHBOUR = { ...VA, address: '10.1.0.77' } as const;
const DESTINATION = { destination: '10.9.0.0/16' } as const;
const DESTINATION6 = { destination: 'fd09::/64' } as const;

const LINK_DOWN = /^the link br is down: set it up first$/;
const NO_GATEWAY = /^no link that is up has a network with the gateway [\w.:]+: add an address or a route/;

/** Operations that the kernel refuses, with its message, and the hint if there is one. */
const MESSAGES: readonly (readonly [RtnetlinkOperation, string | undefined, hint?: RegExp])[] = [
  [{ do: 'addLink', name: 'x', kind: 'nonesuch' }, 'Unknown device type'],
  [{ do: 'addLink', name: 'va', kind: 'veth' }, undefined],
  [{ do: 'addLink', name: 'x', kind: 'bridge', settings: { mtu: 67 } }, 'mtu less than device minimum'],
  [
    { do: 'addLink', name: 'x', kind: 'bridge', settings: { mtu: 70_000 } },
    'mtu greater than device maximum',
  ],
  [{ do: 'addLink', name: 'x', kind: 'bridge', settings: { master: 'none' } }, 'there is no link none'],
  [{ do: 'setLink', link: 'none', settings: { up: true } }, 'there is no link none'],
  [{ do: 'setLink', link: 'va', settings: { master: 'none' } }, 'there is no link none'],
  [{ do: 'setLink', link: 'br', settings: { master: 'br2' } }, 'Can not enslave a bridge to a bridge'],
  [{ do: 'setLink', link: 'va', settings: { master: 'vb' } }, undefined],
  [{ do: 'setLink', link: 'va', settings: { mtu: 67 } }, 'mtu less than device minimum'],
  [{ do: 'deleteLink', link: 'none' }, undefined],
  [
    { do: 'setLink', link: 4000, settings: { up: true } },
    undefined,
    /^there is no link with the index 4000$/,
  ],
  [{ do: 'deleteLink', link: 4000 }, undefined, /^there is no link with the index 4000$/],
  [
    { do: 'addAddress', address: { ...VA, address: '10.1.0.1', prefix: 24 } },
    'ipv4: Address already assigned',
  ],
  [
    { do: 'addAddress', address: { ...VA, address: 'fd01::1', prefix: 64 } },
    'ipv6: address already assigned',
  ],
  [{ do: 'addAddress', address: { link: 'none', address: 'fd01::1', prefix: 64 } }, 'there is no link none'],
  [{ do: 'deleteAddress', address: { ...VA, address: '10.1.0.9', prefix: 24 } }, 'ipv4: Address not found'],
  [{ do: 'deleteAddress', address: { ...VA, address: 'fd01::9', prefix: 64 } }, 'ipv6: address not found'],
  [{ do: 'addRoute', route: { ...DESTINATION, link: 'none' } }, 'there is no link none'],
  [{ do: 'addRoute', route: { ...DESTINATION, link: 'br' } }, 'Device for nexthop is not up', LINK_DOWN],
  [
    { do: 'addRoute', route: { ...DESTINATION, gateway: '10.99.0.1' } },
    'Nexthop has invalid gateway',
    NO_GATEWAY,
  ],
  [
    { do: 'addRoute', route: { ...DESTINATION, ...VA, gateway: '10.99.0.1' } },
    'Nexthop has invalid gateway',
    /^the link va has no network with the gateway 10.99.0.1, or is down: /,
  ],
  [
    {
      do: 'addRoute',
      route: { ...DESTINATION, nextHops: [{ gateway: '10.1.0.2' }, { gateway: '10.99.0.1' }] },
    },
    'Nexthop has invalid gateway',
    /^one of the gateways 10.1.0.2, 10.99.0.1 is in no network of its link/,
  ],
  [
    { do: 'addRoute', route: { ...VA, destination: '10.9.0.1/16' } },
    'Invalid prefix for given prefix length',
  ],
  [
    { do: 'addRoute', route: { ...DESTINATION, ...VA, preferredSource: '10.5.5.5' } },
    'Invalid prefsrc address',
    /^10.5.5.5 must be an address of this host$/,
  ],
  [{ do: 'addRoute', route: { ...DESTINATION6, link: 'br' } }, 'Nexthop device is not up', LINK_DOWN],
  [{ do: 'addRoute', route: { ...DESTINATION6, gateway: 'fd99::1' } }, undefined, NO_GATEWAY],
  [
    { do: 'addRoute', route: { ...DESTINATION6, ...VA, preferredSource: 'fd55::5' } },
    'Invalid source address',
    /^fd55::5 must be an address of this host$/,
  ],
  [{ do: 'addRule', rule: { goto: 50, priority: 60 } }, 'Backward goto not supported'],
  [{ do: 'deleteRule', rule: { priority: 60 } }, undefined],
  [{ do: 'addNeighbour', neighbour: { ...NEIGHBOUR, link: 'none' } }, 'there is no link none'],
  [{ do: 'addNeighbour', neighbour: NEIGHBOUR }, 'No link layer address given'],
  [{ do: 'addNeighbour', neighbour: { ...NEIGHBOUR, hardwareAddress: '02:00' } }, 'Invalid link address'],
];
