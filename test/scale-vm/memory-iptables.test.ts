// Memory of the command in iptables mode with a large cluster on a real kernel: after the first pass, and after three audits, each of which
// reads all rules.
// Needs: conntrack, nftables, command, idle
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { selectBackend } from '../support/namespaces/iptablesBackend.js';
import { tool } from '../support/namespaces/tools.js';
import { memoryOf, startInCluster } from '../support/processes/largeCluster.js';

const SERVICES = 5000;
const ENDPOINTS_EACH = 2;
const AUDITS = 3;
/** Maximum resident memory, in MB (10^6 bytes): after the first pass, between and after audits, and ever. */
const MOST = { first: 130, later: 150, ever: 170 } as const;

selectBackend('nft');

it(`${SERVICES} Services with ${ENDPOINTS_EACH} endpoints each in iptables mode, and ${AUDITS} audits`, async (t) => {
  const flags = ['--proxy-mode=iptables', '--iptables-sync-period=5s', '--cluster-cidr=10.128.0.0/9', '-v=4'];
  const { agent, synced } = await startInCluster(t, SERVICES, ENDPOINTS_EACH, flags);
  const resident = () => memoryOf(agent.pid, 'VmRSS');
  const first = resident();
  const rules = tool('iptables-save', '-t', 'nat').split('\n').length;
  assert.ok(rules > SERVICES * ENDPOINTS_EACH * 3, `only ${rules} lines`);
  t.diagnostic(
    `${synced['operations']} operations, ${rules} lines of table nat; resident ${first.toFixed(1)} MB`,
  );
  /** The passes that compared all items. */
  const audits = () => agent.log.filter((line) => /"full":true.*"msg":"synced"/.test(line)).slice(1);
  const after: number[] = [];
  for (const deadline = Date.now() + 300_000; after.length < AUDITS; await wait(50)) {
    assert.ok(Date.now() < deadline, agent.log.slice(-5).join('\n'));
    if (audits().length === after.length) continue;
    after.push(resident());
    // Without a change of the ruleset, the next audit would read no rules.
    tool('nft', 'add', 'table', 'ip', `other${after.length}`);
  }
  for (const line of audits()) assert.match(line, /"operations":0,.*"failures":0/);
  const highest = memoryOf(agent.pid, 'VmHWM');
  const shown = after.map((megabytes) => megabytes.toFixed(1)).join(', ');
  t.diagnostic(`resident after the audits ${shown} MB, at its highest ${highest.toFixed(1)} MB`);
  assert.ok(first <= MOST.first, `${first} MB after the first pass`);
  assert.ok(Math.max(...after) <= MOST.later, `${shown} MB after the audits`);
  assert.ok(highest <= MOST.ever, `${highest} MB at its highest`);
});
