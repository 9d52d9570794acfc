// The connection table as text (/proc/net/ip_vs_conn, `ip_vs_conn_seq_show` of net/netfilter/ipvs/ip_vs_conn.c) → connections.
import { excerpt } from '../errors.js';
import { canonicalAddressAsIs, formatAddress } from '../net/address.js';
import {
  argumentError,
  findUnknown,
  hasFields,
  type InvalidValue,
  invalidInteger,
  invalidObject,
} from '../shared/arguments.js';
import { toNetlinkError } from '../shared/failures.js';
import type { Listing } from '../shared/types.js';
import { TimeSlice } from '../timeSlice.js';
import { CONNECTIONS } from './names.js';
import type { ConnectionFilter, Endpoint, EndpointFilter, IpvsConnection } from './types.js';

/** Whether a filter selects a connection. */
export type Matches = (connection: IpvsConnection) => boolean;

/** The connections of which `read` yields the text in pieces, cut anywhere. */
export class ConnectionListing implements Listing<IpvsConnection> {
  readonly #read: () => AsyncGenerator<Uint8Array, void, undefined>;
  readonly #matches: Matches;

  constructor(read: () => AsyncGenerator<Uint8Array, void, undefined>, matches: Matches) {
    this.#read = read;
    this.#matches = matches;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<IpvsConnection, void, undefined> {
    for await (const some of this.#pieces()) yield* some;
  }

  async toArray(): Promise<IpvsConnection[]> {
    const all: IpvsConnection[] = [];
    for await (const some of this.#pieces()) for (const connection of some) all.push(connection);
    return all;
  }

  /** The connections of each piece that the filter selects. */
  async *#pieces(): AsyncGenerator<IpvsConnection[], void, undefined> {
    const slice = new TimeSlice();
    let rest = '';
    let header = true;
    for await (const piece of this.#read()) {
      // latin1: the data of a persistence engine may be any bytes.
      const lines = (rest + Buffer.from(piece).toString('latin1')).split('\n');
      rest = lines.pop() ?? '';
      if (header && lines.length > 0) {
        lines.shift();
        header = false;
      }
      const some: IpvsConnection[] = [];
      for (const line of lines) {
        if (slice.spend(1)) await slice.yield();
        const connection = parseConnection(line);
        if (this.#matches(connection)) some.push(connection);
      }
      yield some;
    }
  }
}

/** `Pro FromIP FPrt ToIP TPrt DestIP DPrt State Expires [PEName PEData]`; throws a NetlinkError `ERR_MALFORMED_REPLY` for any other line. */
export function parseConnection(line: string): IpvsConnection {
  // The state has at most 11 letters and the number at least one blank before it; the data of an engine may have blanks.
  const fields = /^(\S+) +(\S+) (\S+) (\S+) (\S+) (\S+) (\S+) (\S+) +(\d+)(?: (\S+) ?(.*))?$/.exec(line);
  const [, protocol, ...texts] = fields ?? [];
  const [client, virtual, destination] = [0, 2, 4].map((i) => readEndpoint(texts[i], texts[i + 1]));
  const [state, expires, name, data = ''] = texts.slice(6);
  if (!protocol || !client || !virtual || !destination || state === undefined) {
    const message = `a connection has an unknown form: ${excerpt(line)}`;
    throw toNetlinkError({ errno: 0, code: 'ERR_MALFORMED_REPLY', message }, CONNECTIONS);
  }
  return {
    protocol: protocol.toLowerCase(),
    // Every other connection has a port, or a state of its protocol (FTP's data connections: LISTEN).
    template: client.port === 0 && (state === 'NONE' || state === 'ASSURED'),
    client,
    virtual,
    destination,
    state,
    expires: Number(expires),
    ...(name !== undefined && { persistenceEngine: { name, data } }),
  };
}

/** Addresses are 8 hexadecimal digits, or IPv6's 8 groups, in newer kernels without zeros and in brackets. */
function readEndpoint(address: string | undefined, port: string | undefined): Endpoint | undefined {
  if (address === undefined || port === undefined || !/^[0-9A-F]{4}$/i.test(port)) return undefined;
  const number = Number.parseInt(port, 16);
  if (/^[0-9A-F]{8}$/i.test(address)) {
    return { address: formatAddress(Buffer.from(address, 'hex')), port: number };
  }
  const canonical = canonicalAddressAsIs(address.replace(/^\[(.*)\]$/, '$1'));
  return canonical === undefined ? undefined : { address: canonical, port: number };
}

const FILTER_FIELDS = new Set(['protocol', 'template', 'client', 'virtual', 'destination', 'state']);
const ENDPOINT_FIELDS = new Set(['address', 'port']);
const ENDPOINTS = ['client', 'virtual', 'destination'] as const;

/** The function of a filter; throws the error of the call when it is invalid. */
export function packFilter(filter: ConnectionFilter, operation: string): Matches {
  const invalid = findInvalidFilter(filter);
  if (invalid) throw argumentError(operation, invalid);
  const endpoints = ENDPOINTS.flatMap((field) => {
    const { address, port } = filter[field] ?? {};
    return [{ field, address: address === undefined ? undefined : canonicalAddressAsIs(address), port }];
  });
  return (connection) =>
    agrees(filter.protocol, connection.protocol) &&
    agrees(filter.template, connection.template) &&
    agrees(filter.state, connection.state) &&
    endpoints.every(
      ({ field, address, port }) =>
        agrees(address, connection[field].address) && agrees(port, connection[field].port),
    );
}

function agrees<T>(wanted: T | undefined, value: T): boolean {
  return wanted === undefined || wanted === value;
}

function findInvalidFilter(filter: ConnectionFilter): InvalidValue | undefined {
  const invalid = invalidObject('filter', filter);
  if (invalid) return invalid;
  const unknown = findUnknown(filter, FILTER_FIELDS);
  if (unknown) return { ...unknown, rule: 'is not a field of a filter' };
  for (const field of ['protocol', 'state'] as const) {
    const value: unknown = filter[field];
    if (value !== undefined && (typeof value !== 'string' || !/^[^\0]+$/.test(value))) {
      return { field, value, rule: 'must be a name', wrongType: typeof value !== 'string' };
    }
  }
  const { template } = filter;
  if (template !== undefined && typeof template !== 'boolean') {
    return wrongType('template', template, 'must be true or false');
  }
  for (const field of ENDPOINTS) {
    const invalid = filter[field] !== undefined && findInvalidEndpoint(field, filter[field]);
    if (invalid) return invalid;
  }
  return undefined;
}

function findInvalidEndpoint(path: string, endpoint: EndpointFilter | undefined): InvalidValue | undefined {
  if (!hasFields(endpoint)) return invalidObject(path, endpoint);
  const unknown = findUnknown(endpoint, ENDPOINT_FIELDS);
  if (unknown)
    return { ...unknown, field: `${path}.${unknown.field}`, rule: 'is not a field of an endpoint' };
  const { address, port } = endpoint;
  if (address !== undefined && (typeof address !== 'string' || canonicalAddressAsIs(address) === undefined)) {
    const rule = 'must be an IPv4 or IPv6 address';
    return { field: `${path}.address`, value: address, rule, wrongType: typeof address !== 'string' };
  }
  return port === undefined ? undefined : invalidInteger(`${path}.port`, port, 0, 65535);
}

function wrongType(field: string, value: unknown, rule: string): InvalidValue {
  return { field, value, rule, wrongType: true };
}
