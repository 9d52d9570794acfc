// Whether the failures of passes are those of single Services or of the whole node.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Refusals } from '../../../../src/command/agent/refusals.js';
import { NetlinkError } from '../../../../src/kernel/errors.js';
import type { Failure } from '../../../../src/proxy/reconcile/summary.js';

function failure(
  code: string,
  service?: string,
  { operation = 'iptables.restore', vital = false } = {},
): Failure {
  const error = new NetlinkError({ code, operation });
  return { key: 'k', error, vital, ...(service && { services: [service] }) };
}

const refused = (...services: string[]) => services.map((service) => failure('EINVAL', service));
const NOTHING = { failures: [], accepted: 0, unknown: 0, vitalUnknown: [], mostRefused: false };
const SETTING = failure('EROFS', undefined, { operation: 'sysctl.write', vital: true });
const RULE = failure('EINVAL', undefined, { vital: true });

type Pass = Parameters<Refusals['after']>[0];

const HELD_BACK = failure('ERR_HELD_BACK', undefined, { operation: 'kernel.apply', vital: true });

const rows: [name: string, concern: boolean | 'settings', ...passes: Partial<Pass>[]][] = [
  [
    'rules that wait for a setting',
    'settings',
    {
      failures: [SETTING, HELD_BACK],
      accepted: 5,
      unknown: 2,
      vitalUnknown: [SETTING.error, HELD_BACK.error],
    },
  ],
  ['one Service', false, { failures: refused('a/web'), unknown: 1 }],
  ['many Services of one tenant', false, { failures: refused('a/web', 'a/db', 'a/mail'), unknown: 3 }],
  ['Services of two tenants in one pass', true, { failures: refused('a/web', 'b/web'), unknown: 2 }],
  [
    'Services of two tenants in two passes',
    true,
    { failures: refused('a/web'), unknown: 1 },
    { failures: refused('b/web'), unknown: 2 },
  ],
  [
    'Services of two tenants, while others are programmed',
    false,
    { failures: refused('a/web', 'b/web'), accepted: 5 },
  ],
  [
    'Services of two tenants, one before and one after another was programmed',
    false,
    { failures: refused('a/web'), unknown: 1 },
    { accepted: 1, unknown: 1 },
    { failures: refused('b/web'), unknown: 2 },
  ],
  [
    'all Services, and then a pass without operations',
    true,
    { failures: refused('a/web', 'b/web'), unknown: 2 },
    { unknown: 2 },
  ],
  [
    'all Services, until all are in the desired state',
    false,
    { failures: refused('a/web', 'b/web'), unknown: 2 },
    {},
  ],
  [
    'the state that Services share',
    true,
    { failures: [failure('EINVAL', undefined, { vital: true })], accepted: 9 },
  ],
  [
    'the state that Services share, which an audit then skips',
    true,
    { failures: [RULE], unknown: 1, vitalUnknown: [RULE.error] },
    { unknown: 1, vitalUnknown: [RULE.error] },
  ],
  ['most Services of most namespaces', true, { unknown: 3, accepted: 9, mostRefused: true }],
  ...['EROFS', 'EACCES', 'EPERM'].map((code): (typeof rows)[number] => {
    const setting = failure(code, undefined, { operation: 'sysctl.write', vital: true });
    return [
      `a setting that cannot be written: ${code}`,
      'settings',
      { failures: [setting], unknown: 1, vitalUnknown: [setting.error] },
    ];
  }),
  [
    'such a setting, which an audit then skips',
    'settings',
    { failures: [SETTING], unknown: 1, vitalUnknown: [SETTING.error] },
    { unknown: 1, vitalUnknown: [SETTING.error] },
  ],
  [
    'such a setting and a rule of the node',
    true,
    { failures: [SETTING], unknown: 2, vitalUnknown: [SETTING.error, RULE.error] },
  ],
  [
    'such a setting, once the rule of the node is in place',
    'settings',
    { failures: [SETTING, RULE], unknown: 2, vitalUnknown: [SETTING.error, RULE.error] },
    { unknown: 1, accepted: 1, vitalUnknown: [SETTING.error] },
  ],
  [
    'such a setting, once all Services are in the desired state',
    'settings',
    { failures: [SETTING, ...refused('a/web', 'b/web')], unknown: 3, vitalUnknown: [SETTING.error] },
    { unknown: 1, vitalUnknown: [SETTING.error] },
  ],
  [
    'a setting with a value that the kernel refuses',
    true,
    { failures: [failure('EINVAL', undefined, { operation: 'sysctl.write', vital: true })], accepted: 9 },
  ],
  [
    'a lock that another program holds',
    true,
    { failures: [failure('ERR_UNKNOWN_OUTCOME', 'a/web')], unknown: 1 },
  ],
  [
    'missing rights',
    true,
    { failures: [failure('EPERM', 'a/web', { operation: 'ipvs.addService' })], unknown: 1 },
  ],
  ['a missing iptables-restore', true, { failures: [failure('ENOENT', 'a/web')], unknown: 1 }],
  [
    'a missing module that one Service needs',
    false,
    { failures: [failure('ENOENT', 'a/web', { operation: 'ipvs.addService' })], unknown: 1 },
  ],
  [
    'stale flows that cannot be deleted',
    false,
    { failures: [failure('EPERM', undefined, { operation: 'conntrack.list' })] },
  ],
];

describe('the whole node is affected', () => {
  for (const [name, concern, ...passes] of rows) {
    it(`${concern ? 'by' : 'not by'} ${name}`, () => {
      const refusals = new Refusals();
      const results = passes.map((pass) => refusals.after({ ...NOTHING, ...pass }));
      const expected = concern === 'settings' ? 'settings' : concern ? 'all' : 'none';
      assert.equal(results.at(-1), expected);
    });
  }
});
