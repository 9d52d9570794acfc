// Ports of a former object, found by name: an object may have thousands.

/** The ports of each name, in order. */
export function byName<Port extends { readonly name: string }>(
  ports: readonly Port[] = [],
): ReadonlyMap<string, readonly Port[]> {
  const found = new Map<string, Port[]>();
  for (const port of ports) {
    const known = found.get(port.name);
    if (known) known.push(port);
    else found.set(port.name, [port]);
  }
  return found;
}
