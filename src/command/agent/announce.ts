// Kubernetes events of this proxy, with kube-proxy's reasons: about the Node, Services, and objects that are left out.

import { describeProblem, type Problem } from '../../kernel/errors.js';
import type { ReachChange } from '../../proxy/nodes/types.js';
import type { ClusterEvent, EventRecorder } from './events.js';
import type { ServerName } from './servers.js';

/** Sends Kubernetes events in the background. */
export interface Announcer {
  /** The proxy starts. */
  starting(): void;
  /** /sys is mounted read-only: the size of the conntrack hash table cannot be changed. */
  readOnlySys(): void;
  /** The health or metrics server could not be started, and the agent ends. */
  serverFailed(server: ServerName, reason: string): void;
  /** The health-check port of a Service could not be opened. */
  serviceHealthFailed(service: string, port: number, reason: string): void;
  /** The configuration file has changed, and these fields wait for the next start. */
  configurationWaits(file: string, fields: readonly string[]): void;
  /** The problems of one object that is left out, completely or partly. */
  leftOut(problems: readonly Problem[]): void;
  /** Another node does not answer any more, or answers again. */
  reachChanged(change: ReachChange): void;
  /** Resolves when all events have been sent, or after 2 s. Called before the process ends. */
  flush(): Promise<void>;
}

/** Time to send the last events, in ms. */
const FLUSH_TIMEOUT = 2000;

/** Sends nothing, for a proxy without API server. */
export const SILENT: Announcer = {
  starting() {},
  readOnlySys() {},
  serverFailed() {},
  serviceHealthFailed() {},
  configurationWaits() {},
  leftOut() {},
  reachChanged() {},
  async flush() {},
};

const SERVER_REASONS: Readonly<Record<ServerName, string>> = {
  health: 'FailedToStartProxierHealthcheck',
  metrics: 'FailedToStartMetricServer',
};

/** A problem as whoever may read the events of the namespace may know it. */
function publicly(problem: Problem): string {
  return describeProblem({ ...problem, rule: problem.publicRule ?? problem.rule });
}

/**
 * An announcer that sends through the recorder.
 *
 * @param objectEvents send events about objects that are left out: `--object-events`
 */
export function announcer(
  nodeName: string,
  recorder: Pick<EventRecorder, 'record' | 'flush'>,
  objectEvents = false,
): Announcer {
  const record = (event: ClusterEvent) => recorder.record(event);
  const onNode = (
    type: ClusterEvent['type'],
    reason: string,
    note: string,
    action: ClusterEvent['action'] = 'StartKubeProxy',
  ) =>
    record({
      type,
      reason,
      note,
      action,
      regarding: { apiVersion: 'v1', kind: 'Node', name: nodeName },
    });
  return {
    flush: () => recorder.flush(FLUSH_TIMEOUT),
    starting: () => onNode('Normal', 'Starting', ''),
    readOnlySys: () =>
      onNode(
        'Warning',
        'readOnlySysFS',
        '/sys is mounted read-only: the size of the conntrack hash table cannot be changed; many flows may be slow',
      ),
    serverFailed: (server, reason) => onNode('Warning', SERVER_REASONS[server], reason),
    configurationWaits: (file, fields) =>
      onNode(
        'Warning',
        'ConfigurationWaits',
        `${file} has changed; these fields wait for the next start of the agent: ${fields.join(', ')}`,
        'ReadConfiguration',
      ),
    serviceHealthFailed(service, port, reason) {
      const [namespace = '', name = ''] = service.split('/');
      record({
        type: 'Warning',
        reason: 'FailedToStartServiceHealthcheck',
        action: 'Listen',
        note: `node ${nodeName} failed to start healthcheck ${JSON.stringify(service)} on port ${port}: ${reason}`,
        regarding: { kind: 'Service', namespace, name },
      });
    },
    reachChanged({ node, address, sign, reachable }) {
      record({
        type: reachable ? 'Normal' : 'Warning',
        reason: reachable ? 'NodeAnswersAgain' : 'NodeDoesNotAnswer',
        action: 'Program',
        note: reachable
          ? `node ${nodeName}: ${address} answers again, and its endpoints get new connections`
          : `node ${nodeName}: ${address} does not answer (${sign}), and its endpoints get no new connections from here`,
        regarding: { apiVersion: 'v1', kind: 'Node', name: node },
        ofCluster: true,
      });
    },
    leftOut(problems) {
      const [{ reference, reason = 'FieldLeftOut' } = {}] = problems;
      // Without a name, there is no object for the event.
      if (!reference || !objectEvents) return;
      const note = `node ${nodeName}: ${problems.map(publicly).join('; ')}`;
      record({ type: 'Warning', reason, action: 'Program', note, regarding: reference, ofCluster: true });
    },
  };
}
