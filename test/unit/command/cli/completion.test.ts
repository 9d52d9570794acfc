// Completion in the shells themselves, and the man page in man(1).
// Needs: shells
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { SCRIPTS } from '../../../../src/command/cli/completion/completion.js';
import { COMMANDS } from '../../../../src/command/cli/definitions.js';
import { manPage } from '../../../../src/command/cli/manPage.js';
import { FLAGS } from '../../../../src/command/config/flags.js';

const folder = mkdtempSync(join(tmpdir(), 'knp-completion-'));
after(() => rmSync(folder, { recursive: true }));
for (const [shell, script] of Object.entries(SCRIPTS)) writeFileSync(join(folder, shell), script());
writeFileSync(join(folder, 'some.conf'), '');

/** The terminal and the locale of the person who runs the tests change what a shell writes. */
const ENVIRONMENT = { PATH: process.env['PATH'], HOME: folder, TERM: 'xterm', LANG: 'C.UTF-8' };
const LIMIT = 30_000;

function output(command: string, ...args: string[]): string {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    ...{ encoding: 'utf8', cwd: folder, env: ENVIRONMENT, timeout: LIMIT },
  });
  if (error) throw error;
  assert.equal(status, 0, stderr);
  assert.equal(stderr, '');
  return stdout;
}

/** Command lines, their last word unfinished, and words that complete it. */
const CASES: readonly (readonly [words: readonly string[], completed: string])[] = [
  [['se'], 'services'],
  [['--ipvs-sch'], '--ipvs-scheduler'],
  [['--init'], '--init-only'],
  [['--kubeconfig', 'k', 'sta'], 'status'],
  [['services', '--int'], '--interval'],
  [['plan', '--ipvs-sch'], '--ipvs-scheduler'],
  [['plan', '-o', 'js'], 'json'],
  [['top', '--sort', 'act'], 'active'],
  [['completion', 'b'], 'bash'],
  [['help', 'di'], 'diff'],
];

describe('bash', () => {
  /** The completions of each line, by the function that the script registers. */
  function completions(lines: readonly (readonly string[])[]): string[][] {
    const calls = lines.map((words) => {
      const all = ['kube-netlink-proxy', ...words].map((word) => `'${word}'`).join(' ');
      return `COMP_WORDS=(${all}); COMP_CWORD=${words.length}; _kube_netlink_proxy; echo "\${COMPREPLY[*]}"`;
    });
    const script = ['set -u', `. ${join(folder, 'bash')}`, ...calls].join('\n');
    return output('bash', '-c', script)
      .split('\n')
      .slice(0, -1)
      .map((line) => line.split(' ').filter(Boolean));
  }

  it('completes commands, options, flags of the agent and values', () => {
    const found = completions(CASES.map(([words]) => words));
    for (const [i, [words, completed]] of CASES.entries()) {
      assert.deepEqual(found[i], [completed], words.join(' '));
    }
  });

  it('completes a value after an equals sign, which bash divides', () => {
    assert.deepEqual(completions([['plan', '--output', '=', 'y']]), [['yaml']]);
    assert.deepEqual(completions([['plan', '--output', '=']]), [['text', 'wide', 'json', 'yaml']]);
  });

  it('offers every flag of the agent, and no flag of the agent alone to a command', () => {
    const [agent, plan] = completions([['--'], ['plan', '--']]);
    assert.deepEqual(agent?.toSorted(), [...FLAGS.keys()].map((name) => `--${name}`).toSorted());
    assert.ok(plan?.includes('--config') && !plan.includes('--cleanup'));
  });

  it('leaves paths to readline', () => {
    assert.deepEqual(
      completions([
        ['plan', '--config', ''],
        ['services', ''],
      ]),
      [[], []],
    );
    assert.match(
      output('bash', '-c', `. ${join(folder, 'bash')}; complete -p kube-netlink-proxy`),
      /-o default/,
    );
  });
});

describe('zsh', () => {
  it('reads the script, and completes commands, options, flags and values', () => {
    output('zsh', '-n', join(folder, 'zsh'));
    writeFileSync(join(folder, '_kube-netlink-proxy'), SCRIPTS['zsh']?.() ?? '');
    // A shell on a terminal of its own: completion works only in its line editor.
    const script = `
      zmodload zsh/zpty
      zpty shell zsh -f -i
      zpty -w shell "PS1= ; fpath=(${folder} \\$fpath); autoload -U compinit; compinit -u -d ${folder}/dump; unsetopt beep; bindkey '^I' complete-word; echo re''ady"
      zpty -r shell line '*ready*'
      for words in "$@"; do
        zpty -w -n shell "kube-netlink-proxy $words"$'\\t'$'\\x01'"echo <"$'\\x05'">"$'\\n'
        zpty -r shell line '*<*kube-netlink-proxy*>*'
        print -r -- "$line"
      done
      zpty -d shell`;
    writeFileSync(join(folder, 'drive.zsh'), script);
    const shown = output('zsh', '-f', join(folder, 'drive.zsh'), ...CASES.map(([words]) => words.join(' ')));
    for (const [words, completed] of CASES) {
      const line = ['kube-netlink-proxy', ...words.slice(0, -1), completed].join(' ');
      assert.ok(shown.includes(line), `${line} is not in\n${shown}`);
    }
  });
});

describe('fish', () => {
  it('completes commands, options, flags of the agent and values', () => {
    const script = join(folder, 'fish');
    output('fish', '--no-execute', script);
    const lines = CASES.map(([words]) => `complete -C 'kube-netlink-proxy ${words.join(' ')}'; echo --end--`);
    const found = output('fish', '--no-config', '-c', `source ${script}; ${lines.join('; ')}`).split(
      '--end--\n',
    );
    for (const [i, [words, completed]] of CASES.entries()) {
      const [first, ...others] = (found[i] ?? '').trim().split('\n');
      assert.equal(first?.split('\t')[0], completed, `${words.join(' ')}: ${found[i]}`);
      assert.deepEqual(others, [], words.join(' '));
    }
  });
});

describe('the man page', () => {
  it('is rendered without a warning, and has every command and flag', () => {
    const path = join(folder, 'kube-netlink-proxy.8');
    writeFileSync(path, manPage());
    output('groff', '-man', '-ww', '-Tutf8', '-z', path);
    const text = output('groff', '-man', '-Tutf8', '-P-cbou', path).replaceAll('\u2010', '-');
    for (const name of FLAGS.keys()) assert.match(text, new RegExp(`--${name}\\b`), name);
    for (const { name } of COMMANDS) assert.match(text, new RegExp(`^ {3}${name}\\b`, 'm'), name);
    assert.match(text, /^SEE ALSO\n {7}ipvsadm\(8\), ipset\(8\), iptables\(8\), ip\(8\)$/m);
  });

  it('has no control line made of text', () => {
    for (const line of manPage().split('\n')) {
      if (line.startsWith('.')) assert.match(line, /^\.(TH|SH|SS|TP|PP|B|BR|br)\b/, line);
      assert.match(line, /^[ -~]*$/, 'ASCII only');
    }
  });
});
