// What the library does not know of a newer kernel: attributes, numbers and flags. A listing shows them, and an object that has such
// attributes is not written without them.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { encodeAddress, readAddress } from '../../../../src/kernel/rtnetlink/addresses/codec.js';
import { WRITTEN_KIND_NAMES } from '../../../../src/kernel/rtnetlink/links/kinds/index.js';
import { readLink } from '../../../../src/kernel/rtnetlink/links/read.js';
import { encodeNewLink, encodeSettings } from '../../../../src/kernel/rtnetlink/links/write.js';
import type { MessageWriter } from '../../../../src/kernel/rtnetlink/message.js';
import { encodeNeighbour, readNeighbour } from '../../../../src/kernel/rtnetlink/neighbours/codec.js';
import { encodeListRoutes } from '../../../../src/kernel/rtnetlink/routes/query.js';
import { passes, readRoute } from '../../../../src/kernel/rtnetlink/routes/read.js';
import { encodeRoute } from '../../../../src/kernel/rtnetlink/routes/write.js';
import { encodeRule, readRule } from '../../../../src/kernel/rtnetlink/rules/codec.js';
import type { LinkAddress, Neighbour, NewRule, Route, Rule } from '../../../../src/kernel/rtnetlink/types.js';
import { HEADER, listed, NAMES, only } from '../../../support/tables/rtnetlink/messages.js';

const TYPE = 200; // no attribute of any kernel has this number
const VALUE = Uint8Array.of(1, 2, 3, 4, 5);
const UNKNOWN = [{ type: TYPE, value: VALUE }];

function with200(writer: MessageWriter): Uint8Array {
  return listed(writer.attribute(TYPE, () => writer.bytes(VALUE)));
}

function asRoute(bytes: Uint8Array): Route {
  return only(bytes, (message) => readRoute(message, NAMES)) ?? assert.fail();
}

function asRule(bytes: Uint8Array): Rule {
  return only(bytes, (message) => readRule(message, NAMES)) ?? assert.fail();
}

function asNeighbour(bytes: Uint8Array): Neighbour {
  return { ...(only(bytes, (message) => readNeighbour(message, NAMES)) ?? assert.fail()), link: 'va' };
}

function asAddress(bytes: Uint8Array): LinkAddress {
  return only(bytes, (message) => readAddress(message, new Map([[0, 'va']]))) ?? assert.fail();
}

/** A byte of the fixed header, changed. */
function changed(bytes: Uint8Array, place: number, value: number): Uint8Array {
  bytes[HEADER + place] = value;
  return bytes;
}

function faultOf({ check }: MessageWriter): string {
  return check.invalid ? `${check.invalid.field} ${check.invalid.rule.split(':')[0]}` : 'none';
}

const REFUSED = 'attributes must be left out';

