// What an agent tells others about problems of objects: its page /statusz, its metrics, and the events that it sends.
import { announcer } from '../../../src/command/agent/announce.js';
import { EventRecorder } from '../../../src/command/agent/events.js';
import { LeftOut } from '../../../src/command/agent/leftOut.js';
import type { Request } from '../../../src/command/servers/handler.js';
import { openMetrics } from '../../../src/command/servers/metrics.js';
import { statuszHandler } from '../../../src/command/servers/metricsServer.js';
import type { Problem } from '../../../src/kernel/errors.js';
import { OTHER } from './objects.js';

/** An event as it is sent. */
export interface SentEvent {
  readonly path: string;
  readonly body: { readonly note: string; readonly regarding: { readonly name: string } };
}

/** What is told. */
export interface Told {
  /** The page and the metrics. */
  readonly pages: string;
  readonly events: readonly SentEvent[];
}

/** As many problems as the queue of events has room for. */
const AT_ONCE = 50;

/** The clock advances by an hour, so that no event is one too many. */
function hours(): () => number {
  let now = 0;
  return () => {
    now += 3_600_000;
    return now;
  };
}

/** Tells about these problems. */
export async function toldAbout(problems: readonly Problem[]): Promise<Told> {
  const events: SentEvent[] = [];
  const failures: string[] = [];
  const client = {
    create: async (path: string, body: unknown) =>
      void events.push({ path, body: body as SentEvent['body'] }),
  };
  const failed = (_: unknown, reason: string) => void failures.push(reason);
  const recorder = new EventRecorder({ client, failed, now: hours() });
  const about = { version: '0.1.0', startedAt: 0, now: () => 0 };
  const metrics = openMetrics({ ...about, kubernetesVersion: 'v1.36.0' });
  try {
    const leftOut = new LeftOut({ metrics, announcer: announcer(OTHER.nodeName, recorder, true) });
    for (let i = 0; i < problems.length; i += AT_ONCE) {
      leftOut.found(problems.slice(i, i + AT_ONCE));
      await recorder.flush(10_000);
    }
    if (failures.length > 0) throw new Error(`events were given up: ${failures.join(', ')}`);
    const handler = statuszHandler({
      ...about,
      emulates: '1.36',
      paths: ['/statusz'],
      leftOut: () => leftOut.summary(),
    });
    const { body } = await handler({ headers: {} } as Request);
    return { pages: `${body}\n${await metrics.text()}`, events };
  } finally {
    metrics.close();
  }
}
