// An agent in ipvs mode with rules of nf_tables, with the seccomp profile of deploy/ and one capability. It has a network namespace of its
// own: with this capability, no program reads the tables of iptables-legacy that other tests leave in theirs.
// Needs: ipvs, nftables, dummy device, command, seccomp
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { testSealedAgent } from '../support/sealing/sealedAgent.js';
import { SEALED_IPVS_TABLES } from '../support/sealing/sealedModes.js';

/** Set in the namespace. */
const INSIDE = 'KNP_SEALED_INSIDE';

if (process.env[INSIDE] !== undefined) testSealedAgent(SEALED_IPVS_TABLES);
else
  test('an agent in a network namespace of its own', () => {
    const { NODE_TEST_CONTEXT: _, ...env } = process.env;
    const words = ['--net', process.execPath, '--test', fileURLToPath(import.meta.url)];
    const { status, stdout } = spawnSync('unshare', words, {
      env: { ...env, [INSIDE]: 'yes' },
      encoding: 'utf8',
    });
    assert.equal(status, 0, stdout);
  });
