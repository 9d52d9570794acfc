// Runs the programs in the documents whose code block has the word `run`.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import ts from 'typescript';
import { PATIENCE } from '../../laboratory/patience.js';
import { ROOT } from '../paths.js';
import { codeBlocks } from './codeBlocks.js';

/** In the package's folder, because the programs import the package by its name. */
const FOLDER = join(ROOT, 'dist', 'codeBlocks');

/** Registers a test for each program that is selected by its text: it runs, and does not fail. */
export function runPrograms(isSelected: (text: string) => boolean): void {
  describe('the programs in the documents', () => {
    const programs = codeBlocks().filter(({ runs, text }) => runs && isSelected(text));
    assert.ok(programs.length > 0);
    mkdirSync(FOLDER, { recursive: true });
    // The network namespace that the documents use in examples.
    execFileSync('ip', ['netns', 'add', 'blue']);
    // IPVS accepts no real server while a namespace has no routing table, and it has none until a link is up.
    execFileSync('ip', ['-n', 'blue', 'link', 'set', 'lo', 'up']);
    after(() => execFileSync('ip', ['netns', 'del', 'blue']));

    for (const { name, text } of programs) {
      it(`${name} runs`, () => {
        const { outputText } = ts.transpileModule(text, {
          compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2023 },
        });
        const file = join(FOLDER, `${name.replaceAll(/[/:]/g, '-')}.mjs`);
        writeFileSync(file, outputText);
        const { status, signal, stderr } = spawnSync(process.execPath, [file], {
          encoding: 'utf8',
          timeout: PATIENCE,
        });
        assert.deepEqual({ status, signal, stderr }, { status: 0, signal: null, stderr: '' });
      });
    }
  });
}