describe('an attribute that is unknown', () => {
  const route = { destination: '10.9.0.0/16', gateway: '10.1.0.2' } as const;

  it('of a route is shown, and the route is neither written nor deleted', () => {
    const found = asRoute(with200(encodeRoute('add', route)));
    assert.deepEqual(found.attributes, UNKNOWN);
    for (const verb of ['add', 'change', 'replace', 'append', 'delete'] as const) {
      assert.equal(faultOf(encodeRoute(verb, found)), `route.${REFUSED}`, verb);
    }
    const { attributes: _, ...known } = found;
    assert.equal(faultOf(encodeRoute('add', known)), 'none');
  });

  it('of the metrics of a route', () => {
    const writer = encodeRoute('add', route);
    writer.attribute(8, () =>
      writer.attribute(2, () => writer.u32(1400)).attribute(TYPE, () => writer.bytes(VALUE)),
    );
    const found = asRoute(listed(writer));
    assert.deepEqual(found.metrics, { mtu: 1400, attributes: UNKNOWN });
    assert.equal(faultOf(encodeRoute('add', found)), `route.metrics.${REFUSED}`);
  });

  it('of one of several nexthops', () => {
    const writer = encodeRoute('add', { destination: '10.9.0.0/16' });
    writer.attribute(9, () =>
      writer.struct(() => {
        writer.u8(0).u8(0).link(3);
        writer.attribute(TYPE, () => writer.bytes(VALUE));
      }),
    );
    const found = asRoute(listed(writer));
    assert.deepEqual(found.nextHops, [{ link: 'va', weight: 1, flags: [], attributes: UNKNOWN }]);
    assert.equal(faultOf(encodeRoute('add', found)), `route.nextHops[0].${REFUSED}`);
  });

  it('of a rule is shown, and the rule is neither written nor deleted: it would be wider', () => {
    const found = asRule(with200(encodeRule('add', { priority: 5, table: 100 })));
    assert.deepEqual(found.attributes, UNKNOWN);
    assert.equal(faultOf(encodeRule('add', found)), `rule.${REFUSED}`);
    assert.equal(faultOf(encodeRule('delete', found)), `rule.${REFUSED}`);
    const withoutText = { priority: 5, attributes: [{ type: Object.create(null) }, null] };
    assert.equal(faultOf(encodeRule('add', withoutText as never)), `rule.${REFUSED}`);
  });

  it('of a neighbour is shown; it is not written, and deleted by its name', () => {
    const given = { link: 'va', address: '10.1.0.9', hardwareAddress: '02:00:00:00:00:09' };
    const found = asNeighbour(with200(encodeNeighbour('add', given)));
    assert.deepEqual(found.attributes, UNKNOWN);
    assert.equal(faultOf(encodeNeighbour('replace', found)), `neighbour.${REFUSED}`);
    assert.equal(faultOf(encodeNeighbour('delete', found)), 'none');
  });

  it('of an address is shown; it is not written, and deleted by its name', () => {
    const found = asAddress(with200(encodeAddress('add', { link: 'va', address: '10.1.0.1', prefix: 24 })));
    assert.deepEqual(found.attributes, UNKNOWN);
    assert.equal(faultOf(encodeAddress('add', found)), `address.${REFUSED}`);
    assert.equal(faultOf(encodeAddress('replace', found)), `address.${REFUSED}`);
    assert.equal(faultOf(encodeAddress('delete', found)), 'none');
  });

  it('of each kind and port is shown; a change leaves it or is refused, and a new link is not made without it', () => {
    const data = (kind: string, info: number, value: number) => {
      const writer = encodeNewLink('x', 'dummy');
      return writer.attribute(18, () => {
        writer.attribute(info - 1, () => writer.bytes(Buffer.from(kind)));
        writer.attribute(value, () => writer.attribute(TYPE, () => writer.bytes(VALUE)));
      });
    };
    const read = (writer: MessageWriter) => only(listed(writer), (message) => readLink(message, NAMES));
    for (const kind of [...WRITTEN_KIND_NAMES, 'tun'] as const) {
      assert.deepEqual(read(data(kind, 2, 2))[kind], { attributes: UNKNOWN }, kind);
    }
    for (const master of ['bridge', 'bond', 'vrf'] as const) {
      assert.deepEqual(read(data(master, 5, 5))[`${master}Port`], { attributes: UNKNOWN }, master);
    }
    const bridge = { attributes: UNKNOWN, stp: true };
    assert.equal(faultOf(encodeSettings('x', { bridge })), 'none');
    assert.equal(faultOf(encodeNewLink('x', 'bridge', { bridge })), `settings.bridge.${REFUSED}`);
    // A change of a tunnel resets what it does not have.
    const ipip = { attributes: UNKNOWN, remote: '10.0.0.2', local: '10.0.0.1', ttl: 5 };
    assert.equal(faultOf(encodeSettings('x', { ipip })), `settings.ipip.${REFUSED}`);
    const vxlan = { attributes: UNKNOWN, id: 5 };
    assert.equal(faultOf(encodeNewLink('x', 'vxlan', { vxlan })), `settings.vxlan.${REFUSED}`);
  });
});

