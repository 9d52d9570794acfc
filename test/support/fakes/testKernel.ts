// The fake kernel of the agent's tests, for any mode.
import type { AgentParts } from '../../../src/command/agent/agent.js';
import type { Family } from '../../../src/kernel/net/address.js';

/** A fake kernel with a mode that programs it. Its state outlives the agent. */
export interface TestKernel {
  /** Opens the mode on this kernel for one agent; default: IPv4 alone. */
  open(auditPeriod: number, families?: readonly Family[]): AgentParts['opened'];
  /** The state that the mode programmed, as lines. */
  state(): string;
  /** Whether the state has a frontend with this `address:port` of TCP, with endpoints or without. */
  serves(dialled: string): boolean;
  /** Whether connections to an `address:port` reach the endpoint `address:port`. */
  leadsTo(dialled: string, endpoint: string): boolean;
}
