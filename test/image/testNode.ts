// The machine as a node of a small cluster: an address, an API server, and pods from manifests.
import { execFileSync } from 'node:child_process';
import { ApiCluster } from '../support/apiServer/apiCluster.js';
import { makeAuthority } from '../support/apiServer/certificates.js';
import { closeAfter } from '../support/closeAfter.js';
import { service, slice } from '../support/clusters/manifests.js';
import { Pod } from '../support/deployment/container.js';
import type { PodSpec } from '../support/deployment/daemonSet.js';
import { kubeadmConfiguration, kubeadmKubeconfig } from '../support/deployment/kubeadm.js';

/** The node IP. */
export const NODE_IP = '192.168.50.10';

const TOKEN = 'a-token';
const ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';
/** The interface with the node IP. */
export const NODE_DEVICE = 'knp-node';

const NODE = `apiVersion: v1
kind: Node
metadata: {name: node-a, uid: 8d9c}
spec: {podCIDRs: [10.244.1.0/24]}
status: {addresses: [{type: InternalIP, address: ${NODE_IP}}]}
---
`;

/** A node whose cluster has one Service, demo/web at 10.96.10.10, with an endpoint on this node, port 8080. */
export class TestNode {
  readonly #cluster: ApiCluster;
  readonly #certificate: string;

  private constructor(cluster: ApiCluster, certificate: string) {
    this.#cluster = cluster;
    this.#certificate = certificate;
  }

  static async start(): Promise<TestNode> {
    const authority = makeAuthority('test');
    const tls = authority.server();
    const cluster = await ApiCluster.start({ tls, tokens: new Set([TOKEN]) });
    cluster.hold(NODE + service('web', '10.96.10.10') + slice('web', NODE_IP));
    execFileSync('ip', ['link', 'add', NODE_DEVICE, 'type', 'dummy']);
    execFileSync('ip', ['addr', 'add', `${NODE_IP}/24`, 'dev', NODE_DEVICE]);
    execFileSync('ip', ['link', 'set', NODE_DEVICE, 'up']);
    return new TestNode(cluster, authority.cert);
  }

  /** A pod of this cluster; `mode` is the mode in the ConfigMaps, default ipvs. That of kubeadm is blank. */
  pod(spec: PodSpec, mode: '' | 'ipvs' = 'ipvs'): Pod {
    const configuration = kubeadmConfiguration('/var/lib/kube-proxy/kubeconfig.conf');
    const files = {
      'config.conf': mode === '' ? configuration : configuration.replace('mode: ""', `mode: ${mode}`),
      'kubeconfig.conf': kubeadmKubeconfig(this.#cluster.server.url, `${ACCOUNT}/ca.crt`, `${ACCOUNT}/token`),
    };
    return closeAfter(
      new Pod(spec, {
        nodeName: 'node-a',
        configMaps: { 'kube-proxy': files, 'kube-netlink-proxy': files },
        serviceAccount: { 'ca.crt': this.#certificate, token: TOKEN },
      }),
    );
  }

  /** Restores the kernel for the node of the next file. */
  async close(): Promise<void> {
    await this.#cluster.close();
    execFileSync('ip', ['link', 'delete', NODE_DEVICE]);
    execFileSync('sh', ['-c', WIPE], { stdio: ['ignore', 'ignore', 'inherit'] });
  }
}

const WIPE = `
ipvsadm --clear
for program in iptables-nft ip6tables-nft iptables-legacy ip6tables-legacy; do
  for table in filter nat mangle; do
    $program -t $table -F && $program -t $table -X || exit
  done
done
ipset destroy
ip link delete kube-ipvs0 2>/dev/null || true
`;
