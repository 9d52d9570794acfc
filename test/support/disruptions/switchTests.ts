// The tests of changes among modes, from each to the next and from the last to the first. The proxy changes its mode while many clients
// send requests, and is killed during each change. No request may fail, and nothing of the former mode may be left.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { ask } from '../namespaces/witnesses.js';
import { type LayoutName, layoutsOf } from './layoutsOf.js';
import { OBSTACLES } from './obstacles.js';
import { SwitchLab } from './switchLab.js';

/** How the tools show that a mode has state: a command, and what it prints then. */
const TRACES = {
  ipvs: { command: ['ip', '-o', 'link'], shown: /kube-ipvs0/ },
  iptables: { command: ['iptables-save'], shown: /KUBE-(SVC|SEP|EXT)-/ },
  nftables: { command: ['nft', 'list', 'tables'], shown: /^table ip6? kube-proxy$/m },
} as const;

type ModeName = keyof typeof TRACES;

/** A mode; in nftables mode with a layout, if not with that of kube-proxy. */
export type SwitchedMode = ModeName | `nftables ${LayoutName}`;

/** Time limit for the removal of a mode's state, in ms: connections of IPVS expire after two minutes. */
const REMOVAL = 400_000;

function divide(setting: SwitchedMode): { readonly mode: ModeName; readonly layout: LayoutName | undefined } {
  const [mode, layout = 'kube-proxy'] = setting.split(' ') as [ModeName, LayoutName?];
  return { mode, layout: mode === 'nftables' ? layout : undefined };
}

/**
 * The tests of a file.
 *
 * @param settings modes in the order of the changes; the last change is to the first
 * @param drainTimeout see {@link SwitchLab.open}
 */
export function testSwitches(
  settings: readonly [ModeName, SwitchedMode, ...SwitchedMode[]],
  drainTimeout: string,
): void {
  const [first] = settings;
  const modes = [...new Set(settings.map((setting) => divide(setting).mode))];
  let lab: SwitchLab;

  const hasState = (mode: ModeName) => TRACES[mode].shown.test(ask(lab.node, ...TRACES[mode].command));
  const withState = () => modes.filter(hasState);

  /** Waits until no state of the mode is left. */
  async function removed(mode: ModeName): Promise<void> {
    for (const deadline = performance.now() + REMOVAL; hasState(mode); await delay(200))
      assert.ok(performance.now() < deadline, `the state of ${mode} mode is not removed`);
  }

  /** Connections of the clients keep the state of ipvs mode: all of it, also the chains that iptables mode has too. */
  async function kept(): Promise<void> {
    await lab.proxy.logged(({ msg }) => msg.startsWith('connections still use'), 'the connections');
    const rules = ask(lab.node, 'iptables-save');
    for (const chain of ['KUBE-SERVICES', 'KUBE-POSTROUTING', 'KUBE-MARK-MASQ', 'KUBE-FORWARD'])
      assert.match(rules, new RegExp(`^-A ${chain} `, 'm'));
    assert.ok(hasState('ipvs'));
  }

  before(async () => {
    lab = await SwitchLab.open(first, drainTimeout);
  });

  const changes = settings.map((current, i) => {
    const next = settings[i + 1] ?? first;
    const { mode: to, layout } = divide(next);
    const flags = layout === undefined ? [] : [`--nftables-layout=${layout}`];
    return { title: `${current} → ${next}`, from: divide(current).mode, to, layout, flags };
  });

  for (const { title, from, to, layout, flags } of changes)
    test(`${title}: no request fails, and nothing of ${from} mode is left`, async () => {
      assert.deepEqual(withState(), [from]);
      await lab.whileAsking(async () => {
        await lab.change(to, ...flags);
        if (from === 'ipvs') await kept();
        else await removed(from);
      });
      await removed(from);
      assert.deepEqual(withState(), [to]);
      if (layout !== undefined) assert.deepEqual(layoutsOf(lab.node), [layout]);
    });

  for (const { title, from, to, flags } of changes)
    test(`${title}: ${from} mode serves while ${OBSTACLES[to].title}`, async () => {
      await lab.whileAsking(async () => {
        await lab.obstruct(OBSTACLES[to], to, ...flags);
        await lab.replaced();
      });
      await removed(from);
    });

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
