// What the agent's tests need of a kernel in memory, whatever the mode.
import type { AgentParts } from '../../src/agent/agent.js';

/** A kernel in memory with a mode that programs it. Its state outlives the agent. */
export interface TestKernel {
  /** The mode on this kernel, for one agent. */
  open(auditPeriod: number): AgentParts['opened'];
  /** Everything that the mode programmed, in lines. */
  state(): string;
  /** Whether clients of an `address:port` reach the endpoint `address:port`. */
  leadsTo(dialled: string, endpoint: string): boolean;
}
