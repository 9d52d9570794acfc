// A floor imports only from lower floors, and only the outer floors use packages and Node's modules.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { circles, JUDGE_FLOORS, loadedLater, loadedWith, violations } from '../support/floors.js';
import { ROOT } from '../support/paths.js';

/** The files of src, by their path in it. */
function sources(): Map<string, string> {
  const files = filesOf('src');
  assert.ok(files.size > 40, `only ${files.size} files were read`);
  return files;
}

function filesOf(name: string): Map<string, string> {
  const folder = join(ROOT, name);
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) =>
    path.endsWith('.ts'),
  );
  return new Map(paths.map((path) => [path, readFileSync(join(folder, path), 'utf8')]));
}

describe('floors', () => {
  it('hold for every file of src, and no files import each other in a circle', () => {
    const files = sources();
    assert.deepEqual(violations(files), []);
    assert.deepEqual(circles(files), []);
  });

  it('hold for every file of the judge', () => {
    const files = new Map([...filesOf('test/judge')].map(([path, text]) => [`judge/${path}`, text]));
    assert.ok(files.size > 20, `only ${files.size} files were read`);
    assert.deepEqual(violations(files, JUDGE_FLOORS), []);
    assert.deepEqual(circles(files), []);
  });

  it('keep the judge apart from what plans the kernel, and its core from Node', () => {
    const wrong = new Map([
      ['judge/core/a.ts', "import { x } from '../../../src/services/x.js';"],
      ['judge/core/b.ts', "import { readFile } from 'node:fs';"],
      ['judge/core/c.ts', "import { x } from '../simulated/x.js';"],
    ]);
    const found = violations(wrong, JUDGE_FLOORS);
    assert.equal(found.length, 3);
    assert.match(found[0] ?? '', /on no floor/);
    assert.match(found[1] ?? '', /may not reach outside/);
    assert.match(found[2] ?? '', /judge core may not import from judge simulated/);
  });

  it('the agent loads the code of a mode, and of explanations, only when it needs them', () => {
    const files = sources();
    const ofMode = (path: string) =>
      /^(?:command\/modes\/[^/]+\/open|proxy\/modes\/[^/]+\/index)\.ts$/.test(path);
    const ofExplanation = (path: string) => path.startsWith('command/explain/');
    const atStart = loadedWith('command/cli/run.ts', files);
    assert.ok(
      atStart.has('command/modes/ipvs/definition.ts') && atStart.has('command/modes/iptables/definition.ts'),
    );
    assert.deepEqual(
      [...atStart].filter((path) => ofMode(path) || ofExplanation(path)),
      [],
    );
    for (const mode of ['ipvs', 'iptables']) {
      const opened = loadedWith(`command/modes/${mode}/open.ts`, files);
      assert.ok(opened.has(`proxy/modes/${mode}/plan/planService.ts`));
      assert.deepEqual([...opened].filter(ofExplanation), [], mode);
    }
  });

  it('the command never loads the text of nftables but to print rules, and no import() has all of an export', () => {
    const files = sources();
    const reached = loadedWith('command/cli/main.ts', files, 'later');
    assert.ok(reached.has('command/explain/read/nftables.ts') && reached.has('kernel/nftables/index.ts'));
    const text = [...reached].filter((path) => path.startsWith('kernel/nftables/text/'));
    assert.ok(text.includes('kernel/nftables/text/print/rule.ts'));
    const forRulesets = /text\/(?:read\/|index|match|ruleset|\w*Ruleset|rulesetArguments)/;
    assert.deepEqual(
      text.filter((path) => forRulesets.test(path)),
      [],
    );
    // A bundle keeps every export of a file that is loaded by import().
    const whole = [...files].flatMap(([path, code]) =>
      loadedLater(path, code).filter((target) => target.endsWith('/index.ts')),
    );
    assert.deepEqual(whole, []);
  });

  it('let no file outside of the modes and their explanations name one, except the selection', () => {
    // In these, the names are those of parts of the kernel: a message codec, a program, a label of metrics, a value of a flag.
    const parts = [
      'kernel/ipvs/verbs.ts',
      'kernel/iptables/index.ts',
      'command/agent/measure.ts',
      'command/config/ownFlags.ts',
    ];
    const naming = [...sources()].filter(([, text]) => /(['"])(ipvs|iptables)\1/.test(text));
    const named = naming
      .map(([path]) => path)
      .filter((path) => !/^(?:(?:proxy|command)\/modes\/.*\/|command\/explain\/)/.test(path));
    assert.deepEqual(named.toSorted(), [...parts, 'command/modes/select.ts'].toSorted());
  });

  const wrong: [what: string, path: string, text: string, told: RegExp][] = [
    [
      'an upward import',
      'kernel/net/a.ts',
      "import { x } from '../../proxy/services/b.js';",
      /is in a lower layer, but imports proxy\/services/,
    ],
    [
      'an upward import of a type',
      'proxy/services/a.ts',
      "import type { X } from '../modes/mode.js';",
      /services may not import from mode contract/,
    ],
    [
      'a re-export',
      'proxy/objects/a.ts',
      "export * from '../../kernel/ipvs/index.js';",
      /objects may not import from kernel/,
    ],
    [
      'an import type',
      'kernel/net/a.ts',
      "let x: import('../errors.js').Problem;",
      /net may not import from errors/,
    ],
    [
      'an import()',
      'kernel/ipvs/a.ts',
      "await import('../../command/cli/run.js');",
      /is in a lower layer, but imports command\/cli/,
    ],
    [
      'a pure file that imports a module of Node',
      'proxy/services/a.ts',
      "import { readFile } from 'node:fs';",
      /may not reach outside/,
    ],
    [
      'the kernel from a pure file of a mode',
      'proxy/modes/ipvs/plan/a.ts',
      "import '../../../../kernel/ipvs/index.js';",
      /mode plan may not import from kernel parts,/,
    ],
    [
      'one mode from another',
      'proxy/modes/ipvs/program/a.ts',
      "import '../../iptables/plan/a.js';",
      /may not import from another/,
    ],
    [
      'a plan from what programs the kernel, even if only types are used',
      'proxy/modes/ipvs/plan/a.ts',
      "import type { A } from '../program/a.js';",
      /mode plan may not import from mode program/,
    ],
    [
      'what the agent opens, in what the library has',
      'proxy/modes/ipvs/program/a.ts',
      "import '../../../../command/modes/ipvs/a.js';",
      /is in a lower layer, but imports command\/modes/,
    ],
    [
      'the configuration in a program of a mode',
      'proxy/modes/iptables/program/a.ts',
      "import type { Configuration } from '../../../../command/config/configuration.js';",
      /is in a lower layer, but imports command\/config/,
    ],
    [
      'explanations in a mode',
      'command/modes/ipvs/a.ts',
      "import '../../explain/read/ipvs.js';",
      /mode open may not import from explain read/,
    ],
    [
      'the name of a mode outside of the selection',
      'command/agent/a.ts',
      "import '../../proxy/modes/ipvs/index.js';",
      /only command\/modes\/select\.ts knows which modes there are/,
    ],
    [
      'a program that Node starts, on the path of the agent',
      'command/modes/ipvs/a.ts',
      "import { execFile } from 'node:child_process';",
      /mode open may not reach outside, but imports node:child_process/,
    ],
    ['a folder without a floor', 'helpers/a.ts', '', /is on no floor/],
    [
      'a package that is loaded on demand',
      'proxy/api/a.ts',
      "import { KubeConfig } from '@kubernetes/client-node';",
      /loads @kubernetes\/client-node at the start/,
    ],
    [
      'such a package where only its types are allowed',
      'proxy/objects/a.ts',
      "await import('@kubernetes/client-node');",
      /objects may not reach outside/,
    ],
  ];
  it('find a circle of imports, of types too', () => {
    const files = new Map([
      ['kernel/net/a.ts', "import { b } from './b.js';"],
      ['kernel/net/b.ts', "import type { A } from './c.js';"],
      ['kernel/net/c.ts', "export * from './a.js';"],
    ]);
    assert.deepEqual(circles(files), [
      'kernel/net/a.ts → kernel/net/b.ts → kernel/net/c.ts → kernel/net/a.ts',
    ]);
  });

  for (const [what, path, text, told] of wrong) {
    it(`refuse ${what}`, () => {
      const found = violations(new Map([[path, text]]));
      assert.equal(found.length, 1);
      assert.match(found[0] ?? '', told);
    });
  }
});
