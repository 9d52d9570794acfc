// docs/configuration.md lists every field and flag with its default, and names the fields without effect.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { defaultConfiguration } from '../../../../src/command/config/configuration.js';
import { FLAGS, KUBE_PROXY_FLAGS, OWN_FLAGS } from '../../../../src/command/config/flags.js';
import { whyIgnored } from '../../../../src/command/config/ignored.js';
import { CONFIGURATION } from '../../../../src/command/config/schema.js';
import { nftablesOptions } from '../../../../src/command/modes/nftables/fromConfiguration.js';
import { MODES } from '../../../../src/command/modes/select.js';
import { ROOT } from '../../../support/paths.js';

const TEXT = readFileSync(join(ROOT, 'docs/configuration.md'), 'utf8');

/** The cells of the rows of a section's table, without their back quotes. */
function rows(title: string): string[][] {
  const section = TEXT.split(`## ${title}\n`)[1]?.split('\n## ')[0] ?? '';
  const lines = section.split('\n').filter((line) => line.startsWith('| `'));
  return lines.map((line) =>
    line
      .slice(1, -1)
      .split(' |')
      .map((cell) => cell.trim().replaceAll('`', '')),
  );
}

/** Every path of an object that holds no object itself. */
function paths(value: unknown, path: string): string[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || path === 'featureGates')
    return [path];
  return Object.entries(value).flatMap(([name, below]) =>
    paths(below, path === '' ? name : `${path}.${name}`),
  );
}

function valueAt(value: unknown, path: string): unknown {
  return path.split('.').reduce((object, step) => (object as Record<string, unknown>)?.[step], value);
}

describe('the table of fields', () => {
  const fields = rows('Fields');
  const shown = CONFIGURATION.encode({ ...defaultConfiguration(), mode: 'iptables' });

  it('has every field, once', () => {
    assert.deepEqual(fields.map(([field]) => field).toSorted(), paths(defaultConfiguration(), '').toSorted());
  });

  for (const [field = '', flags = '', absent = '', effect = ''] of fields) {
    it(field, () => {
      const setBy = [...FLAGS].filter(([, { field: set }]) => set === field).map(([name]) => `--${name}`);
      assert.equal(flags, setBy.join(', '));
      const value = valueAt(shown, field);
      const text = value === '' ? 'blank' : value === null ? 'none' : value;
      // Fields that are omitted while they have their default.
      const omitted = value === undefined && ['none', 'false'].includes(absent);
      assert.ok(omitted || absent.split(', or ')[0] === String(text), `${absent} for ${text}`);
      assert.equal(/^none\b/.test(effect), whyIgnored(field, MODES) !== undefined, effect);
    });
  }
});

it('the section Repair has the period of audits of nftables mode, which no field makes longer', () => {
  const [, minutes] = /and (\d+) minutes in nftables mode/.exec(TEXT) ?? [];
  const usual = defaultConfiguration();
  const hours = { ...usual, nftables: { ...usual.nftables, syncPeriod: 6 * 3_600_000 } };
  const { auditPeriod } = nftablesOptions(hours, { families: [4, 6] });
  assert.equal(auditPeriod, Number(minutes) * 60_000);
});

it('the tables of flags have every flag that sets no field', () => {
  const named = [...rows('Flags without a field'), ...rows('Flags that kube-proxy does not have')];
  const flags = Object.entries({ ...KUBE_PROXY_FLAGS, ...OWN_FLAGS }).filter(
    ([, flag]) => !('field' in flag),
  );
  assert.deepEqual(named.map(([flag]) => flag).toSorted(), flags.map(([name]) => `--${name}`).toSorted());
  for (const [flag, , beside] of rows('Flags without a field')) {
    assert.equal(beside === 'yes', FLAGS.get(flag?.slice(2) ?? '')?.withConfig === true, flag);
  }
});
