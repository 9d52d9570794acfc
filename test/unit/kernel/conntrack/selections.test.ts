// Selections: their filters, and the rule that a value breaks.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Filter } from '../../../../src/kernel/conntrack/filters.js';
import { filtered } from '../../../support/tables/flows.js';

/** A filter with the fields of the selection that it leaves out. */
const filter = (fields: Partial<Filter>): Filter => ({
  family: 0,
  protocol: 0,
  original: {},
  reply: {},
  ...fields,
});

describe('a filter', () => {
  it('names the fields that it compares', () => {
    const selection = {
      family: 4,
      protocol: 'udp',
      original: { destination: '10.96.0.10', destinationPort: 53 },
      reply: { source: '10.0.0.0/9', sourcePort: 5353 },
    };
    const expected = filter({
      family: 4,
      protocol: 17,
      original: { destination: { bytes: [10, 96, 0, 10], prefix: 32 }, destinationPort: 53 },
      reply: { source: { bytes: [10, 0, 0, 0], prefix: 9 }, sourcePort: 5353 },
    });
    assert.deepEqual(filtered(selection, true), expected);
  });

  it('may look at ports and addresses that are zero', () => {
    const selection = { family: 6, protocol: 6, original: { source: '::', sourcePort: 0 } };
    const original = { source: { bytes: Array(16).fill(0), prefix: 128 }, sourcePort: 0 };
    assert.deepEqual(filtered(selection, true), filter({ family: 6, protocol: 6, original }));
  });

  it('may look at a family only, or at nothing, to list', () => {
    assert.deepEqual(filtered({ family: 6 }), filter({ family: 6 }));
    assert.deepEqual(filtered({}), filter({}));
  });

  it('compares the parts of a kind of ICMP', () => {
    const selection = {
      family: 4,
      protocol: 1,
      original: { icmp: { type: 8, code: 1 } },
      reply: { icmp: { id: 258 } },
    };
    const parts = { original: { icmpType: 8, icmpCode: 1 }, reply: { sourcePort: 258 } };
    assert.deepEqual(filtered(selection, true), filter({ family: 4, protocol: 1, ...parts }));
  });

  it('compares marks, flags, zones and labels', () => {
    const selection = {
      mark: { value: 4, mask: 6 },
      status: ['ASSURED'],
      notStatus: ['SEEN_REPLY', 'HW_OFFLOAD'],
      zone: 258,
      replyZone: 0,
      labels: [0, 9, 127],
    };
    const labels = new Uint8Array(16);
    labels.set([1, 2]);
    labels[15] = 0x80;
    const expected = {
      mark: { value: 4, mask: 6 },
      status: { value: 4, mask: 0x8006 },
      zone: 258,
      replyZone: 0,
      labels,
    };
    assert.deepEqual(filtered(selection, true), filter(expected));
  });

  const tooWide =
    'filter must name an address, a port, a mark, a zone or a label: without one it would select every flow, or every one of a protocol';
  const broken: [string, unknown][] = [
    [`${tooWide}, found { family: 4 }`, { family: 4 }],
    [`${tooWide}, found { family: 4, protocol: 'udp' }`, { family: 4, protocol: 'udp' }],
    [`${tooWide}, found { family: 4, original: {} }`, { family: 4, original: {} }],
    ['filter must be an object, found undefined', undefined],
    ['family must be 4 or 6, found undefined', { original: { source: '10.0.0.1' } }],
    ['family must be 4 or 6, found 2', { family: 2, original: { source: '10.0.0.1' } }],
    [
      'protocol must be one of tcp, udp, sctp, or a number from 1 to 255, found undefined',
      { family: 4, protocol: undefined, original: { source: '10.0.0.1' } },
    ],
    ['protocol must be given with a port, found undefined', { family: 4, original: { sourcePort: 53 } }],
    ['protocol must be given with a port, found undefined', { family: 4, reply: { destinationPort: 53 } }],
    ['original must be an object, found undefined', { family: 4, original: undefined }],
    ["reply must be an object, found '10.0.0.1'", { family: 4, reply: '10.0.0.1' }],
    [
      'original.destination must be an IPv4 or IPv6 address, found undefined',
      { family: 4, original: { destination: undefined } },
    ],
    [
      "original.destination must be an IPv6 address or network, found '10.0.0.1'",
      { family: 6, original: { destination: '10.0.0.1' } },
    ],
    [
      "reply.sourcePort must be an integer from 0 to 65535, found '53'",
      { family: 4, protocol: 'udp', reply: { sourcePort: '53' } },
    ],
    [
      "original.dst is not a field of a filter, found '10.0.0.1'",
      { family: 4, original: { dst: '10.0.0.1' } },
    ],
    [
      'label is not a field of a filter, found 1',
      { family: 4, label: 1, original: { destination: '10.0.0.1' } },
    ],
    [`${tooWide}, found { mark: 0 }`, { mark: 0 }],
    [`${tooWide}, found { mark: [Object] }`, { mark: { value: 0, mask: 1 } }],
    [`${tooWide}, found { zone: 0 }`, { zone: 0 }],
    [`${tooWide}, found { labels: [] }`, { labels: [] }],
    [
      `${tooWide}, found { status: [Array], notStatus: [Array] }`,
      { status: ['CONFIRMED'], notStatus: ['DYING'] },
    ],
    [`${tooWide}, found { family: 4, original: [Object] }`, { family: 4, original: { source: '0.0.0.0/0' } }],
    ['mark must be an integer from 0 to 4294967295, found -1', { mark: -1 }],
    ['mark must be an object, found undefined', { mark: undefined }],
    ['mark.mask must be an integer from 1 to 4294967295, found 0', { mark: { value: 0, mask: 0 } }],
    ['mark.value must have no bit outside the mask 2, found 3', { mark: { value: 3, mask: 2 } }],
    ['zone must be an integer from 0 to 65535, found undefined', { zone: undefined }],
    ['labels must be an array, found 1', { labels: 1 }],
    ['labels[1] must be an integer from 0 to 127, found 128', { labels: [0, 128] }],
    [
      "notStatus must have no flag that status has, found [ 'ASSURED' ]",
      { status: ['ASSURED'], notStatus: ['ASSURED'] },
    ],
    [
      "original.source must be an IPv4 or IPv6 address, found '10.0.0.0/33'",
      { family: 4, original: { source: '10.0.0.0/33' } },
    ],
    [
      "original.source must be an IPv6 address or network, found '10.0.0.0/8'",
      { family: 6, original: { source: '10.0.0.0/8' } },
    ],
    [
      'original.icmp must be given with protocol 1 or 58, found { type: 8, x: 1 }',
      { family: 4, protocol: 17, original: { icmp: { type: 8, x: 1 } } },
    ],
    [
      'original.icmp.type must be an integer from 0 to 255, found 256',
      { family: 4, protocol: 1, original: { icmp: { type: 256 } } },
    ],
    [
      'reply.icmp.kind is not a field of a kind of ICMP, found 8',
      { family: 4, protocol: 1, reply: { icmp: { kind: 8 } } },
    ],
  ];
  for (const [fault, selection] of broken) {
    it(`is refused: ${fault} (${JSON.stringify(selection)})`, () =>
      assert.equal(filtered(selection, true), fault));
  }
});
