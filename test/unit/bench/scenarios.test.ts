import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { LIFE_NAMES, LIVES, lifeOf, SCENARIOS } from '../../../bench/scenarios.js';
import type { LifeName, ScenarioName } from '../../../bench/types.js';

/** The scenarios of a life. */
function scenariosOf(life: LifeName): ScenarioName[] {
  const { mode: _mode, layout: _layout, inMemory = {}, ...onKernel } = LIVES[life];
  return [...Object.values(onKernel), ...Object.values<ScenarioName>(inMemory)];
}

describe('the lives of the proxy', () => {
  it('consist of scenarios that exist, each of one life', () => {
    const all = SCENARIOS.map(({ name }) => name);
    for (const life of LIFE_NAMES) {
      for (const scenario of scenariosOf(life)) {
        assert.ok(all.includes(scenario), scenario);
        assert.equal(lifeOf(scenario), life, scenario);
      }
    }
  });

  it('have every scenario of nftables mode', () => {
    const named = (prefix: string) =>
      SCENARIOS.map(({ name }) => name).filter((name) => name.startsWith(prefix));
    assert.deepEqual(scenariosOf('nftables').sort(), named('nftables').sort());
    assert.deepEqual(scenariosOf('scalable').sort(), named('scalable').sort());
  });

  it('are of ipvs mode for scenarios without a mode in their name', () => {
    const names = ['memory', 'full', 'ipvs', 'iptablesFull', 'scalableMemory'] as const;
    assert.deepEqual(names.map(lifeOf), ['ipvs', 'ipvs', 'ipvs', 'iptables', 'scalable']);
  });
});
