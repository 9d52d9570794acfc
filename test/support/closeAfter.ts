// Closes the resources of a test file in reverse order, also if the setup failed: a remaining child process would
// prevent the end of the test file.
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

/** Closes a resource after all tests of the file. Returns it. */
export function closeAfter<Thing extends Closable>(thing: Thing): Thing {
  opened.push(thing);
  return thing;
}
