// Finds repairs that do not last: another program undoes each, or the kernel that is read is not the one that is changed. Pure.

/** The items that audits repaired. */
export class Repairs {
  #before: ReadonlySet<string> = new Set();
  #now = new Set<string>();

  /** Records that the current audit repaired the item of this key. */
  add(key: string): void {
    this.#now.add(key);
  }

  /** Whether the current audit repaired the item of this key, or tried to. */
  has(key: string): boolean {
    return this.#now.has(key);
  }

  /** Ends the current audit. Returns the number of items that it repaired and the audit before it repaired too. */
  end(): number {
    const before = this.#before;
    this.#before = this.#now;
    this.#now = new Set();
    let repeated = 0;
    if (before.size > 0) for (const key of this.#before) if (before.has(key)) repeated++;
    return repeated;
  }
}
