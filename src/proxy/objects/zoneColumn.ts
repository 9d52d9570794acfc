// The zones of the endpoints of a slice: one character for each endpoint, because a cluster has few zones and many endpoints. Pure.
import type { Interning } from './interning.js';

/** Zones of a slice at most: a character has no more values. Endpoints in further ones are in no known zone. */
const MOST_ZONES = 65_535;

/** The zones of endpoints, in the order of the endpoints. Immutable. */
export class ZoneColumn {
  /** The names of the zones, each once, sorted; empty for the endpoints in no known zone. Slices share the list. */
  readonly names: readonly string[];
  /** One character for each endpoint: the index of its zone. Slices share it. */
  readonly indexes: string;

  /** @internal Columns of the same order, from the builder of the endpoints. */
  constructor(names: readonly string[], indexes: string) {
    this.names = names;
    this.indexes = indexes;
  }

  /** The zone of the endpoint with this index; empty if it is unknown. */
  at(index: number): string {
    return this.names[this.indexes.charCodeAt(index)] ?? '';
  }

  /** The zones of the first endpoints. */
  first(count: number): ZoneColumn {
    return new ZoneColumn(this.names, this.indexes.slice(0, count));
  }

  /** The value of each endpoint's zone, in the order of the endpoints. The function is called once for each zone. */
  map<Value>(ofZone: (zone: string) => Value): Value[] {
    const values = [...this.names, ''].map(ofZone);
    const unknown = values[this.names.length] as Value;
    const mapped: Value[] = [];
    for (let index = 0; index < this.indexes.length; index++)
      mapped.push(values[this.indexes.charCodeAt(index)] ?? unknown);
    return mapped;
  }
}

/**
 * The column of these zones.
 *
 * @param zones that of each endpoint; empty if it is unknown
 */
export function zoneColumn(zones: readonly string[], interning: Interning | undefined): ZoneColumn {
  const known = new Set(zones);
  // Sorted, so that lists of the same zones are equal.
  const names = [...known].sort().slice(0, MOST_ZONES);
  const indexOf = new Map(names.map((name, index) => [name, index]));
  const codes = Uint16Array.from(zones, (zone) => indexOf.get(zone) ?? names.length);
  const isNarrow = names.length <= 256;
  const text = isNarrow
    ? Buffer.from(codes).toString('latin1')
    : Buffer.from(codes.buffer).toString('utf16le');
  return new ZoneColumn(interning?.list(names) ?? names, interning?.text(text) ?? text);
}
