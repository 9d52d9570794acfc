// A change of a setting as a readable diff.

/** The line of a change. */
export function describeSetting(
  { name, value }: { readonly name: string; readonly value: string },
  now: string | undefined,
): string {
  return `~ sysctl ${name} = ${value} (now ${now ?? 'absent'})`;
}
