// The networks of which a Service may have external and load-balancer IPs. Whoever may write Services may take any other address of the
// cluster's clients (CVE-2020-8554).
import type { Problem } from '../../kernel/errors.js';
import { parseAddress } from '../../kernel/net/address.js';
import { networkContainsBytes } from '../../kernel/net/network.js';
import { type AddressRange, type AddressRanges, rangeOf } from '../input/addressRanges.js';
import type { Service } from '../objects/types.js';
import { aboutOf } from './settings/read.js';

type Field = keyof AddressRanges;

/** A rule that takes addresses from Services, and the reason that is told. */
interface AddressRule {
  readonly field: Field;
  readonly path: string;
  /** What decides: a feature gate, which takes all addresses without a problem, as in kube-proxy, or the flag of ranges. */
  readonly by: { readonly gate: string } | { readonly flag: string };
}

/** The rules, in the order in which they are asked. */
const RULES: readonly AddressRule[] = [
  { field: 'externalIPs', path: 'spec.externalIPs', by: { gate: 'AllowServiceExternalIPs' } },
  { field: 'externalIPs', path: 'spec.externalIPs', by: { flag: '--service-external-ip-range' } },
  {
    field: 'loadBalancerIPs',
    path: 'status.loadBalancer.ingress',
    by: { flag: '--loadbalancer-ip-range' },
  },
];

const NOTHING: readonly Problem[] = [];

/** Number of refused addresses of a field that are listed; of more, their number. */
const MOST_LISTED = 20;

/** Takes from Services the addresses that they may not have. */
export class AllowedAddresses {
  readonly #ranges: ReadonlyMap<Field, readonly AddressRange[]>;
  readonly #servesExternalIPs: boolean;
  /** By Service without refused addresses: all of them, and those that are a problem. */
  readonly #refused = new WeakMap<
    Service,
    { readonly all: readonly Problem[]; readonly problems: readonly Problem[] }
  >();

  /** @param servesExternalIPs the gate AllowServiceExternalIPs */
  constructor(ranges: AddressRanges, servesExternalIPs = true) {
    const bound = (['externalIPs', 'loadBalancerIPs'] as const).flatMap((name) => {
      const texts = ranges[name];
      return texts ? [[name, texts.flatMap((text) => rangeOf(text) ?? [])] as const] : [];
    });
    this.#ranges = new Map(bound);
    this.#servesExternalIPs = servesExternalIPs;
  }

  /** The Service with the addresses that it may have; the same object if it may have all. */
  allowed(service: Service): Service {
    let allowed = service;
    const all: Problem[] = [];
    const problems: Problem[] = [];
    for (const rule of RULES) {
      const { field } = rule;
      const isAllowed = allowed[field].length > 0 ? this.#test(service, rule) : undefined;
      if (!isAllowed) continue;
      const kept: string[] = [];
      const refused: string[] = [];
      for (const address of allowed[field]) (isAllowed(address) ? kept : refused).push(address);
      if (refused.length === 0) continue;
      allowed = { ...allowed, [field]: kept };
      const found = problemsOf(service, rule, refused);
      all.push(...found);
      if ('flag' in rule.by) problems.push(...found);
    }
    if (allowed !== service) this.#refused.set(allowed, { all, problems });
    return allowed;
  }

  /** The problems of the addresses that were taken from a Service. */
  problems(service: Service): readonly Problem[] {
    return this.#refused.get(service)?.problems ?? NOTHING;
  }

  /** The addresses that were taken from a Service, with their reasons, those of the gate included. */
  refused(service: Service): readonly Problem[] {
    return this.#refused.get(service)?.all ?? NOTHING;
  }

  /** Undefined: the rule allows all addresses of its field. */
  #test({ namespace }: Service, { field, by }: AddressRule): ((address: string) => boolean) | undefined {
    if ('gate' in by) return this.#servesExternalIPs ? undefined : () => false;
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

function problemsOf(
  service: Service,
  { path: field, by }: AddressRule,
  refused: readonly string[],
): Problem[] {
  const about = { ...aboutOf('v1', service), field };
  const rule =
    'gate' in by
      ? `is not served: the feature gate ${by.gate} is off`
      : `must be in a range of ${by.flag} for namespace ${service.namespace}`;
  const problems: Problem[] = refused
    .slice(0, MOST_LISTED)
    .map((value): Problem => ({ ...about, value, rule }));
  const more = refused.length - problems.length;
  if (more > 0) problems.push({ ...about, rule: `${rule}: ${more} more addresses are not` });
  return problems;
}
