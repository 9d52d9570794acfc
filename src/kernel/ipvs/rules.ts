// The text of ipvsadm 1.31, as `ipvsadm -S -n` prints it and `ipvsadm -R` reads it → operations.
import { readFileSync } from 'node:fs';
import { canonicalAddressAsIs } from '../net/address.js';
import type { Protocol } from '../net/protocol.js';
import { checkCallOptions, checkObject, describeInvalid } from '../shared/arguments.js';
import {
  checkText,
  checkTextInput,
  linesIn,
  readLines,
  type TextInput,
} from '../shared/programs/textLines.js';
import { RecordWriter } from '../shared/records/recordWriter.js';
import type { CallOptions } from '../shared/types.js';
import { dottedMask } from './formatRules.js';
import { OPERATION } from './layouts.js';
import { writeOperation } from './operations.js';
import { checkParsing, type RulesOptions } from './ruleArguments.js';
import { type Command, InvalidLine, type Rule, readRule, type Values } from './ruleOptions.js';
import {
  type EncapsulationInput,
  FLUSH_CONFIRMATION,
  type ForwardingMethod,
  type IpvsOperation,
  type RealServerIdInput,
  type RealServerInput,
  type SchedulerFlag,
  type SyncDaemonInput,
  type SyncDaemonState,
  type VirtualServiceId,
  type VirtualServiceInput,
} from './types.js';

export type { RulesOptions } from './ruleArguments.js';

/** Lines of rules that cannot be read. `problems` has all of them, in their order; the message has the first. */
export class RulesError extends Error {
  override readonly name = 'RulesError';
  readonly problems: readonly { readonly line: number; readonly text: string; readonly rule: string }[];

  constructor(problems: RulesError['problems']) {
    const [first] = problems;
    const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : '';
    super(`line ${first?.line}: ${first?.rule}${more}`);
    this.problems = problems;
  }
}

/**
 * The operations of rules, in their order: of the text of `ipvsadm -S`, with or without `-n`, and of every line for `ipvsadm -R`
 * that changes IPVS. Empty lines are skipped. Hosts must be addresses: names are not resolved. Names of ports are. As in
 * ipvsadm, a real server has the port of its virtual service unless it is masqueraded. Operations on real servers of one service that
 * follow one another have the same object as `service`.
 *
 * Throws a RulesError with the number of each line that cannot be read, or would break a rule of {@link Ipvs.apply}.
 *
 * It blocks the event loop for several ms for each 1000 lines: {@link parseRulesAsync} is for long texts.
 */
export function parseRules(text: string, options: RulesOptions = {}): IpvsOperation[] {
  const operation = 'ipvs.parseRules';
  checkText(text, operation);
  checkParsing(options, operation);
  const reader = new RulesReader(options);
  for (const line of linesIn(text)) reader.readLine(line);
  return reader.end();
}

/**
 * As {@link parseRules}, in time slices of 2 ms, between which other callbacks of the event loop run. The text may come in pieces.
 * Rejects with a RulesError, or with the reason of an aborted `options.signal`.
 */
export async function parseRulesAsync(
  text: TextInput,
  options: RulesOptions & CallOptions = {},
): Promise<IpvsOperation[]> {
  const operation = 'ipvs.parseRulesAsync';
  checkTextInput(text, operation);
  const { signal, ...parsing } = checkObject(operation, 'options', options);
  checkCallOptions(operation, { signal });
  checkParsing(parsing, operation);
  signal?.throwIfAborted();
  const reader = new RulesReader(parsing);
  const read = (line: string) => {
    reader.readLine(line);
    return undefined;
  };
  await readLines(text, read, operation, signal);
  return reader.end();
}

/** Reads lines one after another. */
class RulesReader {
  readonly #portNumber: PortNumber;
  /** The virtual service of the last line of a real server, by its option: such lines follow one another. */
  readonly #last: LastService = { option: '', id: undefined };
  readonly #operations: IpvsOperation[] = [];
  readonly #problems: { line: number; text: string; rule: string }[] = [];
  readonly #writer = new RecordWriter(OPERATION.SIZE, 1);
  #line = 0;

  constructor({ portNumber = servicesFile() }: RulesOptions) {
    this.#portNumber = portNumber;
  }

