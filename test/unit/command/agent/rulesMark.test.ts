// The mark of the rules of iptables: only rules of nf_tables have one.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { RulesMark } from '../../../../src/command/modes/iptables/rulesMark.js';

const NFT = '/usr/sbin/xtables-nft-multi';

it('is the generation of nf_tables, which is opened once, if both families have programs of it', async () => {
  const files: Record<string, string | undefined> = { 'iptables-save': NFT, 'ip6tables-save': NFT };
  const happened: string[] = [];
  let id = 7;
  const open = async () => {
    happened.push('open');
    return {
      generation: async () => ({ id: id++, pid: 1, program: 'nft' }),
      close: async () => void happened.push('close'),
    };
  };
  const mark = new RulesMark(open, async (program) => files[program]);
  for (const file of ['/usr/sbin/xtables-legacy-multi', '/usr/local/sbin/iptables', undefined]) {
    files['ip6tables-save'] = file;
    assert.equal(await mark.read(), undefined, file);
  }
  assert.deepEqual(happened, []);
  files['ip6tables-save'] = NFT;
  assert.deepEqual(await Promise.all([mark.read(), mark.read()]), ['7', '8']);
  assert.equal(await mark.read(), '9');
  mark.close();
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(happened, ['open', 'close']);
});

it('is tried again if nf_tables cannot be opened', async () => {
  let error: Error | undefined = new Error('EPERM');
  const open = async () => {
    if (error) throw error;
    return { generation: async () => ({ id: 1, pid: 1, program: 'nft' }), close: async () => {} };
  };
  const mark = new RulesMark(open, async () => NFT);
  await assert.rejects(mark.read(), /EPERM/);
  error = undefined;
  assert.equal(await mark.read(), '1');
});
