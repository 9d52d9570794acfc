// Closes what a test file opened, last come, first served, also when the opening stopped half-way: a child process that
// is left over would keep the file from ending.
import { after } from 'node:test';

interface Closable {
  close(): unknown;
}

const opened: Closable[] = [];

after(async () => {
  const errors: unknown[] = [];
  for (const thing of opened.reverse()) {
    try {
      await thing.close();
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length > 0) throw new AggregateError(errors, `not closed: ${errors.join('; ')}`);
});

/** Has something closed after all tests of the file; gives it back. */
export function closeAfter<Thing extends Closable>(thing: Thing): Thing {
  opened.push(thing);
  return thing;
}
