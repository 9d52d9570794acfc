// The metrics of routes ↔ attributes. Numbers: include/uapi/linux/rtnetlink.h (RTAX_).

import type { AttributeCursor } from '../../shared/wire/attributeCursor.js';
import {
  type Fields,
  field,
  integer,
  type LinkNames,
  readField,
  refuseAttributes,
  scaled,
  text,
  toggle,
  writeFields,
} from '../fields.js';
import { flagNames } from '../flags.js';
import type { MessageWriter } from '../message.js';
import type { ListedMetrics, RouteMetrics } from './types.js';

const LOCK = 1;
const METRICS: Fields<Omit<RouteMetrics, 'locked'>> = {
  mtu: field(2, integer('u32')),
  window: field(3, integer('u32')),
  rtt: field(4, scaled('u32', 8)), // the kernel has eighths of a ms
  rttVariance: field(5, scaled('u32', 4)), // and quarters
  slowStartThreshold: field(6, integer('u32')),
  congestionWindow: field(7, integer('u32')),
  advertisedMss: field(8, integer('u32')),
  reordering: field(9, integer('u32')),
  hopLimit: field(10, integer('u32', 0, 255)),
  initialCongestionWindow: field(11, integer('u32')),
  features: field(12, integer('u32')),
  minimumRto: field(13, integer('u32')),
  initialReceiveWindow: field(14, integer('u32')),
  quickAck: field(15, toggle('u32')),
  congestionControl: field(16, text(15)),
  fastOpenNoCookie: field(17, toggle('u32')),
};
const NAMES = new Set([...Object.keys(METRICS), 'locked', 'attributes']);

const locksOf = flagNames(
  Object.fromEntries(Object.entries(METRICS).map(([name, { attribute }]) => [name, 1 << attribute])),
);

/** Writes metrics, and which of them are locked. */
export function writeMetrics(writer: MessageWriter, metrics: ListedMetrics): void {
  writer.check.onlyFields('route.metrics.', metrics, NAMES, 'metrics');
  refuseAttributes(writer.check, 'route.metrics.', metrics);
  const { locked } = metrics;
  if (locked !== undefined) {
    const sum = lockSum(writer, locked);
    writer.attribute(LOCK, () => writer.u32(sum));
  }
  writeFields<RouteMetrics>(writer, 'route.metrics.', metrics, METRICS);
}

function lockSum(writer: MessageWriter, locked: RouteMetrics['locked']): number {
  if (!Array.isArray(locked)) {
    writer.check.fail('route.metrics.locked', locked, 'must be an array of names of metrics', true);
    return 0;
  }
  let sum = 0;
  for (const name of locked) {
    if (typeof name === 'string' && Object.hasOwn(METRICS, name))
      sum |= 1 << METRICS[name as keyof typeof METRICS].attribute;
    else
      writer.check.fail('route.metrics.locked', name, 'must be names of metrics', typeof name !== 'string');
  }
  return sum;
}

/** Reads metrics. */
export function readMetrics(attributes: AttributeCursor, links: LinkNames): ListedMetrics {
  const metrics: Record<string, unknown> = {};
  while (attributes.next()) {
    if (attributes.type === LOCK) {
      metrics['locked'] = locksOf(attributes.u32());
    } else {
      readField(attributes, METRICS, metrics, links);
    }
  }
  return metrics;
}
