// Opens several parts of the kernel, or none.

/** A part that holds something open. */
interface Part {
  close(): void;
}

/** What the openers resolve to, by the same names. */
type Opened<Openers extends Record<string, () => Promise<Part>>> = {
  readonly [Name in keyof Openers]: Awaited<ReturnType<Openers[Name]>>;
};

/** Opens one part after another. When one cannot be opened, those before it are closed, and its error is the result. */
export async function openParts<Openers extends Record<string, () => Promise<Part>>>(
  openers: Openers,
): Promise<Opened<Openers>> {
  const opened: Record<string, Part> = {};
  try {
    for (const [name, open] of Object.entries(openers)) opened[name] = await open();
  } catch (error) {
    for (const part of Object.values(opened)) part.close();
    throw error;
  }
  return opened as Opened<Openers>;
}
