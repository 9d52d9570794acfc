// The checks of what programs give to the API's client and sources: those of options by their fields, so that the files that have
// their types complete them.

import {
  ANY_TEXT,
  type Check,
  FLAG,
  FUNCTION,
  instanceOf,
  integer,
  MILLISECONDS,
  methods,
  number,
  object,
  optional,
  partOf,
  TEXT,
} from '../../kernel/shapes.js';
import type { BackoffBounds } from '../backoff.js';

/** The check of a signal. */
export const SIGNAL = instanceOf(AbortSignal);
/** The check of a path. */
export const PATH = TEXT;
/** The check of query parameters. */
export const QUERY: Check = (value, field) =>
  partOf(Object.fromEntries(Object.keys(Object(value) as object).map((name) => [name, ANY_TEXT])))(
    value,
    field,
  );
/** The check of an object that is created. */
export const BODY = partOf({});
/** The check of a callback. */
export const CALLBACK = FUNCTION;

const BACKOFF = object<BackoffBounds>({ first: MILLISECONDS, most: MILLISECONDS, spread: number(0, 1000) });

/** Two numbers, of which the first is not above the second. */
function range(most: number): Check {
  const rule = `must be an array of two numbers from 0 to ${most}, of which the first is not above the second`;
  const bound = number(0, most);
  return (value, field) => {
    const [from, to, ...rest] = Array.isArray(value) ? (value as unknown[]) : [];
    const isRange =
      rest.length === 0 && !bound(from, field) && !bound(to, field) && Number(from) <= Number(to);
    return isRange ? undefined : { field, value, rule, wrongType: !Array.isArray(value) };
  };
}

const TIMES = object({
  watch: optional(range(2_147_483)),
  margin: optional(MILLISECONDS),
  silence: optional(MILLISECONDS),
  lost: optional(MILLISECONDS),
  floor: optional(MILLISECONDS),
  absent: optional(MILLISECONDS),
  check: optional(object({ interval: range(0x7fff_ffff), pause: MILLISECONDS })),
  repeat: optional(MILLISECONDS),
  backoff: optional(BACKOFF),
});

/** The check of the options of connectToApi(). */
export const CONNECTION_OPTIONS = {
  kubeconfig: optional(ANY_TEXT),
  master: optional(ANY_TEXT),
  environment: optional(partOf({})),
  serviceAccount: optional(TEXT),
};

/** The check of a connection. */
export const CONNECTION = {
  server: instanceOf(URL),
  proxy: optional(instanceOf(URL)),
  credentials: FUNCTION,
  stale: optional(ANY_TEXT),
};

/** The check of the options of a client. */
export const CLIENT_OPTIONS = {
  userAgent: TEXT,
  rate: optional(
    object({
      qps: number(-Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER),
      burst: integer(0, 0x7fff_ffff),
    }),
  ),
  timeouts: optional(
    object({
      connect: optional(MILLISECONDS),
      answer: optional(MILLISECONDS),
      idle: optional(MILLISECONDS),
    }),
  ),
};

/** The check of the options of a watch. */
export const WATCH_OPTIONS = {
  signal: SIGNAL,
  idle: FUNCTION,
  opened: optional(FUNCTION),
};

/** The check of the options of a source. */
export const SOURCE_OPTIONS = {
  client: methods('list', 'watch'),
  nodeName: TEXT,
  allNodes: optional(FLAG),
  serviceCIDRs: optional(FLAG),
  trouble: FUNCTION,
  contact: optional(FUNCTION),
  times: optional(TIMES),
  random: optional(FUNCTION),
};

/** The check of a KubeConfig. */
export const KUBE_CONFIG = methods('getCurrentCluster', 'applyToHTTPSOptions');

/** The check of what waitForNode() waits for. */
export const NODE_CONDITION = {
  ready: FUNCTION,
  limit: number(0, Number.MAX_SAFE_INTEGER),
  missing: optional(FUNCTION),
  signal: optional(SIGNAL),
};
