// The health thread: its own event loop answers the probes and relays connections, whatever the main thread does. It is the entry of a worker (openThread.ts).
import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import type { Family } from '../../kernel/net/address.js';
import { AddressPorts } from '../../kernel/net/addressPorts.js';
import { LocalhostPorts, type PlannedPorts, type WantedPort } from '../localhostPorts/localhostPorts.js';
import { openServer } from '../servers/listen.js';
import { healthHandler } from './answers.js';
import { FamilyTimes } from './familyTimes.js';
import type { FromThread, PlainError, ThreadData, ToThread } from './openThread.js';
import { ProbeCounts } from './probeCounts.js';
import { CLOCK, healthOf, NO_FACTS, type RareFacts } from './proxyHealth.js';
import { ServiceHealthServers } from './serviceHealth.js';

/** Number of periods without a message of the main thread after which it counts as stalled. The first may have begun before the last message. */
const STALLED_AFTER = 7;

const main = parentPort as MessagePort;
const { timeout, beat, ...memory } = workerData as ThreadData;
const counts = new ProbeCounts(memory.probes);
const times = new FamilyTimes(memory.times);
let facts: RareFacts = NO_FACTS;
/** Periods of this thread: if the whole process is stopped, neither thread has any. */
let silentPeriods = 0;
let serviceHealth: ServiceHealthServers | undefined;
let localhostPorts: LocalhostPorts | undefined;

setInterval(() => silentPeriods++, beat);
main.on('message', take);

function take(message: ToThread): void {
  silentPeriods = 0;
  if ('facts' in message) facts = message.facts;
  if ('serve' in message) void serve(message.serve);
  if ('addresses' in message) serviceHealth = openServiceHealth(message.addresses);
  if ('checks' in message) void serviceHealth?.update(message.checks);
  if ('localhost' in message) localhostPorts = openLocalhostPorts(message.localhost);
  if ('localhostPorts' in message) void localhostPorts?.apply(received(message.localhostPorts));
}

/** The health, after all messages that have arrived. */
function health() {
  for (let next = receiveMessageOnPort(main); next; next = receiveMessageOnPort(main)) take(next.message);
  return healthOf({ ...facts, families: times.get() }, timeout, CLOCK, silentPeriods >= STALLED_AFTER);
}

async function serve({ where, hardFail }: Extract<ToThread, { serve: unknown }>['serve']): Promise<void> {
  try {
    await openServer({
      ...{ where, hardFail },
      handler: healthHandler(health, (probe, status) => counts.add(probe, status)),
      failed: (error, retryIn) => tell({ failed: plainError(error), retryIn }),
      recovered: () => tell({ recovered: true }),
    });
    tell({ served: true });
  } catch (error) {
    tell({ refused: plainError(error) });
  }
}

function openServiceHealth(addresses: { readonly [family in Family]?: readonly string[] }) {
  return new ServiceHealthServers({
    addresses,
    healthy: () => health().healthy,
    failed: (service, port, error) => tell({ service, port, failed: plainError(error) }),
    recovered: (service, port) => tell({ service, port, recovered: true }),
  });
}

function openLocalhostPorts({ families, settings }: Extract<ToThread, { localhost: unknown }>['localhost']) {
  return new LocalhostPorts(
    families,
    {
      opened: (...about) => tell({ localhost: 'opened', about }),
      closed: (...about) => tell({ localhost: 'closed', about }),
      refused: (port, error) => tell({ localhost: 'refused', about: [port, plainError(error)] }),
      failed: (port, error) => tell({ localhost: 'failed', about: [port, plainError(error)] }),
      beyond: (...about) => tell({ localhost: 'beyond', about }),
      listeners: (...about) => tell({ localhost: 'listeners', about }),
    },
    settings,
  );
}

/** The plans with lists of endpoints that have methods. */
function received(planned: PlannedPorts): PlannedPorts {
  const revived = ({ nodePort, target }: WantedPort): WantedPort => ({
    nodePort,
    target: { ...target, endpoints: AddressPorts.ofCopy(target.endpoints) },
  });
  return new Map(Array.from(planned, ([service, ports]) => [service, ports.map(revived)]));
}

function tell(message: FromThread): void {
  main.postMessage(message);
}

/** A copy of an error between threads has no code. */
function plainError(error: unknown): PlainError {
  const { code } = error as NodeJS.ErrnoException;
  return { message: error instanceof Error ? error.message : String(error), code };
}
