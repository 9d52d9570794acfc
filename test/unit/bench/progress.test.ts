// The progress of a benchmark: the bar, its times, and lines for outputs that are not terminals.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Progress, type ProgressForm, progressBar } from '../../../bench/output/progress.js';
import type { Step } from '../../../bench/types.js';

const step = (repetition: number, services = 100): Step => ({
  scenario: 'full',
  method: 'ours',
  size: { services, endpoints: 10 },
  repetition,
});

/** Three steps, of which the last one takes as long as both others. */
function run(form: ProgressForm, columns = 120) {
  let [written, time] = ['', 1000];
  const progress = new Progress(form, {
    columns: () => columns,
    write: (text) => {
      written += text;
    },
    now: () => time,
  });
  const steps = [
    { ...step(0), weight: 1 },
    { ...step(1), weight: 1 },
    { ...step(1, 1000), weight: 2 },
  ];
  progress.planned(steps);
  const states = steps.map((one) => {
    progress.started(one);
    time += 2000 * one.weight;
    progress.ended(one);
    return progress.state('');
  });
  progress.close();
  return { written, states };
}

describe('the progress', () => {
  it('knows the share, and the time left from the weights of the steps', () => {
    const { states } = run('none');
    assert.deepEqual(
      states.map(({ share, elapsed, left }) => [share, elapsed, left]),
      [
        [0.25, 2000, 6000],
        [0.5, 4000, 4000],
        [1, 8000, 0],
      ],
    );
  });

  it('is a bar on a terminal, which is removed at the end', () => {
    const { written } = run('bar');
    const lines = written.split('\r\u001b[K');
    assert.equal(lines[0], '');
    assert.equal(lines.at(-1), '');
    assert.equal(
      lines[1],
      '░░░░░░░░░░░░░░░░░░░░░░░░   0 %  0 s  Full programming of a node, 100 x 10, kube-netlink-proxy, warm-up',
    );
    assert.equal(
      lines[2],
      '██████░░░░░░░░░░░░░░░░░░  25 %  2 s, 6 s left  Full programming of a node, 100 x 10, kube-netlink-proxy, warm-up',
    );
    assert.match(written, /1000 x 10, kube-netlink-proxy, run 1/);
  });

  it('has lines of at most 80 columns otherwise', () => {
    assert.equal(
      run('lines').written,
      [
        '0 %, 0 s: Full programming of a node, 100 x 10, kube-netlink-proxy, warm-up\n',
        '25 %, 2 s, 6 s left: Full programming of a node, 100 x 10, kube-netlink-proxy,\n  run 1\n',
        '50 %, 4 s, 4 s left: Full programming of a node, 1000 x 10, kube-netlink-proxy,\n  run 1\n',
      ].join(''),
    );
  });

  it('may be silent', () => {
    assert.equal(run('none').written, '');
  });

  it('has lines that fit in the terminal', () => {
    for (const columns of [1, 20, 60, 200]) {
      const bar = progressBar({ share: 0.5, elapsed: 1, left: undefined, step: 'x'.repeat(100) }, columns);
      assert.ok(bar.length <= columns, `${bar.length} > ${columns}`);
    }
  });
});
