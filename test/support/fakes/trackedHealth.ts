// The health of a proxy with the state that the health thread would find.
import {
  type HealthFacts,
  type HealthState,
  healthOf,
  NO_FACTS,
  ProxyHealth,
} from '../../../src/command/health/proxyHealth.js';

type Clock = ConstructorParameters<typeof ProxyHealth>[0];

/** A health whose state can be read. */
export class TrackedHealth extends ProxyHealth {
  /** The state, if the main thread moves or is `stalled`. */
  readonly state: (stalled?: boolean) => HealthState;

  /** @param timeout see {@link healthOf} */
  constructor(timeout: number, clock: Clock) {
    let last: HealthFacts | undefined;
    super(clock, (facts) => {
      last = facts;
    });
    this.state = (stalled) => healthOf(last ?? NO_FACTS, timeout, clock, stalled);
  }

  get healthy(): boolean {
    return this.state().healthy;
  }
}