describe('a number that has no name', () => {
  it('is the type of a route, which is written as it is', () => {
    const found = asRoute(changed(listed(encodeRoute('add', { destination: '10.9.0.0/16' })), 7, 77));
    assert.equal(found.type, 77);
    assert.equal(asRoute(listed(encodeRoute('add', found))).type, 77);
    assert.equal(faultOf(encodeListRoutes({ type: 77 })), 'none');
    assert.ok(passes(found, { type: 77 }) && !passes(found, { type: 'unicast' }));
  });

  it('is the action of a rule', () => {
    const found = asRule(changed(listed(encodeRule('add', { priority: 5 })), 7, 77));
    assert.equal(found.action, 77);
    assert.equal(asRule(listed(encodeRule('add', found))).action, 77);
  });

  it('is the state of a neighbour', () => {
    const given = { link: 'va', address: '10.1.0.9', state: 'stale' } as const;
    const found = asNeighbour(changed(listed(encodeNeighbour('add', given)), 9, 2));
    assert.equal(found.state, 0x204);
    assert.equal(asNeighbour(listed(encodeNeighbour('add', found))).state, 0x204);
  });

  it('is the scope or the origin of an address', () => {
    const given = { link: 'va', address: '10.1.0.1', prefix: 24, scope: 77, protocol: 200 } as const;
    const found = asAddress(listed(encodeAddress('add', given)));
    assert.deepEqual([found.scope, found.protocol], [77, 200]);
    assert.deepEqual(asAddress(listed(encodeAddress('add', { ...found, flags: [] }))), found);
  });

  it('is a setting of a link', () => {
    const writer = encodeNewLink('b', 'bridge', { addressGeneration: 99, bridge: { vlanProtocol: 0x9100 } });
    writer.attribute(16, () => writer.u8(42)); // IFLA_OPERSTATE
    const link = only(listed(writer), (message) => readLink(message, NAMES));
    assert.deepEqual([link.state, link.addressGeneration, link.bridge?.vlanProtocol], [42, 99, 0x9100]);
  });
});

describe('a flag that has no name', () => {
  it('of a route is shown, and is not written; what the kernel says about its answer is left out', () => {
    const bytes = listed(encodeRoute('add', { destination: '10.9.0.0/16', flags: ['onlink'] }));
    const found = asRoute(changed(changed(bytes, 8, 0x84), 9, 0x40));
    assert.deepEqual(found.flags, ['onlink', 'bit_7']);
    assert.equal(faultOf(encodeRoute('add', found)).split(' ')[0], 'route.flags');
  });

  it('of a rule is shown, and is not written', () => {
    const found = asRule(changed(listed(encodeRule('add', { priority: 5, invert: true })), 10, 1));
    assert.deepEqual([found.invert, found.flags], [true, ['bit_16']]);
    assert.equal(faultOf(encodeRule('add', found)), 'rule.flags must be left out');
  });

  it('of a neighbour is shown', () => {
    const writer = encodeNeighbour('add', { link: 'va', address: '10.1.0.9', flags: ['router'] });
    writer.attribute(15, () => writer.u32(3)); // NDA_FLAGS_EXT
    assert.deepEqual(asNeighbour(listed(writer)).flags, ['router', 'managed', 'bit_9']);
  });

  it('of an address is shown', () => {
    const writer = encodeAddress('add', { link: 'va', address: '10.1.0.1', prefix: 24, flags: ['home'] });
    writer.attribute(8, () => writer.u32(0x1010)); // IFA_FLAGS
    assert.deepEqual(asAddress(listed(writer)).flags, ['home', 'bit_12']);
  });

  it('of a link is shown', () => {
    const bytes = changed(listed(encodeNewLink('d', 'dummy', { up: true })), 11, 0x80);
    assert.deepEqual(only(bytes, (message) => readLink(message, NAMES)).flags, ['up', 'bit_31']);
  });
});

describe('a route', () => {
  const by = (type: number, message: (writer: MessageWriter) => void, base = encodeRoute('add', ROUTE)) =>
    asRoute(listed(base.attribute(type, () => message(base))));
  const ROUTE = { destination: '10.9.0.0/16' } as const;

  it('by a link whose name is not known has its index, and is written with it', () => {
    const found = by(4, (writer) => writer.u32(99));
    assert.deepEqual([found.link, found.linkIndex], [undefined, 99]);
    assert.equal(asRoute(listed(encodeRoute('delete', found))).linkIndex, 99);
    assert.equal(faultOf(encodeRoute('add', { ...found, link: 'va' })), 'route.linkIndex excludes link');
    const nextHops = [{ gateway: '10.1.0.2', linkIndex: 99 }];
    assert.equal(asRoute(listed(encodeRoute('add', { ...ROUTE, nextHops }))).nextHops?.[0]?.linkIndex, 99);
  });

  it('by a nexthop object has its ways apart, and is written without them', () => {
    const base = encodeRoute('add', { ...ROUTE, nextHopId: 7 });
    base.attribute(5, () => base.bytes(Uint8Array.of(10, 1, 0, 2)));
    const found = by(4, (writer) => writer.u32(3), base);
    assert.deepEqual(found.resolved, [{ gateway: '10.1.0.2', link: 'va', weight: 1, flags: [] }]);
    assert.deepEqual([found.nextHopId, found.gateway, found.link], [7, undefined, undefined]);
    const written = asRoute(listed(encodeRoute('delete', found)));
    assert.deepEqual([written.nextHopId, written.resolved], [7, undefined]);
    for (const way of [{ gateway: '10.1.0.2' }, { link: 'va' }, { linkIndex: 3 }, { nextHops: [{}] }]) {
      const [field] = Object.keys(way);
      const fault = faultOf(encodeRoute('add', { ...found, ...way }));
      assert.equal(fault, `route.${field} excludes nextHopId`);
    }
  });
});

