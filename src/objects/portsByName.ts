// Ports of a former object, found by name: an object may have thousands.

/** Returns the ports with a name, in order. They are sorted by name at the first call: nearly always, none is needed. */
export function byName<Port extends { readonly name: string }>(
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
