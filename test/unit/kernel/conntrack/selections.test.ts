// Records of filters: the place of each value, and the rule that a value breaks.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FILTER } from '../../../../src/kernel/conntrack/layouts.js';
import { four, hex, written, zeros } from '../../../support/tables/flowRecords.js';

describe('a filter', () => {
  it('names the fields that it compares', () => {
    const selection = {
      family: 4,
      protocol: 'udp',
      original: { destination: '10.96.0.10', destinationPort: 53 },
      reply: { source: '10.0.0.0/9', sourcePort: 5353 },
    };
    const original = `${zeros(16)}${four('0a60000a')}${'00003500'}`;
    const reply = `${four('0a000000')}${zeros(16)}${'e9140000'}`;
    assert.equal(hex(written(selection, true)), `04110a05${'00200900'}00${zeros(36)}${original}${reply}`);
  });

  it('may look at ports and addresses that are zero', () => {
    const selection = { family: 6, protocol: 6, original: { source: '::', sourcePort: 0 } };
    assert.equal(hex(written(selection, true)), `06060500${'80000000'}00${zeros(108)}`);
  });

  it('may look at a family only, or at nothing, to list', () => {
    assert.equal(hex(written({ family: 6 })), `06${zeros(116)}`);
    assert.equal(hex(written({})), zeros(117));
  });

  it('compares the parts of a kind of ICMP', () => {
    const selection = {
      family: 4,
      protocol: 1,
      original: { icmp: { type: 8, code: 1 } },
      reply: { icmp: { id: 258 } },
    };
    const bytes = written(selection, true);
    assert.ok(typeof bytes !== 'string', String(bytes));
    assert.equal(bytes[FILTER.originalFields], 16 | 32);
    assert.equal(bytes[FILTER.replyFields], 4);
    assert.equal(hex(bytes.subarray(FILTER.original + 32, FILTER.original + 36)), '00000108');
    assert.equal(hex(bytes.subarray(FILTER.reply + 32, FILTER.reply + 36)), '02010000');
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
    const numbers = `${'0201'}${'0000'}${'04000000'}${'06000000'}${'04000000'}${'06800000'}`;
    assert.equal(hex(written(selection, true)), `${zeros(8)}1f${numbers}0102${zeros(13)}80${zeros(72)}`);
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
  for (const [fault, filter] of broken) {
    it(`is refused: ${fault} (${JSON.stringify(filter)})`, () => assert.equal(written(filter, true), fault));
  }
});
