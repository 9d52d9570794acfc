// The time of JavaScript's thread for 10000 operations and 10000 listed values, of each family, over IPv4 and IPv6.
//
//   node dist/test/support/measures/parsing.js
//
// Prints a table, in ms. The addon is not called: records are written, and read from records that are made up.
import { fileURLToPath } from 'node:url';
import { readFlows } from '../../../src/kernel/conntrack/listing.js';
import { PACKING as IPSET } from '../../../src/kernel/ipset/verbs.js';
import { PACKING as IPVS } from '../../../src/kernel/ipvs/verbs.js';
import { parseAddressAsIs } from '../../../src/kernel/net/address.js';
import { readAddress } from '../../../src/kernel/rtnetlink/addresses/codec.js';
import { MessageWriter, messagesOf } from '../../../src/kernel/rtnetlink/message.js';
import { AF } from '../../../src/kernel/rtnetlink/numbers.js';
import { PACKING as RTNETLINK } from '../../../src/kernel/rtnetlink/verbs.js';
import type { RecordPacking } from '../../../src/kernel/shared/batch.js';
import { RecordWriter } from '../../../src/kernel/shared/records/recordWriter.js';
import { listedFlow } from '../tables/flows.js';
import { listed } from '../tables/rtnetlink/messages.js';
import { threadTimes } from './threadTimes.js';

/** Operations of a round. */
const COUNT = 10_000;
const ROUNDS = 30;

/** Something whose time is measured for both families. */
export interface Measured {
  readonly name: string;
  /** A round, over IPv4 or IPv6. */
  round(family: 4 | 6): () => void;
}

const address = (family: 4 | 6, i: number) =>
  family === 4
    ? `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`
    : `fd00:10:96::${(i >> 8).toString(16)}:${(i & 255).toString(16)}`;

const list = <T>(make: (i: number) => T): T[] => Array.from({ length: COUNT }, (_, i) => make(i));

function packing<Operation>(packing_: RecordPacking<Operation>, operations: readonly Operation[]) {
  return () => {
    const writer = new RecordWriter(packing_.recordSize, operations.length);
    for (const operation of operations) {
      packing_.write(operation, writer);
      const fault = writer.finish();
      if (fault) throw new Error(`${fault.field} ${fault.rule}`);
    }
    writer.records();
  };
}

function parsing(
  name: string,
  read: (listing: Uint8Array) => Iterable<unknown>,
  write: (family: 4 | 6, i: number) => Uint8Array,
): Measured {
  return {
    name,
    round(family) {
      const listing = Buffer.concat(list((i) => write(family, i)));
      return () => {
        let count = 0;
        for (const value of read(listing)) count += value === undefined ? 0 : 1;
        if (count !== COUNT) throw new Error(`${name}: ${count} values`);
      };
    },
  };
}

/** An address as the kernel lists it: RTM_NEWADDR. */
function listedAddress(family: 4 | 6, i: number): Uint8Array {
  const bytes = parseAddressAsIs(address(family, i)) ?? new Uint8Array();
  const writer = new MessageWriter(20, 0);
  writer
    .u8(AF[family])
    .u8(8 * bytes.length)
    .u8(0x80)
    .u8(0)
    .u32(0);
  writer.attribute(1, () => writer.bytes(bytes)); // IFA_ADDRESS
  if (family === 4) writer.attribute(2, () => writer.bytes(bytes)); // IFA_LOCAL
  if (family === 4) writer.attribute(3, () => writer.bytes(Buffer.from('kube-ipvs0\0'))); // IFA_LABEL
  writer.attribute(8, () => writer.u32(0x80)); // IFA_FLAGS
  writer.attribute(6, () => writer.u32(0xffff_ffff).u32(0xffff_ffff).u32(1).u32(1)); // IFA_CACHEINFO
  return listed(writer);
}

function* readAddresses(listing: Uint8Array): Generator<unknown, void> {
  const links = new Map([[0, 'kube-ipvs0']]);
  for (const message of messagesOf(listing, 'rtnetlink.listAddresses')) yield readAddress(message, links);
}

/** What is measured. */
export const MEASURED: readonly Measured[] = [
  {
    name: 'ipvs: pack addRealServer',
    round: (family) =>
      packing(
        IPVS,
        list((i) => ({
          do: 'addRealServer' as const,
          service: { protocol: 'tcp' as const, address: address(family, 1), port: 80 },
          realServer: { address: address(family, i), port: 8080, weight: 1 },
        })),
      ),
  },
  {
    name: 'ipset: pack add',
    round: (family) => {
      const set = { name: 'knp', type: 'hash:ip,port' as const, family };
      const entry = (i: number) => ({ address: address(family, i), protocol: 'tcp' as const, port: 80 });
      return packing(
        IPSET,
        list((i) => ({ do: 'add' as const, set, entry: entry(i) })),
      );
    },
  },
  {
    name: 'rtnetlink: pack addAddress',
    round: (family) =>
      packing(
        RTNETLINK,
        list((i) => ({
          do: 'addAddress' as const,
          address: { link: 'kube-ipvs0', address: address(family, i), prefix: family === 4 ? 32 : 128 },
        })),
      ),
  },
  parsing('rtnetlink: parse addresses', readAddresses, listedAddress),
  parsing(
    'conntrack: parse flows',
    (listing) => readFlows([listing], 'conntrack.list'),
    (family, id) => listedFlow({ family, id, source: address(family, id), destination: address(family, 1) }),
  ),
];

/** The fastest round of each family, in ms: that which other processes disturbed least. The rounds alternate. */
export function measure(measured: Measured): { readonly ipv4: number; readonly ipv6: number } {
  const rounds = { ipv4: measured.round(4), ipv6: measured.round(6) };
  const times: { ipv4: number[]; ipv6: number[] } = { ipv4: [], ipv6: [] };
  for (let i = 0; i < ROUNDS; i++) {
    for (const family of ['ipv4', 'ipv6'] as const) {
      const started = threadTimes().ran;
      rounds[family]();
      times[family].push(threadTimes().ran - started);
    }
  }
  return { ipv4: Math.min(...times.ipv4), ipv6: Math.min(...times.ipv6) };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  console.log(`ms for ${COUNT}:`);
  for (const measured of MEASURED) {
    const { ipv4, ipv6 } = measure(measured);
    console.log(
      `${measured.name}: IPv4 ${ipv4.toFixed(1)}, IPv6 ${ipv6.toFixed(1)}, ratio ${(ipv6 / ipv4).toFixed(2)}`,
    );
  }
}
