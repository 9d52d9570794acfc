// The probe and the check of the expressions that Services need, the kernel's version, and the families of the host.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { hostFamilies } from '../../../../../src/command/modes/nftablesRules/families.js';
import {
  checkFeatures,
  checkKernel,
  FEATURES,
  probeFeatures,
} from '../../../../../src/command/modes/nftablesRules/prepare.js';
import { NetlinkError, ROLLED_BACK } from '../../../../../src/kernel/errors.js';
import type { NftablesOperation } from '../../../../../src/kernel/nftables/types.js';
import { machine, machineWith } from '../../../../support/fakes/machine.js';

const BOTH = [4, 6] as const;

/** nftables that refuses rules with these expressions. Keeps the transactions. */
function kernelWithout(...kinds: readonly string[]) {
  const transactions: (readonly NftablesOperation[])[] = [];
  const refuses = (operation: NftablesOperation) =>
    operation.do === 'addRule' && operation.rule.expressions.some(({ kind }) => kinds.includes(kind));
  return {
    transactions,
    async apply(operations: readonly NftablesOperation[]) {
      transactions.push(operations);
      if (!operations.some(refuses)) return operations.map(() => undefined);
      return operations.map((operation) => {
        const code = refuses(operation) ? 'ENOENT' : ROLLED_BACK;
        return new NetlinkError({ code, operation: `nftables.${operation.do}` });
      });
    },
  };
}

describe('the probe', () => {
  it('is one transaction for each family, which adds a table and deletes it', async () => {
    const nftables = kernelWithout();
    await probeFeatures(nftables, BOTH, FEATURES);
    assert.equal(nftables.transactions.length, 2);
    for (const [i, family] of (['ip', 'ip6'] as const).entries()) {
      const operations = nftables.transactions[i] ?? [];
      const table = { family, name: 'kube-proxy-probe' };
      assert.deepEqual(operations[0], { do: 'addTable', table });
      assert.deepEqual(operations.at(-1), { do: 'deleteTable', table });
      assert.equal(operations.filter((operation) => operation.do === 'addRule').length, FEATURES.length);
    }
  });

  it('names the family, all that the kernel lacks, and the modules', async () => {
    const nftables = kernelWithout('numgen', 'fib');
    await assert.rejects(probeFeatures(nftables, [6], FEATURES, machineWith(['nft_numgen'])), {
      name: 'NetlinkError',
      code: 'ENOENT',
      target: 'IPv6: fib, numgen',
      hint:
        'the rules of Services need them: the kernel 6.12.1 has no module nft_fib_ipv6: install the package with its modules, or ' +
        'another kernel; load the kernel module nft_numgen (modprobe nft_numgen)',
    });
  });

  it('reports other errors as they are', async () => {
    const error = new NetlinkError({ code: 'EPERM', operation: 'nftables.addTable' });
    const apply = async (operations: readonly NftablesOperation[]) => operations.map(() => error);
    await assert.rejects(probeFeatures({ apply }, [4], FEATURES), { code: 'EPERM' });
  });
});

describe('the check', () => {
  const modules = BOTH.flatMap((family) => FEATURES.map((feature) => feature.module(family)));

  it('finds all modules', () => assert.equal(checkFeatures(BOTH, FEATURES, machineWith(modules)), undefined));

  it('names what is missing', () => {
    const others = modules.filter((module) => module !== 'nft_masq');
    assert.throws(() => checkFeatures(BOTH, FEATURES, machineWith(others)), {
      code: 'ENOENT',
      target: 'IPv4: masq',
    });
  });

  it('warns where modules cannot be looked for', () =>
    assert.match(
      String(checkFeatures([4], FEATURES, machine({}))),
      /unknown whether .*: ct, fib, numgen, reject, nat, masq$/,
    ));
});

describe('the version of the kernel', () => {
  const on = (release: string, environment = {}) => checkKernel(environment, { ...machine({}), release });

  it('is at least 5.13', () => {
    for (const release of ['5.13.0', '5.15.0-91-generic', '6.1.0', '10.0']) on(release);
    for (const release of ['5.12.19', '4.18.0-553.el8']) {
      assert.throws(() => on(release), {
        code: 'EOPNOTSUPP',
        kernelMessage: `kernel ${release} is older than 5.13`,
      });
    }
  });

  it('is not checked with the variable of kube-proxy', () =>
    on('4.18.0', { KUBE_PROXY_NFTABLES_SKIP_KERNEL_VERSION_CHECK: '1' }));
});

describe('the families of the host', () => {
  const disabled = '/proc/sys/net/ipv6/conf/all/disable_ipv6';

  it('are both with IPv6', () =>
    assert.deepEqual(
      hostFamilies(machine({ '/proc/net/if_inet6': '', [disabled]: '0\n' })).families,
      [4, 6],
    ));

  it('are IPv4 alone without IPv6, and with IPv6 disabled', () => {
    assert.deepEqual(hostFamilies(machine({})), {
      families: [4],
      unusable: new Map([[6, 'the kernel runs without IPv6']]),
    });
    const { unusable } = hostFamilies(machine({ '/proc/net/if_inet6': '', [disabled]: '1\n' }));
    assert.match(String(unusable.get(6)), /disabled/);
  });
});
