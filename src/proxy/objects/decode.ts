// Untrusted data → the objects of types.ts, and the problems of the data. An invalid part is left out by name;
// the rest of the object, and every other object, is used. If the object was readable before, an unreadable part keeps its
// last readable value: unreadable data never removes something that works.
import type { ObjectReference, Problem } from '../../kernel/errors.js';
import { Fields, isRecord, kept } from '../input/fields.js';
import { DNS_LABEL, DNS_SUBDOMAIN, isName, UID } from '../input/names.js';
import { decodeEndpointSlice } from './endpointSlice.js';
import { frontendCount, MOST_FRONTENDS } from './frontendCount.js';
import { Interning } from './interning.js';
import { decodeNode } from './node.js';
import { decodeService } from './service.js';
import { decodeServiceCIDR } from './serviceCIDR.js';
import { isClusterScoped, type KubernetesObject, type ObjectName } from './types.js';

/** The result of reading one piece of data. */
export interface Decoded {
  /** Absent for a kind that is not read, and for an object with too many problems to be used at all. */
  readonly object?: KubernetesObject;
  readonly problems: readonly Problem[];
}

type Reader = (
  name: ObjectName,
  fields: Fields,
  former: KubernetesObject | undefined,
  interning: Interning,
) => KubernetesObject | undefined;

/** A reader of one kind. It ignores a former object of another kind. */
function reader<Kind extends KubernetesObject['kind'], Model>(
  kind: Kind,
  read: (
    name: ObjectName,
    fields: Fields<Model>,
    former: (KubernetesObject & { kind: Kind }) | undefined,
    interning: Interning,
  ) => KubernetesObject | undefined,
): Reader {
  return (name, fields, former, interning) => {
    const same = former?.kind === kind ? (former as KubernetesObject & { kind: Kind }) : undefined;
    return read(name, fields.as<Model>(), same, interning);
  };
}

const READERS: Readonly<Record<string, Reader>> = {
  'v1/Service': reader('Service', decodeService),
  'v1/Node': reader('Node', decodeNode),
  'discovery.k8s.io/v1/EndpointSlice': reader('EndpointSlice', decodeEndpointSlice),
  'networking.k8s.io/v1/ServiceCIDR': reader('ServiceCIDR', decodeServiceCIDR),
  'networking.k8s.io/v1beta1/ServiceCIDR': reader('ServiceCIDR', decodeServiceCIDR),
};

/**
 * Reads one object of any kind; other kinds than those of {@link KubernetesObject} give neither an object nor a problem.
 *
 * @param formerOf the object as it was last readable, by its identity (`Service demo/web`, `Node node-a`)
 * @param interning makes objects share equal values; by default, only those of this object are shared
 */
export function decodeObject(
  raw: unknown,
  formerOf: (identity: string) => KubernetesObject | undefined = () => undefined,
  interning = new Interning(),
): Decoded {
  if (!isRecord(raw)) {
    return { problems: [{ object: 'document', field: '', rule: 'must be an object', value: raw }] };
  }
  const read = READERS[`${String(raw['apiVersion'])}/${String(raw['kind'])}`];
  if (!read) return { problems: misspelledKind(raw) };
  const {
    apiVersion,
    kind,
    metadata: given,
  } = raw as { apiVersion: string; kind: string; metadata: unknown };
  const metadata = isRecord(given) ? given : {};
  const name = typeof metadata['name'] === 'string' ? metadata['name'] : '';
  const namespace = interning.text(
    typeof metadata['namespace'] === 'string' ? metadata['namespace'] || 'default' : 'default',
  );
  const identity = `${kind} ${isClusterScoped(kind) ? name : `${namespace}/${name}`}`;
  const found: Problem[] = [];
  const fields = new Fields(name === '' ? `nameless ${kind}` : identity, found, raw);
  if (!hasValidNames(kind, namespace, name, fields)) {
    return { problems: found.map((problem) => ({ ...problem, kind, reason: 'ObjectLeftOut' })) };
  }
  const former = formerOf(identity);
  const decoded = read({ namespace, name }, fields, former, interning);
  const object = exceedsLimit(decoded, found, fields) ? undefined : decoded;
  shorten(found, fields);
  if (found.length === 0) return object ? { object, problems: found } : { problems: found };
  const id = metadata['uid'];
  const uid = typeof id === 'string' && isName(id, UID) ? { uid: id } : {};
  const reference = { apiVersion, kind, ...(isClusterScoped(kind) ? {} : { namespace }), name, ...uid };
  return judge(object, former, found, reference);
}

/** Whether an object has the names that its kind may have; reports those that it may not. */
function hasValidNames(kind: string, namespace: string, name: string, fields: Fields): boolean {
  const rule = kind === 'Service' ? DNS_LABEL : DNS_SUBDOMAIN;
  if (name === '') fields.report('metadata.name', 'must not be empty');
  else if (!isName(name, rule)) fields.report('metadata.name', rule.text, name);
  else if (!isClusterScoped(kind) && !isName(namespace, DNS_LABEL))
    fields.report('metadata.namespace', DNS_LABEL.text, namespace);
  else return true;
  return false;
}

/** Whether a Service has more frontends than are programmed. This problem is the first one, so that it is always reported. */
function exceedsLimit(decoded: KubernetesObject | undefined, found: Problem[], fields: Fields): boolean {
  const count = decoded?.kind === 'Service' ? frontendCount(decoded) : 0;
  if (count <= MOST_FRONTENDS) return false;
  fields.report('spec', FRONTENDS_RULE, count);
  found.unshift(...found.splice(-1));
  return true;
}

const FRONTENDS_RULE =
  `must have at most ${MOST_FRONTENDS} frontends: ports × addresses, where a load-balancer IP counts once for each ` +
  'source range';

/** Problems of an object that are reported at most. */
const MOST_PROBLEMS = 20;

/** Replaces the problems beyond the first ones by their number: an object may have thousands, and each is a line of the log. */
function shorten(found: Problem[], fields: Fields): void {
  const more = found.length - MOST_PROBLEMS;
  if (more <= 1) return;
  found.length = MOST_PROBLEMS;
  fields.report('', `has ${more} more problems`, undefined);
}

/** Adds to each problem the effect that it has. */
function judge(
  object: KubernetesObject | undefined,
  former: KubernetesObject | undefined,
  found: readonly Problem[],
  reference: ObjectReference,
): Decoded {
  const { kind } = reference;
  const effect = (problem: Problem): Problem =>
    object
      ? { reason: 'FieldLeftOut', ...problem }
      : former
        ? kept(problem)
        : { ...problem, reason: 'ObjectLeftOut' };
  const problems = found.map((problem) => ({ ...effect(problem), kind, reference }));
  const usable = object ?? former;
  return usable ? { object: usable, problems } : { problems };
}

/** A kind that is read, with an apiVersion that is not, is a mistake worth a report; any other kind is somebody else's. */
function misspelledKind(raw: Readonly<Record<string, unknown>>): Problem[] {
  const kind = String(raw['kind']);
  const known = Object.keys(READERS).find((reader) => reader.endsWith(`/${kind}`));
  if (!known) return [];
  const apiVersion = known.slice(0, -kind.length - 1);
  return [
    { object: kind, field: 'apiVersion', rule: `must be ${apiVersion}`, value: raw['apiVersion'] ?? '' },
  ];
}
