// The stories of scenarios/*.txt, on a kernel in memory. A line is a step, and the indented lines below it are its text:
//
//   objects              the objects of the cluster from now on: `service NAME IP [FIELDS OF SPEC]`, `slice NAME ENDPOINT…`
//   kernel ipvs          another program changes virtual services: lines of ipvsadm -R
//   fail ipvs N          the Nth operation on IPVS from now on fails, once
//   wait MS              time passes
//   full                 the next pass is a full one
//   restart              the process ends, and another one starts on the same kernel
//   sync                 a pass
//   expect operations N, expect failures N, expect restores N
//                        of the last pass
//   expect ipvs          the virtual services, in the order of their additions: lines of ipvsadm -S
//   remember, expect remembered
//                        the whole state of the kernel
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { parseRules } from '../../../../src/kernel/ipvs/rules.js';
import { failNth } from '../../../../src/kernel/testing/index.js';
import type { SyncSummary } from '../../../../src/proxy/reconcile/summary.js';
import { HOST, service, slice } from '../../../support/clusters/manifests.js';
import { FakeNode } from '../../../support/oracle/testNode.js';
import { ROOT } from '../../../support/paths.js';

const FOLDER = join(ROOT, 'test/unit/proxy/reconcile/scenarios');

/** A step, and the lines of its text. */
interface Step {
  readonly words: string;
  readonly text: string[];
}

/** A node on which the steps of a story are made. */
class Story {
  #node = new FakeNode(HOST);
  #last: SyncSummary | undefined;
  #restores = 0;
  #remembered: unknown;

  async run({ words, text }: Step): Promise<void> {
    const [verb = '', ...rest] = words.split(' ');
    switch (verb) {
      case 'objects':
        return this.#node.loadText(text.map(manifestOf).join(''));
      case 'kernel':
        await this.#node.kernel.ipvs.apply(parseRules(`${text.join('\n')}\n`));
        return;
      case 'fail':
        this.#node.kernel.ipvs.fault = failNth(Number(rest[1]));
        return;
      case 'wait':
        this.#node.now += Number(rest[0]);
        this.#node.reconciler.retryFailed();
        return;
      case 'full':
        this.#node.reconciler.requestFullSync();
        return;
      case 'restart':
        this.#node = new FakeNode(HOST, this.#node.kernel);
        return;
      case 'sync':
        return this.#sync();
      case 'remember':
        this.#remembered = this.#node.output();
        return;
      case 'expect':
        return this.#expect(rest, text);
      default:
        throw new Error(`no step ${words}`);
    }
  }

  async #sync(): Promise<void> {
    const { iptables } = this.#node.kernel;
    const before = iptables.restores;
    this.#last = await this.#node.sync();
    this.#restores = iptables.restores - before;
  }

  #expect([what, count]: readonly string[], text: readonly string[]): void {
    const { operations, failures } = this.#last ?? assert.fail('no pass was made');
    if (what === 'operations') assert.equal(operations, Number(count));
    else if (what === 'failures') assert.deepEqual([failures.length, failures], [Number(count), failures]);
    else if (what === 'restores') assert.equal(this.#restores, Number(count));
    else if (what === 'ipvs') assert.deepEqual(this.#node.kernel.ipvs.dump().split('\n').slice(0, -1), text);
    else if (what === 'remembered') assert.deepEqual(this.#node.output(), this.#remembered);
    else throw new Error(`nothing is known of ${what}`);
  }
}

function manifestOf(line: string): string {
  const [kind, name = '', ...rest] = line.split(' ');
  if (kind === 'slice') return slice(name, ...rest);
  const [ip = '', ...fields] = rest;
  return service(name, ip, fields.length === 0 ? '' : `  ${fields.join(' ')}`);
}

function stepsOf(text: string): Step[] {
  const steps: Step[] = [];
  for (const line of text.split('\n')) {
    if (line.startsWith('  ')) steps.at(-1)?.text.push(line.trim());
    else if (line !== '' && !line.startsWith('#')) steps.push({ words: line, text: [] });
  }
  return steps;
}

for (const file of readdirSync(FOLDER).sort()) {
  const text = readFileSync(join(FOLDER, file), 'utf8');
  it(`${file}: ${/^# (.*)\n/.exec(text)?.[1]}`, async () => {
    const story = new Story();
    const steps = stepsOf(text);
    assert.ok(steps.some(({ words }) => words.startsWith('expect')));
    for (const [i, step] of steps.entries()) {
      try {
        await story.run(step);
      } catch (error) {
        throw new Error(`step ${i + 1}: ${step.words}`, { cause: error });
      }
    }
  });
}
