import assert from 'node:assert/strict';
import { it } from 'node:test';
import { openParts } from '../../../../../src/command/modes/shared/openParts.js';

it('open parts are closed if a later one cannot be opened', async () => {
  const events: string[] = [];
  const opener = (name: string) => async () => {
    events.push(`open ${name}`);
    return { name, close: () => void events.push(`close ${name}`) };
  };
  const broken = async (): Promise<{ close(): void }> => {
    throw new Error('no third part');
  };
  await assert.rejects(
    openParts({ first: opener('first'), second: opener('second'), broken, last: opener('last') }),
    /^Error: no third part$/,
  );
  assert.deepEqual(events, ['open first', 'open second', 'close first', 'close second']);
  const { first, second } = await openParts({ first: opener('first'), second: opener('second') });
  assert.deepEqual([first.name, second.name], ['first', 'second']);
  assert.equal(events.filter((event) => event.startsWith('close')).length, 2);
});
