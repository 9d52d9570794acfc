// Asks for explanations of packets in a node's network namespace, and compares them with the outcomes of packets.
import { fileURLToPath } from 'node:url';
import type { EndpointPath, Explanation, PacketQuestion } from '../../../src/command/explain/explanation.js';
import { NamespaceProcess } from '../../laboratory/namespaceProcess.js';
import type { Pod } from '../../laboratory/places.js';
import type { AskExplain } from './explainProcess.js';

const PROCESS = fileURLToPath(new URL('./explainProcess.js', import.meta.url));

/** The outcome of a packet that reaches no endpoint. */
const RESULTS: Readonly<Record<string, string>> = { refused: 'ECONNREFUSED', hangs: 'no answer' };

/** Explains packets in a namespace. */
export class Explainer {
  readonly #process: NamespaceProcess<AskExplain, Explanation[]>;
  readonly #mode: AskExplain['mode'];

  private constructor(process: NamespaceProcess<AskExplain, Explanation[]>, mode: AskExplain['mode']) {
    this.#process = process;
    this.#mode = mode;
  }

  /** Starts a process; resolves when it is ready. */
  static async open(namespace: string, mode: AskExplain['mode']): Promise<Explainer> {
    return new Explainer(await NamespaceProcess.open(namespace, PROCESS), mode);
  }

  /** The explanations, in order. The kernel must not change meanwhile. */
  explain(questions: readonly PacketQuestion[]): Promise<Explanation[]> {
    return this.#process.ask({ mode: this.#mode, questions });
  }

  close(): Promise<void> {
    return this.#process.close();
  }
}

/**
 * The outcomes of two connections according to an explanation, sorted, in the words of the packet tests: `web-0 sees
 * 10.244.1.1`, `no answer`, `ECONNREFUSED`.
 */
export function resultsOf({ endpoints, verdict }: Explanation, pods: readonly Pod[]): string[] {
  const results = endpoints
    .filter(({ selectable }) => selectable)
    .map((endpoint) => resultOf(endpoint, pods));
  if (results.length === 0) return Array.from({ length: 2 }, () => RESULTS[verdict] ?? verdict);
  return (results.length === 1 ? [...results, ...results] : results).sort();
}

function resultOf({ endpoint, result, source }: EndpointPath, pods: readonly Pod[]): string {
  if (result === 'refused') return 'ECONNREFUSED';
  if (result === 'hangs') return 'no answer';
  const pod = pods.find(
    ({ ipv4, ipv6 }) => endpoint.startsWith(`${ipv4}:`) || endpoint.startsWith(`[${ipv6}]:`),
  );
  return result === 'forwarded' ? `${pod?.name} sees ${source}` : result;
}
