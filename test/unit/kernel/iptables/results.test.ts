// The lines that iptables-restore names, and the results of the operations that wrote them.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type Outcome, type RestoreFailure, resultsOf } from '../../../../src/kernel/iptables/results.js';
import { restoreTables } from '../../../../src/kernel/iptables/text.js';
import type { IptablesOperation, Table } from '../../../../src/kernel/iptables/types.js';

function setChain(table: Table, name: string, ...rules: string[]): IptablesOperation {
  return { do: 'setChain', chain: { family: 4, table, name, rules } };
}

// Lines: 1 *nat, 2 :A, 3 :C, 4 -A A, 5 -A C, 6 COMMIT, 7 its mark, 8 *filter, 9 :B, 10 -A B, 11 COMMIT, 12 its mark.
const OPERATIONS = [
  setChain('nat', 'A', '-j A'),
  setChain('filter', 'B', '-j B'),
  setChain('nat', 'C', '-j C'),
];

function results(
  committed: number | undefined,
  message: string,
  { code = 'ERR_PROCESS', linesBefore = 100 }: Partial<RestoreFailure> = {},
): string[] {
  const tables = restoreTables(OPERATIONS);
  const outcome: Outcome = {
    program: 'iptables-restore',
    tables,
    committed,
    failure: { code, message, linesBefore },
  };
  return resultsOf(OPERATIONS, outcome).map((error) => {
    if (!error) return 'ok';
    if (error.code === 'ERR_ROLLED_BACK') return 'rolled back';
    return error.target === 'iptables-restore' ? error.code : (String(error.target).split(': ')[1] as string);
  });
}

for (const { title, committed, message, expected } of [
  {
    title: 'a rule that cannot be read',
    committed: 0,
    message:
      "iptables-restore v1.8.9 (legacy): host/network `1.2.3.400' not found\nError occurred at line: 105\nTry `iptables-restore -h'",
    expected: ['rolled back', 'rolled back', '-A C -j C'],
  },
  {
    title: 'a rule of the second table',
    committed: 1,
    message: 'iptables-restore: line 110 failed',
    expected: ['ok', '-A B -j B', 'ok'],
  },
  {
    title: 'several rules that the kernel refuses',
    committed: 0,
    message:
      'iptables-restore v1.8.9 (nf_tables): \nline 104: RULE_APPEND failed (Invalid argument): rule in chain A\nline 105: RULE_APPEND failed (Invalid argument): rule in chain C',
    expected: ['-A A -j A', 'rolled back', '-A C -j C'],
  },
  {
    title: 'only the line of COMMIT',
    committed: 0,
    message: 'iptables-restore: line 106 failed',
    expected: ['ERR_PROCESS', 'rolled back', 'ERR_PROCESS'],
  },
  {
    title: 'no line',
    committed: 1,
    message: 'Memory allocation problem',
    expected: ['ok', 'ERR_PROCESS', 'ok'],
  },
  {
    title: 'a line of another change',
    committed: 0,
    message: 'line 3 failed',
    expected: ['ERR_PROCESS', 'rolled back', 'ERR_PROCESS'],
  },
]) {
  it(`an error that names ${title}`, () => assert.deepEqual(results(committed, message), expected));
}

it('the line shows which tables were committed, if nothing else does', () => {
  const alone = { linesBefore: 0 };
  assert.deepEqual(results(undefined, 'line 10 failed', alone), ['ok', '-A B -j B', 'ok']);
  assert.deepEqual(results(undefined, 'line 11 failed', alone), ['ok', 'ERR_PROCESS', 'ok']);
  assert.deepEqual(results(undefined, 'line 4 failed', alone), ['-A A -j A', 'rolled back', 'rolled back']);
});

it('an error of which no operation is the cause is that of all that were not committed', () => {
  const code = 'ERR_UNKNOWN_OUTCOME';
  assert.deepEqual(results(0, 'ended by SIGKILL', { code }), [code, code, code]);
  assert.deepEqual(results(1, 'ended by SIGKILL', { code }), ['ok', code, 'ok']);
});
