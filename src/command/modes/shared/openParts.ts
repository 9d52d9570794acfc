// Opens several parts of the kernel, or none.

/** A part that must be closed. */
interface Part {
  close(): void;
}

/** Results of the openers, by the same names. */
type Opened<Openers extends Record<string, () => Promise<Part>>> = {
  readonly [Name in keyof Openers]: Awaited<ReturnType<Openers[Name]>>;
};

/** Opens one part after another. If one cannot be opened, closes those before it and rejects with its error. */
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
