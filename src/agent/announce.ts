// Events of this node's proxy, in kube-proxy's words: on the Node, on Services, and on objects that cannot be used.

import type { ClusterEvent, EventRecorder } from '../api/events.js';
import { describeProblem, type Problem } from '../errors.js';
import type { ServerName } from './servers.js';

/** Tells the cluster. Nothing waits for it, and nothing depends on it. */
export interface Announcer {
  /** The proxy starts. */
  starting(): void;
  /** /sys is mounted read-only, so that the size of conntrack's table stays as it is. */
  readOnlySys(): void;
  /** A server of the agent's own could not be started, and the agent ends. */
  serverFailed(server: ServerName, reason: string): void;
  /** The health-check port of a Service could not be opened. */
  serviceHealthFailed(service: string, port: number, reason: string): void;
  /** The problems of one object, which is left out, whole or in part. */
  leftOut(problems: readonly Problem[]): void;
  /** Resolves once everything has been told, or given a fair chance: for the last words of a process. */
  flush(): Promise<void>;
}

/** Ms that last words may take. */
const LAST_WORDS = 2000;

/** Tells nobody: there is no API server to tell. */
export const SILENT: Announcer = {
  starting() {},
  readOnlySys() {},
  serverFailed() {},
  serviceHealthFailed() {},
  leftOut() {},
  async flush() {},
};

const SERVER_REASONS: Readonly<Record<ServerName, string>> = {
  health: 'FailedToStartProxierHealthcheck',
  metrics: 'FailedToStartMetricServer',
};

/** Tells through events. */
export function announcer(nodeName: string, recorder: Pick<EventRecorder, 'record' | 'flush'>): Announcer {
  const record = (event: ClusterEvent) => recorder.record(event);
  const onNode = (type: ClusterEvent['type'], reason: string, note: string) =>
    record({
      type,
      reason,
      note,
      action: 'StartKubeProxy',
      regarding: { apiVersion: 'v1', kind: 'Node', name: nodeName },
    });
  return {
    flush: () => recorder.flush(LAST_WORDS),
    starting: () => onNode('Normal', 'Starting', ''),
    readOnlySys: () =>
      onNode(
        'Warning',
        'readOnlySysFS',
        '/sys is mounted read-only: conntrack keeps the size of its table, and may be slow with many flows',
      ),
    serverFailed: (server, reason) => onNode('Warning', SERVER_REASONS[server], reason),
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
    leftOut(problems) {
      const [{ reference, reason = 'FieldLeftOut' } = {}] = problems;
      // Data without a name is nothing that an event could be about.
      if (!reference) return;
      const note = `node ${nodeName}: ${problems.map(describeProblem).join('; ')}`;
      record({ type: 'Warning', reason, action: 'Program', note, regarding: reference });
    },
  };
}
