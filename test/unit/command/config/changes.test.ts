// What a change of each field does to a running agent.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import {
  APPLIED_IN_PLACE,
  changedFields,
  withAppliedFields,
} from '../../../../src/command/config/changes.js';
import { type Configuration, defaultConfiguration } from '../../../../src/command/config/configuration.js';
import { leaves, whyIgnored } from '../../../../src/command/config/ignored.js';
import { MODES } from '../../../../src/command/modes/select.js';
import { ROOT } from '../../../support/paths.js';

/** The default configuration with another value of one field. */
function changedAt(path: string): Configuration {
  const configuration = structuredClone(defaultConfiguration());
  const steps = path.split('.');
  const last = steps.pop() as string;
  const holder = steps.reduce<Record<string, unknown>>(
    (at, step) => at[step] as Record<string, unknown>,
    configuration as unknown as Record<string, unknown>,
  );
  holder[last] = holder[last] === 'changed' ? 'other' : 'changed';
  return configuration;
}

it('each field is applied in place, has no effect, or waits; what moves traffic waits', () => {
  const usual = defaultConfiguration();
  const groups = { applied: [] as string[], waiting: [] as string[], none: [] as string[] };
  for (const path of leaves(usual).keys()) {
    const changed = changedFields(usual, changedAt(path), MODES);
    const group = changed.applied.length > 0 ? 'applied' : changed.waiting.length > 0 ? 'waiting' : 'none';
    assert.deepEqual(group === 'none' ? [] : changed[group], group === 'none' ? [] : [path]);
    groups[group].push(path);
    const kept = leaves(withAppliedFields(usual, changedAt(path))).get(path);
    assert.equal(kept === '"changed"', group === 'applied', path);
  }
  assert.deepEqual(groups.applied, APPLIED_IN_PLACE);
  assert.deepEqual(
    groups.none,
    [...leaves(usual).keys()].filter((path) => whyIgnored(path, MODES) !== undefined),
  );
  for (const path of ['mode', 'clusterCIDR', 'nodePortAddresses', 'detectLocalMode', 'ipvs.scheduler'])
    assert.ok(groups.waiting.includes(path), path);
});

it('a feature gate with an effect that is set waits, one without an effect does not', () => {
  const usual = defaultConfiguration();
  const gates = { AllowServiceExternalIPs: false, SomeGate: true };
  assert.deepEqual(changedFields(usual, { ...usual, featureGates: gates }, MODES), {
    applied: [],
    waiting: ['featureGates.AllowServiceExternalIPs'],
  });
});

it('the page of the configuration names the fields that are applied in place', () => {
  const text = readFileSync(join(ROOT, 'docs/configuration.md'), 'utf8');
  const [, named = ''] = /^Applied in place: (.*)$/m.exec(text) ?? [];
  assert.deepEqual(
    [...named.matchAll(/`([\w.]+)`/g)].map(([, path]) => path),
    APPLIED_IN_PLACE,
  );
});
