// The modes of the rollout tests: how their endpoints show in the kernel, read with the tools of each mode.
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { openIpvs } from '../../../src/kernel/ipvs/index.js';
import type { NftablesLayout } from '../../../src/proxy/modes/nftables/index.js';
import { shardOf } from '../../../src/proxy/modes/nftables/plan/containers.js';
import { realServersBecome } from '../../laboratory/kernelView.js';
import type { Lab } from '../../laboratory/lab.js';
import { PATIENCE } from '../../laboratory/patience.js';
import { NODE_A } from '../../laboratory/places.js';
import { ask } from '../namespaces/witnesses.js';

/** The addresses of the Service, and their port. */
export const CLUSTER_IP = '10.96.0.80';
export const EXTERNAL_IP = '203.0.113.80';
export const PORT = 80;

/** A mode of the proxy. */
export interface RolloutMode {
  readonly flags: readonly string[];
  /**
   * Time for which a terminating backend still serves after the proxy has programmed that it terminates, in ms; the default grace period
   * of a pod is 30 s.
   */
  readonly grace: number;
  /** Each change is made by an iptables-restore that runs for long. */
  readonly longLivedPrograms: boolean;
  /** Only while the proxy is killed and restarted: another mode has the same undisturbed changes. */
  readonly onlyRestarted?: boolean;
  /** Called when the clients have sent requests, before the first backend is replaced. */
  whenOpen?(lab: Lab): Promise<void>;
  /** Waits until the Service has exactly these endpoints, `address:port` each. */
  endpointsBecome(lab: Lab, endpoints: readonly string[]): Promise<void>;
  /** Waits until only this number of endpoints is left, and none is draining. */
  settled(lab: Lab, endpoints: number): Promise<void>;
}

/** ipvs mode. A real server is draining until its connections have expired, which takes two minutes, or this time. */
export const IPVS_ROLLOUT: RolloutMode = {
  flags: ['--drain-timeout', '20s'],
  grace: 3000,
  longLivedPrograms: false,
  async endpointsBecome(lab, endpoints) {
    const ipvs = await openIpvs({ netns: lab.netns(NODE_A) });
    try {
      for (const address of [CLUSTER_IP, EXTERNAL_IP])
        await realServersBecome(ipvs, { address, port: PORT, protocol: 'tcp' }, endpoints, PATIENCE);
    } finally {
      ipvs.close();
    }
  },
  async settled(lab, endpoints) {
    const shown = () => ask(lab.namespace(NODE_A), 'ipvsadm', '-S', '-n');
    for (const deadline = performance.now() + PATIENCE; / -w 0$/m.test(shown()); await delay(500)) {
      assert.ok(performance.now() < deadline, `still draining:\n${shown()}`);
    }
    assert.equal(shown().match(/^-a /gm)?.length, 2 * endpoints, shown());
  },
};

/** The same with rules of nf_tables. */
export const IPVS_TABLES_ROLLOUT: RolloutMode = {
  ...IPVS_ROLLOUT,
  onlyRestarted: true,
  flags: [...IPVS_ROLLOUT.flags, '--ipvs-rules', 'nftables'],
};

/** iptables mode. Established connections keep their endpoint, because conntrack knows them and no rule is asked. */
export const IPTABLES_ROLLOUT: RolloutMode = {
  flags: ['--proxy-mode=iptables', '--iptables-min-sync-period=0s'],
  grace: 1500,
  longLivedPrograms: true,
  async endpointsBecome(lab, endpoints) {
    const wanted = endpoints.toSorted();
    for (const deadline = performance.now() + PATIENCE; ; await delay(20)) {
      const found = selectedEndpoints(natRules(lab));
      if (found.join() === wanted.join()) return;
      assert.ok(performance.now() < deadline, `the rules select ${found}, and not ${wanted}`);
    }
  },
  async settled(lab, endpoints) {
    const saved = natRules(lab);
    assert.equal(saved.match(/^:KUBE-SEP-/gm)?.length, endpoints, saved);
  },
};

function natRules(lab: Lab): string {
  return ask(lab.namespace(NODE_A), 'iptables-save', '-t', 'nat');
}

/** The endpoints that the chain of the only Service selects, sorted. */
function selectedEndpoints(saved: string): string[] {
  const selected = [...saved.matchAll(/^-A KUBE-SVC-.* -j (KUBE-SEP-\S+)$/gm)].map(([, chain]) => chain);
  const translations = [...saved.matchAll(/^-A (KUBE-SEP-\S+) .* --to-destination (\S+)$/gm)];
  return translations
    .filter(([, chain]) => selected.includes(chain))
    .map(([, , endpoint]) => endpoint ?? '')
    .sort();
}

/** How the endpoints of the only Service show in each layout of nftables mode. */
const NFT_LAYOUTS: Readonly<
  Record<
    NftablesLayout,
    { readonly chains: RegExp; endpoints(listed: string): readonly (string | undefined)[][] }
  >
> = {
  'kube-proxy': {
    chains: /chain service-\S+\/ /g,
    // numgen random mod 2 map { 0 : 10.244.1.11 . 8080, … }
    endpoints: (listed) => {
      const [, map = ''] = /chain service-\S+\/ \{[^}]* map \{([^}]*)\}/.exec(listed) ?? [];
      return [...map.matchAll(/: (\S+) \. (\d+)/g)];
    },
  },
  scalable: {
    // Those of the map with the endpoints of the cluster IP.
    chains: new RegExp(`chain balance-\\d+-${shardOf(`${CLUSTER_IP} . tcp . ${PORT}`)} `, 'g'),
    // 10.96.0.80 . tcp . 80 . 0 : 10.244.1.11 . 8080
    endpoints: (listed) => [
      ...listed.matchAll(new RegExp(`${CLUSTER_IP} \\. tcp \\. ${PORT} \\. \\d+ : (\\S+) \\. (\\d+)`, 'g')),
    ],
  },
};

/** nftables mode. As in iptables mode, conntrack knows the endpoint of an established connection. */
export function nftablesRollout(layout: NftablesLayout): RolloutMode {
  const { chains, endpoints: endpointsIn } = NFT_LAYOUTS[layout];
  const mapped = (listed: string) =>
    endpointsIn(listed)
      .map(([, address, port]) => `${address}:${port}`)
      .sort();
  return {
    flags: ['--proxy-mode=nftables', '--iptables-min-sync-period=0s', `--nftables-layout=${layout}`],
    grace: 1500,
    longLivedPrograms: false,
    async endpointsBecome(lab, endpoints) {
      const wanted = endpoints.toSorted();
      for (const deadline = performance.now() + PATIENCE; ; await delay(50)) {
        const found = mapped(nftTable(lab));
        if (found.join() === wanted.join()) return;
        assert.ok(performance.now() < deadline, `the map has ${found}, and not ${wanted}`);
      }
    },
    async settled(lab, endpoints) {
      const listed = nftTable(lab);
      assert.equal(mapped(listed).length, endpoints, listed);
      assert.equal(listed.match(chains)?.length, 1, listed);
    },
  };
}

function nftTable(lab: Lab): string {
  return ask(lab.namespace(NODE_A), 'nft', 'list', 'table', 'ip', 'kube-proxy');
}
