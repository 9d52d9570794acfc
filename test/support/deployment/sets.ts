// The DaemonSets of the sets of deploy/, as kustomize or a patch of kubectl makes them.
import { parse } from 'yaml';
import { type DaemonSet, patched, readDeployed } from './daemonSet.js';
import { kubeadmDaemonSet } from './kubeadm.js';

const base = readDeployed<DaemonSet>('base/daemonset.yaml');
const { patches } = readDeployed<{ patches: { patch: string }[] }>('stock-config/kustomization.yaml');
const withStockConfig = patched(base, parse(patches[0]?.patch ?? ''));

/** By the name of the set. */
export const DAEMON_SETS = {
  base,
  'stock-config': withStockConfig,
  canary: patched(withStockConfig, readDeployed('canary/node-selector.yaml')),
  'replace-kubeadm': patched(
    parse(kubeadmDaemonSet) as DaemonSet,
    readDeployed('replace-kubeadm/kube-proxy.yaml'),
  ),
} as const;
