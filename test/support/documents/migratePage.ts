// The commands of docs/migrate.md.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../paths.js';

const PAGE = readFileSync(join(ROOT, 'docs/migrate.md'), 'utf8');

function section(heading: string): string {
  const found = PAGE.split(/^## /m).find((text) => text.startsWith(`${heading}\n`));
  assert.ok(found, `no section ${heading}`);
  return found;
}

/** The first code of each row of a section's table, by the first column. */
export function commandsOfTable(heading: string): Map<string, string> {
  const rows = section(heading)
    .replaceAll('\\|', '\0')
    .matchAll(/^\| ([^|]+) \| ([^|]+) \| [^|]* ?\|$/gm);
  return new Map(
    [...rows].flatMap(([, check = '', cell = '']) => {
      const [, command] = /`([^`]+)`/.exec(cell) ?? [];
      return command === undefined ? [] : [[check, command.replaceAll('\0', '|')] as const];
    }),
  );
}

/** The block of commands of a section that has a text. */
export function commandsWith(heading: string, text: string): string {
  const blocks = [...section(heading).matchAll(/^ *```sh\n([\s\S]*?)```$/gm)];
  const found = blocks.find(([, commands]) => commands?.includes(text))?.[1];
  assert.ok(found, `no command of ${heading} has ${text}`);
  return found;
}

/** A command within the text of a section. */
export function commandIn(heading: string, start: string): string {
  const [, found] = new RegExp(`\`(${start}[^\`]*)\``).exec(section(heading)) ?? [];
  assert.ok(found, `no command of ${heading} starts with ${start}`);
  return found;
}