describe('what newer kernels list of every object', () => {
  it('is left out of a rule: the masks of a port, a DSCP and a flow label that were given without them', () => {
    const given: NewRule = {
      ...{ priority: 5, family: 6, dscp: 10, flowLabel: 7, table: 1000 },
      ...{ sourcePorts: { first: 80, last: 80 }, destinationPorts: { first: 53, last: 53 } },
    };
    const writer = encodeRule('add', given);
    writer.attribute(28, () => writer.u16(0xffff)).attribute(29, () => writer.u16(0xffff));
    writer.attribute(30, () => writer.u8(0x3f)).attribute(27, () => writer.u32be(0xf_ffff));
    const found = asRule(listed(writer));
    assert.deepEqual(found, { ...given, action: 'lookup', protocol: 'boot' });
    assert.equal(faultOf(encodeRule('delete', found)), 'none');
    assert.deepEqual(asRule(listed(encodeRule('add', found))), found);
  });

  it('is written of a new link only if it is no default: the kernel refuses what a mode or a configuration lacks', () => {
    const bytesOf = (settings: Parameters<typeof encodeNewLink>[2], kind: string) =>
      listed(encodeNewLink('x', kind, settings));
    const mode = 'active-backup';
    const defaults = { lacpRate: 'slow', lacpStrict: false, packetsPerPort: 1, arpTargets: [] } as const;
    assert.deepEqual(bytesOf({ bond: { mode, ...defaults } }, 'bond'), bytesOf({ bond: { mode } }, 'bond'));
    assert.notDeepEqual(
      bytesOf({ bond: { mode, lacpRate: 'fast' } }, 'bond'),
      bytesOf({ bond: { mode } }, 'bond'),
    );
    const bridge = { vlanFiltering: false, multipleSpanningTrees: false, priority: 7 };
    assert.deepEqual(bytesOf({ bridge }, 'bridge'), bytesOf({ bridge: { priority: 7 } }, 'bridge'));
    // A change is written as it is given.
    const change = (own: object) => listed(encodeSettings('x', { bridge: own }));
    assert.notDeepEqual(change(bridge), change({ priority: 7 }));
    // The kernel lists the id 0 of a VXLAN that is external.
    assert.equal(faultOf(encodeNewLink('x', 'vxlan', { vxlan: { external: true, id: 0 } })), 'none');
  });

  it('is kept of the options of a bridge: those that the kernel knows, and one that is set and has no name', () => {
    const read = (options: number, mask: number) => {
      const writer = encodeNewLink('b', 'bridge');
      writer.attribute(18, () => {
        writer.attribute(1, () => writer.bytes(Buffer.from('bridge')));
        writer.attribute(2, () => writer.attribute(46, () => writer.u32(options).u32(mask)));
      });
      return only(listed(writer), (message) => readLink(message, NAMES)).bridge;
    };
    assert.deepEqual(read(2, 3), { noLinkLocalLearning: false, multicastVlanSnooping: true });
    const { attributes, ...named } = read(0x44, 0x7f) ?? assert.fail();
    assert.equal(named.multipleSpanningTrees, true);
    assert.deepEqual(attributes, [{ type: 46, value: Uint8Array.of(0x44, 0, 0, 0, 0x7f, 0, 0, 0) }]);
  });
});

it('a mark with a mask of no bits stays one', () => {
  const found = asRule(listed(encodeRule('add', { priority: 5, mark: { value: 3, mask: 0 } })));
  assert.deepEqual(found.mark, { value: 3, mask: 0 });
});
