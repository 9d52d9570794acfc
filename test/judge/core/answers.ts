// Rules for answers: who may answer, and the source address that the pod may see.
import type { Observation } from './observations.js';
import type { ConnectionPromise } from './promise.js';
import type { RuleName } from './rules.js';
import type { Window } from './timeline.js';
import { type Violation, violationOf } from './violation.js';
import { addressIn, CLIENT_ADDRESSES, type ClientName, type Family, JUDGED_NODE, podNamed } from './world.js';

/** The violation if the pod that answered may not. A later datagram of a stream may go where its flow leads. While damage is not repaired, source ranges may not be in force. */
export function answerViolation(
  observation: Observation,
  window: Window,
  isNew: boolean,
): Violation | undefined {
  const by = observation.by ?? '';
  const { promises, last } = window;
  const { kind } = observation.target;
  const isNodePort = kind === 'nodePort' || kind === 'localhost';
  // kube-proxy deletes flows to addresses of Services that it knows. It finds those of node ports by the number of the port
  // alone, and leaves them if no endpoint serves.
  const keeps = ({ service, serving }: ConnectionPromise) =>
    serving.has(by) || service === undefined || (isNodePort && serving.size === 0);
  const allows = (promise: ConnectionPromise) => promise.may.has(by) || (!isNew && keeps(promise));
  if (promises.some(allows)) return undefined;
  if (window.damaged && promises.some(({ excluded, present }) => excluded && present.has(by)))
    return undefined;
  const rule = isNew ? ruleOf(by, observation, window) : 'stale-stream';
  const allowed = [...new Set(promises.flatMap(({ may }) => [...may]))].join(', ') || 'no pod';
  const owner = last.service === undefined ? 'no Service has the address' : `Service ${last.service}`;
  return violationOf(rule, observation, `${by} answered; ${owner}; ${allowed} may answer`);
}

/** The rule that best explains why the pod may not answer. */
function ruleOf(by: string, { target: { client } }: Observation, window: Window): RuleName {
  const { state, promises, last: promise } = window;
  // Its Service may be deleted while the request is under way: the ranges were broken first.
  if (promise.excluded || promises.some(({ excluded, present }) => excluded && present.has(by)))
    return 'source-ranges';
  if (promise.service === undefined) return 'own-endpoints';
  const endpoints = state.endpoints.get(promise.service) ?? [];
  const own = endpoints.find(({ pod }) => pod === by);
  if (!own) return 'removed-not-chosen';
  if (own.condition === 'notReady' || own.condition === 'ended') return 'not-ready-not-chosen';
  const spec = state.services.get(promise.service);
  const outside = client === 'outside' || client === 'stranger';
  const local = promise.kind === 'clusterIP' ? spec?.internalPolicy : outside && spec?.externalPolicy;
  if (local === 'Local' && podNamed(by).node !== 'node-a') return 'local-policy';
  return own.condition === 'terminating' ? 'terminating-not-chosen' : 'hints';
}

/** Judges the source addresses that pods see. */
export class SourceJudge {
  /** The last answer of each stream, if it was right. */
  readonly #streams = new Map<number, Observation>();

  /** The flow of a stream keeps its translation: kube-proxy deletes flows for their endpoints, and not for another policy. */
  judge(observation: Observation, window: Window): Violation | undefined {
    const { use, connection, by, seen } = observation;
    const last = this.#streams.get(connection);
    if (last?.by === by && last?.seen === seen) return undefined;
    const violation = sourceViolation(observation, window);
    if (use === 'stream' && !violation) this.#streams.set(connection, observation);
    return violation;
  }
}

/** The violation if the pod sees neither the client nor, where that is allowed, the node. */
function sourceViolation(observation: Observation, { promises }: Window): Violation | undefined {
  const { seen = '', target } = observation;
  const kept = promises.every(({ keepsSource }) => keepsSource);
  const allowed = [
    ...clientAddresses(target.client, target.family),
    ...(kept ? [] : nodeAddresses(target.family)),
  ];
  // The node as a client may send from the virtual IP, which is on one of its links in ipvs mode.
  if (allowed.includes(seen) || (target.client === 'node' && seen === target.address)) return undefined;
  return violationOf(
    'source-address',
    observation,
    `${observation.by} saw ${seen}; ${allowed.join(' or ')} are right`,
  );
}

function clientAddresses(client: ClientName, family: Family): string[] {
  return client === 'node' ? nodeAddresses(family) : [addressIn(CLIENT_ADDRESSES[client], family)];
}

function nodeAddresses(family: Family): string[] {
  return [addressIn(JUDGED_NODE, family), addressIn(JUDGED_NODE.podGateway, family)];
}