  readLine(text: string): void {
    const line = ++this.#line;
    if (text.trim() === '') return;
    try {
      const operation = operationOf(readRule(text), this.#portNumber, this.#last);
      writeOperation(operation, this.#writer);
      const invalid = this.#writer.finish();
      if (invalid) throw new InvalidLine(describeInvalid(invalid));
      this.#writer.reset();
      this.#operations.push(operation);
    } catch (error) {
      if (!(error instanceof InvalidLine)) throw error;
      this.#problems.push({ line, text, rule: error.message });
    }
  }

  /** The operations; throws if there are problems. */
  end(): IpvsOperation[] {
    if (this.#problems.length > 0) throw new RulesError(this.#problems);
    return this.#operations;
  }
}

type PortNumber = NonNullable<RulesOptions['portNumber']>;

/** A virtual service, and the option that named it: empty if there is none. */
interface LastService {
  option: string;
  id: VirtualServiceId | undefined;
}

const VERBS = {
  'add-service': 'addService',
  'edit-service': 'updateService',
  'add-server': 'addRealServer',
  'edit-server': 'updateRealServer',
} as const;

function operationOf(
  { command, values, rest }: Rule,
  portNumber: PortNumber,
  last: LastService,
): IpvsOperation {
  switch (command) {
    case 'add-service':
    case 'edit-service':
      return { do: VERBS[command], service: readService(command, values, portNumber) };
    case 'delete-service':
      return { do: 'deleteService', service: readId(command, values, portNumber) };
    case 'add-server':
    case 'edit-server':
      return {
        do: VERBS[command],
        service: readServiceOf(command, values, portNumber, last),
        realServer: readServer(values, portNumber),
      };
    case 'delete-server':
      return {
        do: 'deleteRealServer',
        service: readServiceOf(command, values, portNumber, last),
        realServer: readServerId(values, portNumber),
      };
    case 'clear':
      return { do: 'flush', confirm: FLUSH_CONFIRMATION };
    case 'zero':
      return values.size === 1
        ? { do: 'zero' }
        : { do: 'zero', service: readId(command, values, portNumber) };
    case 'set': {
      const [tcp, tcpFin, udp] = rest.map((text) => readNumber('--set', text));
      if (rest.length !== 3) throw new InvalidLine('--set needs three timeouts: tcp tcpfin udp');
      return { do: 'setTimeouts', timeouts: { tcp, tcpFin, udp } };
    }
    case 'start-daemon':
      return { do: 'startDaemon', daemon: readDaemon(values) };
    case 'stop-daemon':
      return { do: 'stopDaemon', state: values.get(command) as SyncDaemonState };
  }
}

const KINDS = ['tcp', 'udp', 'sctp', 'fwmark'] as const;
/** The options that name a virtual service. */
const SERVICE_OPTIONS = [...KINDS.map((kind) => `${kind}-service`), 'ipv6'];

function readId(command: Command, values: Values, portNumber: PortNumber): VirtualServiceId {
  const given = KINDS.filter((kind) => values.has(`${kind}-service`));
  const [kind] = given;
  if (kind === undefined || given.length > 1) {
    throw new InvalidLine(`--${command} needs one of -t, -u, --sctp-service and -f`);
  }
  const text = values.get(`${kind}-service`) ?? '';
  if (kind === 'fwmark') {
    // `ipvsadm -S` prints large marks as negative numbers, which `ipvsadm -R` refuses.
    const mark = /^-\d+$/.test(text) ? Number(text) >>> 0 : readNumber('-f', text);
    return { firewallMark: mark, family: values.has('ipv6') ? 6 : 4 };
  }
  if (values.has('ipv6')) throw new InvalidLine('--ipv6 is for -f only');
  const { address, port = 0 } = readEndpoint(text, kind, portNumber);
  return { address, port, protocol: kind };
}

/**
 * The virtual service of a real server. Real servers of one service that follow one another have the same object: the collections
 * of garbage that copy an object and an address for each of many lines block the event loop.
 */
function readServiceOf(
  command: Command,
  values: Values,
  portNumber: PortNumber,
  last: LastService,
): VirtualServiceId {
  const option = SERVICE_OPTIONS.map((name) => `${name} ${values.get(name)}`).join();
  if (last.id === undefined || option !== last.option) {
    last.id = readId(command, values, portNumber);
    last.option = option;
  }
  return last.id;
}

function readService(command: Command, values: Values, portNumber: PortNumber): VirtualServiceInput {
  const id = readId(command, values, portNumber);
  const timeout = values.get('persistent');
  const netmask = values.get('netmask');
  return {
    ...id,
    scheduler: values.get('scheduler'),
    schedulerFlags: values.get('sched-flags')?.split(',') as SchedulerFlag[] | undefined,
    onePacket: values.has('ops'),
    // As in ipvsadm, a netmask without persistence has no effect.
    persistence:
      timeout === undefined
        ? undefined
        : {
            timeout: timeout === '' ? undefined : readNumber('-p', timeout),
            netmask: netmask === undefined ? undefined : readNetmask(netmask),
          },
    persistenceEngine: values.get('pe'),
  };
}

function readServerId(values: Values, portNumber: PortNumber): RealServerIdInput {
  const text = values.get('real-server');
  if (text === undefined) throw new InvalidLine('needs a real server, -r');
  return readEndpoint(text, 'tcp', portNumber);
}

function readServer(values: Values, portNumber: PortNumber): RealServerInput {
  const methods = (
    [
      ['gatewaying', 'route'],
      ['ipip', 'tunnel'],
      ['masquerading', 'masquerade'],
    ] as const
  ).filter(([option]) => values.has(option));
  if (methods.length > 1) throw new InvalidLine('has more than one of -g, -i and -m');
  const forwarding: ForwardingMethod = methods[0]?.[1] ?? 'route';
  const { address, port } = readServerId(values, portNumber);
  return {
    address,
    port: forwarding === 'masquerade' ? port : undefined,
    forwarding,
    weight: optionalNumber(values, 'weight'),
    upperThreshold: optionalNumber(values, 'u-threshold'),
    lowerThreshold: optionalNumber(values, 'l-threshold'),
    encapsulation: readEncapsulation(values),
  };
}

function readEncapsulation(values: Values): EncapsulationInput | undefined {
  const checksums = (
    [
      ['tun-nocsum', 'none'],
      ['tun-csum', 'full'],
      ['tun-remcsum', 'remote'],
    ] as const
  ).filter(([option]) => values.has(option));
  if (checksums.length > 1)
    throw new InvalidLine('has more than one of --tun-nocsum, --tun-csum and --tun-remcsum');
  const type = values.get('tun-type');
  const port = optionalNumber(values, 'tun-port');
  const checksum = checksums[0]?.[1];
  if (type === undefined && port === undefined && checksum === undefined) return undefined;
  // The rules for each type are those of operations: fields that are not of the type are refused there.
  return {
    type: type ?? 'ipip',
    ...(port !== undefined && { port }),
    ...(checksum !== undefined && { checksum }),
  } as EncapsulationInput;
}

function readDaemon(values: Values): SyncDaemonInput {
  const name = values.get('mcast-interface');
  if (name === undefined) throw new InvalidLine('--start-daemon needs an interface, --mcast-interface');
  return {
    state: values.get('start-daemon') as SyncDaemonState,
    interface: name,
    syncId: optionalNumber(values, 'syncid'),
    maxLength: optionalNumber(values, 'sync-maxlen'),
    group: values.get('mcast-group'),
    port: optionalNumber(values, 'mcast-port'),
    ttl: optionalNumber(values, 'mcast-ttl'),
  };
}

function optionalNumber(values: Values, option: string): number | undefined {
  const text = values.get(option);
  return text === undefined ? undefined : readNumber(`--${option}`, text);
}

function readNumber(option: string, text: string): number {
  if (!/^\d+$/.test(text)) throw new InvalidLine(`${option} must be a number, found ${text}`);
  return Number(text);
}

/** A prefix length: of a mask (`255.255.255.0`), or the number that IPv6 has. */
function readNetmask(text: string): number {
  if (!text.includes('.')) return readNumber('-M', text);
  const prefix = Array.from({ length: 33 }, (_, length) => length).find((length) => {
    return length > 0 && dottedMask(length) === text;
  });
  if (prefix === undefined) throw new InvalidLine(`-M must be the mask of a prefix, found ${text}`);
  return prefix;
}

/** `10.0.0.1:80`, `10.0.0.1:http`, `[fd00::1]:80`, and each without a port. */
function readEndpoint(text: string, protocol: Protocol, portNumber: PortNumber): RealServerIdInput {
  const [, six, four, name] = /^(?:\[([^\]]*)\]|([^:]*))(?::([^:]+))?$/.exec(text) ?? [];
  const host = six ?? four ?? text; // `fd00::1` has no port
  const address = canonicalAddressAsIs(host);
  if (address === undefined)
    throw new InvalidLine(`${host} is not an address: names of hosts are not resolved`);
  if (name === undefined) return { address };
  if (/^\d+$/.test(name)) return { address, port: Number(name) };
  const port = portNumber(name, protocol);
  if (port === undefined) throw new InvalidLine(`${name} is not a ${protocol} port of /etc/services`);
  return { address, port };
}

/** Finds ports in /etc/services, which is read when the first name is met. */
function servicesFile(): PortNumber {
  let ports: ReadonlyMap<string, number> | undefined;
  return (name, protocol) => {
    ports ??= readServices(readFileSync('/etc/services', 'latin1'));
    return ports.get(`${name}/${protocol}`);
  };
}

/** Ports by `name/protocol` in the text of services(5): names, aliases, comments. */
function readServices(text: string): Map<string, number> {
  const ports = new Map<string, number>();
  for (const line of text.split('\n')) {
    const [name, place = '', ...aliases] = line.replace(/#.*/, '').trim().split(/\s+/);
    const [, port, protocol] = /^(\d+)\/(\w+)$/.exec(place) ?? [];
    if (protocol === undefined) continue;
    for (const each of [name, ...aliases]) {
      const key = `${each}/${protocol}`;
      if (!ports.has(key)) ports.set(key, Number(port));
    }
  }
  return ports;
}
