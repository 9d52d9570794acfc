// Random clusters on the real kernel of this process's network namespace, one after the other: changed step by step,
// read with the tools, removed, programmed on an empty kernel, and read again. Prints the results as JSON, so that a
// namespace needs only one process. Arguments: seeds.
import { release } from 'node:os';
import { isDeepStrictEqual } from 'node:util';
import { type OpenIpvsKernel as Kernel, openIpvsKernel } from '../../src/command/modes/ipvs/parts.js';
import { cleanUp } from '../../src/proxy/reconcile/cleanUp.js';
import { comparable, RANDOM_HOST, RandomCluster } from '../support/clusters/randomCluster.js';
import { layOut, toolOutput } from '../support/namespaces/tools.js';
import { IpvsNode } from '../support/oracle/testNode.js';

/** Number of changes of each cluster, each of up to eight objects. */
const CHANGES = 6;

/** The result of a random cluster. */
export interface RandomReport {
  readonly seed: number;
  /** Number for all changes. */
  readonly operations: number;
  /** Number of failed operations of all passes. */
  readonly failures: readonly string[];
  /** The output of the tools after the changes, and after one pass on an empty kernel if that differs. */
  readonly stepwise: ReturnType<typeof comparable>;
  readonly fromNothing: ReturnType<typeof comparable> | 'the same';
  /** Number of operations of a full pass after the changes. */
  readonly again: number;
  /** The state after the clean-up. */
  readonly left: readonly string[];
}

async function main(seed: number, kernel: Kernel): Promise<RandomReport> {
  const failures: string[] = [];
  let operations = 0;
  const sync = async (node: IpvsNode<Kernel>) => {
    const summary = await node.sync();
    failures.push(...summary.failures.map(({ error }) => error.message));
    return summary.operations;
  };
  const cluster = new RandomCluster(seed);
  const node = new IpvsNode(RANDOM_HOST, kernel, release());
  for (let i = 0; i < CHANGES; i++) {
    cluster.change();
    node.set(cluster.objects);
    operations += await sync(node);
  }
  const stepwise = comparable(toolOutput());
  node.reconciler.requestFullSync();
  const again = await sync(node);
  const left = [...(await cleanUp(node.mode)).left];
  const fresh = new IpvsNode(RANDOM_HOST, kernel, release());
  fresh.set(cluster.objects);
  await sync(fresh);
  const fromNothing = comparable(toolOutput());
  left.push(...(await cleanUp(fresh.mode)).left);
  const same = isDeepStrictEqual(stepwise, fromNothing);
  return { seed, operations, failures, stepwise, fromNothing: same ? 'the same' : fromNothing, again, left };
}

layOut(RANDOM_HOST);
const kernel = await openIpvsKernel(false);
const reports: RandomReport[] = [];
for (const seed of process.argv.slice(2)) reports.push(await main(Number(seed), kernel));
kernel.close();
process.stdout.write(JSON.stringify(reports));
