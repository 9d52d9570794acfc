// The networks of which a Service may have external and load-balancer IPs. Whoever may write Services may take any other address of the
// cluster's clients (CVE-2020-8554).
import type { Problem } from '../../kernel/errors.js';
import { parseAddress } from '../../kernel/net/address.js';
import { networkContainsBytes } from '../../kernel/net/network.js';
import { type AddressRange, type AddressRanges, rangeOf } from '../input/addressRanges.js';
import type { Service } from '../objects/types.js';
import { aboutOf } from './settings/read.js';

type Field = keyof AddressRanges;

const FIELDS: readonly { readonly name: Field; readonly path: string; readonly flag: string }[] = [
  { name: 'externalIPs', path: 'spec.externalIPs', flag: '--service-external-ip-range' },
  { name: 'loadBalancerIPs', path: 'status.loadBalancer.ingress', flag: '--loadbalancer-ip-range' },
];

const NOTHING: readonly Problem[] = [];

/** Number of refused addresses of a field that are listed; of more, their number. */
const MOST_LISTED = 20;

/** Takes from Services the addresses that they may not have. */
export class AllowedAddresses {
  readonly #ranges: ReadonlyMap<Field, readonly AddressRange[]>;
  /** By Service without refused addresses. */
  readonly #problems = new WeakMap<Service, readonly Problem[]>();

  constructor(ranges: AddressRanges) {
    const bound = FIELDS.flatMap(({ name }) => {
      const texts = ranges[name];
      return texts ? [[name, texts.flatMap((text) => rangeOf(text) ?? [])] as const] : [];
    });
    this.#ranges = new Map(bound);
  }

  /** The Service with the addresses that it may have; the same object if it may have all. */
  allowed(service: Service): Service {
    let allowed = service;
    const problems: Problem[] = [];
    for (const { name, path, flag } of FIELDS) {
      const isAllowed = service[name].length > 0 ? this.#test(service, name) : undefined;
      if (!isAllowed) continue;
      const kept: string[] = [];
      const refused: string[] = [];
      for (const address of service[name]) (isAllowed(address) ? kept : refused).push(address);
      if (refused.length === 0) continue;
      allowed = { ...allowed, [name]: kept };
      problems.push(...problemsOf(service, path, refused, flag));
    }
    if (allowed !== service) this.#problems.set(allowed, problems);
    return allowed;
  }

  /** The problems of the addresses that were taken from a Service. */
  problems(service: Service): readonly Problem[] {
    return this.#problems.get(service) ?? NOTHING;
  }

  /** Undefined: all addresses of the field are allowed. */
  #test({ namespace }: Service, field: Field): ((address: string) => boolean) | undefined {
    const ranges = this.#ranges
      .get(field)
      ?.filter((range) => range.namespace === undefined || range.namespace === namespace);
    if (!ranges) return undefined;
    return (address) => {
      const bytes = parseAddress(address);
      return bytes !== undefined && ranges.some(({ network }) => networkContainsBytes(network, bytes));
    };
  }
}

function problemsOf(service: Service, field: string, refused: readonly string[], flag: string): Problem[] {
  const about = { ...aboutOf('v1', service), field };
  const rule = `must be in a range of ${flag} for namespace ${service.namespace}`;
  const problems: Problem[] = refused
    .slice(0, MOST_LISTED)
    .map((value): Problem => ({ ...about, value, rule }));
  const more = refused.length - problems.length;
  if (more > 0) problems.push({ ...about, rule: `${rule}: ${more} more addresses are not` });
  return problems;
}
