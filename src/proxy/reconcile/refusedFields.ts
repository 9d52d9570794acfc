// Finds the fields of objects that lead to an operation that the kernel refused. The Service is planned again without each of them.
import type { NetlinkError } from '../../kernel/errors.js';
import type { KeyedOperation, Mode } from '../modes/mode.js';
import {
  endpointFields,
  type InputField,
  serviceFields,
  withOtherEndpoint,
} from '../services/inputFields.js';
import type { ServicePlanInput } from '../services/types.js';
import type { Inputs } from './inputs.js';

/** The fields of each error, by Service. All items of a Service may fail with the same error. */
export class RefusedFields<Item, Operation extends KeyedOperation<Item>> {
  readonly #mode: Pick<Mode<Item, Operation>, 'planService' | 'transactions'>;
  readonly #inputs: Pick<Inputs, 'planInput' | 'node'>;
  readonly #found = new WeakMap<NetlinkError, Map<string, readonly string[]>>();

  constructor(
    mode: Pick<Mode<Item, Operation>, 'planService' | 'transactions'>,
    inputs: Pick<Inputs, 'planInput' | 'node'>,
  ) {
    this.#mode = mode;
    this.#inputs = inputs;
  }

  /**
   * The fields without which a Service does not need what the kernel refused, and the endpoints that alone need it, as in
   * {@link InputField.text}. None if the error does not name what was refused, or if no single field leads to it.
   */
  of(error: NetlinkError, service: string): readonly string[] {
    const known = this.#found.get(error) ?? new Map<string, readonly string[]>();
    this.#found.set(error, known);
    const fields = known.get(service) ?? this.#find(error, service);
    known.set(service, fields);
    return fields;
  }

  #find(error: NetlinkError, service: string): readonly string[] {
    const refused = this.#mode.transactions?.refusedBy(error);
    const input = refused && this.#inputs.planInput(service);
    if (!refused || !input || itemsTried(input) > MOST_ITEMS) return NONE;
    const node = this.#inputs.node();
    const needs = (changed: ServicePlanInput) => {
      for (const item of this.#mode.planService(changed, node).values()) if (refused.isIn(item)) return true;
      return false;
    };
    // The object may have changed meanwhile.
    if (!needs(input)) return NONE;
    const fields = select(serviceFields(input), (changed) => !needs(changed));
    if (!needs(withOtherEndpoint(input))) fields.push(...select(endpointFields(input), needs));
    return fields;
  }
}

const NONE: readonly string[] = Object.freeze([]);

/** Items that a search plans at most. Each field is tried with a plan of the whole Service, which may have thousands of fields. */
const MOST_ITEMS = 100_000;

/** About as many items as the search plans. */
function itemsTried({ ports }: ServicePlanInput): number {
  let fields = 0;
  let endpoints = 0;
  for (const { frontends, clusterEndpoints, localEndpoints } of ports) {
    for (const { sourceRanges } of frontends) fields += 1 + sourceRanges.length;
    endpoints += clusterEndpoints.size + localEndpoints.size;
  }
  // A plan for each field has the other fields and all endpoints; one for each endpoint has all fields.
  return fields * (fields + 2 * endpoints);
}

/** The fields with the inputs that are chosen. */
function select(fields: Iterable<InputField>, choose: (input: ServicePlanInput) => boolean): string[] {
  const chosen: string[] = [];
  for (const { text, input } of fields) if (choose(input)) chosen.push(text);
  return chosen;
}
