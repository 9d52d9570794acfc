// The tests of changes among modes, from each to the next and from the last to the first. The proxy changes its mode while many clients
// send requests, and is killed during each change. No request may fail, and nothing of the former mode may be left.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { ask } from '../namespaces/witnesses.js';
import { SwitchLab } from './switchLab.js';

/** How the tools show that a mode has state: a command, and what it prints then. */
const TRACES = {
  ipvs: { command: ['ip', '-o', 'link'], shown: /kube-ipvs0/ },
  iptables: { command: ['iptables-save'], shown: /KUBE-(SVC|SEP|EXT)-/ },
  nftables: { command: ['nft', 'list', 'tables'], shown: /^table ip6? kube-proxy$/m },
} as const;

type ModeName = keyof typeof TRACES;

/** Time limit for the removal of a mode's state, in ms: connections of IPVS expire after two minutes. */
const REMOVAL = 400_000;

/**
 * The tests of a file.
 *
 * @param modes of this package, in the order of the changes
 * @param drainTimeout see {@link SwitchLab.open}
 */
export function testSwitches(
  modes: readonly [ModeName, ModeName, ...ModeName[]],
  drainTimeout: string,
): void {
  const [first] = modes;
  let lab: SwitchLab;

  const hasState = (mode: ModeName) => TRACES[mode].shown.test(ask(lab.node, ...TRACES[mode].command));
  const withState = () => modes.filter(hasState);

  /** Waits until no state of the mode is left. */
  async function removed(mode: ModeName): Promise<void> {
    for (const deadline = performance.now() + REMOVAL; hasState(mode); await delay(200))
      assert.ok(performance.now() < deadline, `the state of ${mode} mode is not removed`);
  }

  before(async () => {
    lab = await SwitchLab.open(first, drainTimeout);
  });

  for (const [i, from] of modes.entries()) {
    const to = modes[i + 1] ?? first;
    test(`${from} → ${to}: no request fails, and nothing of ${from} mode is left`, async () => {
      assert.deepEqual(withState(), [from]);
      await lab.whileAsking(async () => {
        await lab.change(to);
        // Connections of the clients keep the state of ipvs mode.
        if (from !== 'ipvs') await removed(from);
      });
      await removed(from);
      assert.deepEqual(withState(), [to]);
    });
  }

  test('each mode plans the removal of what another one left, and changes nothing', async () => {
    assert.equal(await lab.proxy.end('SIGTERM'), 0);
    assert.deepEqual(lab.planOf(first), { own: [], former: {}, changes: [] });
    for (const mode of modes.slice(1)) {
      const { own, former, changes } = lab.planOf(mode);
      assert.equal(/node ports are served on the node IPs only/.test(changes.join()), mode === 'nftables');
      assert.ok(own.length > 0, mode);
      assert.deepEqual(Object.keys(former), [first]);
      assert.ok(
        former[first]?.every((line) => /^(- | {4}- )/.test(line)),
        former[first]?.join('\n'),
      );
    }
    assert.deepEqual(withState(), [first]);
    const { stdout, stderr } = await lab.once(first);
    assert.match(stdout, /: 0 kernel operations /, stderr);
  });

  test('the state of all modes at once: the first pass leaves that of one, and a clean-up none', async () => {
    for (const mode of [...modes.slice(1), first]) {
      const { status, stderr } = await lab.once(mode);
      assert.equal(status, 0, stderr);
    }
    // Within the drain timeout, the state of ipvs mode may stay.
    assert.deepEqual(
      withState().filter((mode) => mode !== 'ipvs' || mode === first),
      [first],
    );
    assert.match(lab.cleanUp(), /none of our state is left\n$/);
    assert.deepEqual(withState(), []);
  });
}
