// The settings of V8's heap, in a process of their own each: they cannot be taken back.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const HEAP = fileURLToPath(new URL('../../../../src/command/agent/heap.js', import.meta.url));

/** Size of the young generation of a process that has kept many objects, in bytes. */
function youngGeneration(first: string): number {
  const script = `
    import { getHeapSpaceStatistics } from 'node:v8';
    import { keepYoungGenerationSmall } from ${JSON.stringify(HEAP)};
    ${first}
    const kept = [];
    for (let n = 0; n < 500_000; n++) kept.push({ n, list: [n] });
    const { space_size } = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space');
    console.log(space_size * Math.sign(kept.length));`;
  return Number(execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' }));
}

test('the young generation keeps its first size while objects are kept', () => {
  const small = youngGeneration('keepYoungGenerationSmall();');
  assert.ok(small > 0 && small <= 4 * 2 ** 20, `${small} bytes`);
  const usual = youngGeneration('');
  assert.ok(usual >= 2 * small, `without the setting ${usual} bytes, with it ${small}`);
});
