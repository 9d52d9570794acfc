// Ports of a former object, found by name: an object may have thousands.

/** Reads the ports of an object one by one. @param decode gets the former ports of a name, for a port that is unreadable */
export function readPorts<Part, Port extends { readonly name: string }>(
  parts: Iterable<Part>,
  former: readonly Port[] | undefined,
  decode: (part: Part, former: (name: string) => readonly Port[]) => readonly Port[],
): readonly Port[] {
  const before = byName(former);
  const read: Port[] = [];
  for (const part of parts) read.push(...decode(part, before));
  // An array that grew by push() has unused space, and these arrays stay.
  return read.slice();
}

/** Returns the ports with a name, in order. They are sorted by name at the first call: nearly always, none is needed. */
function byName<Port extends { readonly name: string }>(
  ports: readonly Port[] = [],
): (name: string) => readonly Port[] {
  let found: Map<string, Port[]> | undefined;
  return (name) => {
    found ??= sorted(ports);
    return found.get(name) ?? [];
  };
}

function sorted<Port extends { readonly name: string }>(ports: readonly Port[]): Map<string, Port[]> {
  const found = new Map<string, Port[]>();
  for (const port of ports) {
    const known = found.get(port.name);
    if (known) known.push(port);
    else found.set(port.name, [port]);
  }
  return found;
}

/** The former ports of a name if none of it can be read; undefined if there are none, or if one can be read. */
export function formerPorts<Port>(
  read: readonly Port[],
  former: readonly Port[],
): readonly Port[] | undefined {
  return read.length === 0 && former.length > 0 ? former : undefined;
}
