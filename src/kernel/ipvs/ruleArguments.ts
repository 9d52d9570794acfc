// Arguments of the functions that read and write ipvsadm's text: what breaks a rule, or has no option, is refused, not printed.
import { joinHostPort } from '../net/address.js';
import type { Protocol } from '../net/protocol.js';
import {
  argumentError,
  checkArray,
  checkObject,
  findUnknown,
  hasFields,
  type InvalidValue,
} from '../shared/arguments.js';
import { isAsyncIterable, isIterable } from '../shared/programs/textLines.js';
import { RecordWriter } from '../shared/records/recordWriter.js';
import { OPERATION } from './layouts.js';
import { nameService } from './names.js';
import { writeOperation } from './operations.js';
import type { IpvsOperation, RealServer, VirtualService } from './types.js';

/** Options of {@link parseRules}. */
export interface RulesOptions {
  /** The number of a port with a name, of which there is none when it is undefined. Default: that of /etc/services. */
  readonly portNumber?: ((name: string, protocol: Protocol) => number | undefined) | undefined;
}

const RULES_OPTIONS: ReadonlySet<string> = new Set(['portNumber']);
/** The fields that every listed object has. */
const OF_SERVICE = ['scheduler', 'schedulerFlags', 'onePacket'] as const;
const OF_PERSISTENCE = ['timeout', 'netmask'] as const;
const OF_SERVER = ['port', 'weight', 'forwarding', 'upperThreshold', 'lowerThreshold'] as const;

/** Throws the error of a call that reads a text with these options. */
export function checkParsing(options: RulesOptions, operation: string): void {
  const refuse = (field: string, value: unknown, rule: string) => {
    throw argumentError(operation, { field, value, rule, wrongType: true });
  };
  checkObject(operation, 'options', options);
  const unknown = findUnknown(options, RULES_OPTIONS);
  if (unknown) throw argumentError(operation, unknown);
  const { portNumber } = options;
  if (portNumber !== undefined && typeof portNumber !== 'function') {
    refuse('portNumber', portNumber, 'must be a function');
  }
}

/** Checks virtual services that are written, one after another. */
export class RuleChecker {
  readonly #operation: string;
  readonly #writer = new RecordWriter(OPERATION.SIZE, 1);

  /**
   * @param operation the call, in errors
   * @param isListed whether the services may also be asynchronous, as a listing is
   */
  constructor(services: unknown, operation: string, isListed = false) {
    this.#operation = operation;
    if (isIterable(services) || (isListed && isAsyncIterable(services))) return;
    const rule = 'must be an iterable of virtual services';
    throw this.#error({ field: 'services', value: services, rule, wrongType: true });
  }

  /** Throws the error of a service, with its real servers, that breaks a rule or that ipvsadm has no text for. */
  service(service: VirtualService & { readonly realServers?: readonly RealServer[] }): void {
    checkObject(this.#operation, 'services', service);
    const { realServers, persistence } = service;
    if (realServers !== undefined) checkArray(this.#operation, 'realServers', realServers);
    if (persistence?.netmask === 0) {
      throw new RangeError(`${nameService(service)}: its netmask is not a prefix`);
    }
    this.#given('service', service, OF_SERVICE);
    if (hasFields(persistence)) this.#given('service.persistence', persistence, OF_PERSISTENCE);
    this.#check({ do: 'updateService', service });
    if ('protocol' in service && typeof service.protocol === 'number' && !('firewallMark' in service)) {
      throw new RangeError(`${nameService(service)}: ipvsadm has no option for its protocol`);
    }
    for (const server of realServers ?? []) this.#server(service, server);
  }

  #server(service: VirtualService, server: RealServer): void {
    checkObject(this.#operation, 'realServers', server);
    const { forwarding, encapsulation } = server;
    if (forwarding === 'other') throw this.#without('forwarding method', service, server);
    this.#given('realServer', server, OF_SERVER);
    if (encapsulation?.type === 'gue' || encapsulation?.type === 'gre') {
      this.#given('realServer.encapsulation', encapsulation, ['checksum']);
    }
    this.#check({ do: 'addRealServer', service, realServer: server } as IpvsOperation);
    if (typeof encapsulation?.type === 'number') throw this.#without('encapsulation', service, server);
  }

  #without(what: string, service: VirtualService, { address, port }: RealServer): RangeError {
    const name = `${nameService(service)} -> ${joinHostPort(String(address), String(port))}`;
    return new RangeError(`${name}: ipvsadm has no option for its ${what}`);
  }

  /** A field that operations have a default for, and every listed object. */
  #given<T extends object>(path: string, object: T, fields: readonly (keyof T & string)[]): void {
    const field = fields.find((each) => object[each] === undefined);
    if (field === undefined) return;
    throw this.#error({
      field: `${path}.${field}`,
      value: undefined,
      rule: 'must be given',
      wrongType: true,
    });
  }

  #check(operation: IpvsOperation): void {
    writeOperation(operation, this.#writer);
    const invalid = this.#writer.finish();
    this.#writer.reset();
    if (invalid) throw this.#error(invalid);
  }

  #error(invalid: InvalidValue): TypeError | RangeError {
    return argumentError(this.#operation, invalid);
  }
}
