// An agent with the AppArmor profile of deploy/, on a kernel that enforces it: in every mode it programs the objects of an API server, and answers its
// pages. Without a rule of the profile it fails with a message that says so.
// Needs: ipvs, dummy device, nftables, conntrack, enforced AppArmor, command, apparmor
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { PATIENCE } from '../laboratory/patience.js';
import { ApiCluster } from '../support/apiServer/apiCluster.js';
import { makeAuthority } from '../support/apiServer/certificates.js';
import { closeAfter } from '../support/closeAfter.js';
import { NODE } from '../support/clusters/manifests.js';
import { kubeadmConfiguration, kubeadmKubeconfig } from '../support/deployment/kubeadm.js';
import { tools } from '../support/namespaces/tools.js';
import { AgentProcess } from '../support/processes/agentProcess.js';
import {
  appArmorProfile,
  CONFIGURATION,
  load,
  PLACED_COMMAND,
  placePackage,
} from '../support/sealing/appArmor.js';
import {
  objects,
  SEALED_IPTABLES_NFT,
  SEALED_IPVS,
  SEALED_NFTABLES,
  type SealedMode,
} from '../support/sealing/sealedModes.js';

const TOKEN = 'a-token';

let cluster: ApiCluster;
let confined: string;
let kubeconfig: string;

const file = (name: string, text: string) => {
  writeFileSync(join(CONFIGURATION, name), text);
  return join(CONFIGURATION, name);
};

before(async () => {
  tools('ip link set lo up');
  confined = placePackage();
  const authority = makeAuthority('test');
  cluster = closeAfter(await ApiCluster.start({ tls: authority.server(), tokens: new Set([TOKEN]) }));
  cluster.hold(NODE + objects('10.244.1.7', '10.244.2.7'));
  const token = file('token', TOKEN);
  const text = kubeadmKubeconfig(cluster.server.url, file('ca.crt', authority.cert), token);
  kubeconfig = file('kubeconfig.conf', text);
});

/** A run to its end, confined. */
function runOnce({ mode }: SealedMode) {
  const manifest = file('objects.yaml', objects('10.244.1.7'));
  const flags = ['--once', `--manifests=${manifest}`, '--hostname-override=node-a', `--proxy-mode=${mode}`];
  return spawnSync(confined, [process.execPath, PLACED_COMMAND, ...flags], { encoding: 'utf8' });
}

for (const sealed of [SEALED_IPVS, SEALED_IPTABLES_NFT, SEALED_NFTABLES]) {
  describe(`an agent in ${sealed.mode} mode under the profile`, () => {
    let agent: AgentProcess;

    before(async () => {
      load(appArmorProfile());
      const configuration = kubeadmConfiguration(kubeconfig).replace('mode: ""', `mode: ${sealed.mode}`);
      const flags = [`--config=${file(`${sealed.mode}.conf`, configuration)}`, '--hostname-override=node-a'];
      // As the init container does, with all privileges: it loads modules.
      const setUp = spawnSync(process.execPath, [PLACED_COMMAND, ...flags, '--init-only'], {
        encoding: 'utf8',
      });
      assert.equal(setUp.status, 0, setUp.stderr);
      process.env['KNP_LAUNCHER'] = confined;
      agent = closeAfter(new AgentProcess(flags, PLACED_COMMAND));
      delete process.env['KNP_LAUNCHER'];
    });

    test('programs the objects of the API server, and a change', async () => {
      assert.match(await agent.logged(/"msg":"synced"/), /"failures":0/);
      const current = readFileSync(`/proc/${agent.pid}/attr/current`, 'utf8').trim();
      assert.equal(current, 'kube-netlink-proxy (enforce)');
      assert.deepEqual(sealed.endpoints(), ['10.244.1.7:8080', '10.244.2.7:8080']);
      cluster.hold(NODE + objects('10.244.2.7', '10.244.2.8'));
      const wanted = '10.244.2.7:8080,10.244.2.8:8080';
      for (const deadline = Date.now() + PATIENCE; sealed.endpoints().join() !== wanted; await delay(50))
        assert.ok(
          Date.now() < deadline,
          `the kernel has ${sealed.endpoints()}\n${agent.log.slice(-5).join('\n')}`,
        );
      cluster.hold(NODE + objects('10.244.1.7', '10.244.2.7'));
    });

    test('answers its pages, and ends with status 0', async () => {
      for (const page of ['10256/healthz', '10256/livez', '10249/metrics', '10249/configz'])
        assert.equal((await fetch(`http://127.0.0.1:${page}`)).status, 200, page);
      assert.equal((await agent.end('SIGTERM')).status, 0);
    });
  });
}

describe('it fails, and says why, without a rule of the profile:', () => {
  const rules = [
    [SEALED_NFTABLES, '  network netlink raw,\n', /EACCES|EPERM/],
    [SEALED_NFTABLES, '  capability net_admin,\n', /EPERM: .*CAP_NET_ADMIN/],
    [SEALED_IPTABLES_NFT, '  /{,usr/}{bin,sbin}/** mrix,\n', /iptables/],
    [SEALED_NFTABLES, '  /var/lib/kube-proxy/** r,\n', /EACCES.*objects\.yaml|objects\.yaml.*EACCES/],
  ] as const satisfies readonly (readonly [SealedMode, string, RegExp])[];
  for (const [sealed, rule, told] of rules) {
    test(rule.trim(), () => {
      const profile = appArmorProfile();
      assert.ok(profile.includes(rule));
      // Node itself is in /usr/bin here, and in /usr/local/bin in the image.
      load(profile.replace(rule, rule.includes('bin') ? `  ${process.execPath} mrix,\n` : ''));
      const { status, stderr } = runOnce(sealed);
      assert.equal(status, 1, stderr);
      assert.match(stderr, told);
    });
  }
});
