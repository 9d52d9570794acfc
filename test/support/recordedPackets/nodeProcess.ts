// The process that programs a recording in the namespace of the node, in ipvs mode.
import { release } from 'node:os';
import { openIpvsKernel } from '../../../src/command/modes/ipvs/parts.js';
import type { IpvsOptions } from '../../../src/proxy/modes/ipvs/index.js';
import { cleanUp } from '../../../src/proxy/reconcile/cleanUp.js';
import { serveParent } from '../../laboratory/namespaceProcess.js';
import { type Scenario, scenarios } from '../oracle/oracle.js';
import { IpvsNode } from '../oracle/testNode.js';

/** Programs a step of a recording. At the first step, what other recordings left is removed first. */
export interface ProgramAsk {
  readonly rules: IpvsOptions['rules'];
  readonly name: string;
  readonly step: number;
}

type Node = IpvsNode<Awaited<ReturnType<typeof openIpvsKernel>>>;

const all = new Map(scenarios('ipvs').map((scenario) => [scenario.name, scenario]));
let kernel: Awaited<ReturnType<typeof openIpvsKernel>> | undefined;
let node: Node | undefined;

/** Resolves to the messages of operations that failed. */
serveParent(async ({ rules, name, step }: ProgramAsk): Promise<string[]> => {
  kernel ??= await openIpvsKernel(false, rules);
  const failed: string[] = [];
  const scenario = all.get(name) as Scenario;
  if (step === 0) {
    if (node) failed.push(...(await cleanUp(node.mode)).failures.map(({ error }) => error.message));
    node = new IpvsNode(scenario, kernel, release(), [], rules);
  }
  if (!node) throw new Error(`step ${step} of ${name} is the first one`);
  await node.load(scenario.steps[step] as string);
  const { failures } = await node.sync();
  return [...failed, ...failures.map(({ error }) => error.message)];
});
