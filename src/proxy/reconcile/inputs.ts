// The inputs of the reconciler.

import type { OrderOfService } from '../services/orderOfService.js';
import type { NodeFacts, ServicePlanInput } from '../services/types.js';
import type { FollowUp } from './summary.js';

/** The source of the inputs of plans. */
export interface Inputs {
  serviceNames(): Iterable<string>;
  /** The order in which these Services are programmed; called in passes with many. */
  order(services: Iterable<string>): OrderOfService;
  /** Undefined if there is no such Service. */
  planInput(service: string): ServicePlanInput | undefined;
  /** Number of endpoints of all Services in each family, as plan inputs have it. */
  totalEndpoints(): ServicePlanInput['totalEndpoints'];
  /** Called with each input that is planned for the kernel, before it is planned. Optional. */
  planned?(service: string, input: ServicePlanInput | undefined): void;
  /** The same object until a fact of the node changes. */
  node(): NodeFacts;
  /** A pass has all Services touched until now. Services touched later wait for the next pass. */
  taken(): void;
  /** Reads the facts that no event reports. Called before each full pass. */
  refresh(): Promise<void>;
  /** Work that follows each pass in every mode; none by default. */
  readonly followUp?: FollowUp;
}
