// The manifests of deploy/: what they ask of a cluster, and that what they name is there.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { readFlags } from '../../../src/command/config/commandLine.js';
import { accessOfKubeconfig } from '../../../src/proxy/api/kubeconfig.js';
import { ENDPOINT_SLICES, nodes, SERVICE_CIDRS, SERVICES } from '../../../src/proxy/api/resources.js';
import { decodeConfiguration } from '../../support/clusters/decodeConfiguration.js';
import {
  type DaemonSet,
  type PodSpec,
  patched,
  readAllDeployed,
  readDeployed,
} from '../../support/deployment/daemonSet.js';
import { kubeadmDaemonSet } from '../../support/deployment/kubeadm.js';
import { requested } from '../../support/documents/commandLine.js';
import { ROOT } from '../../support/paths.js';

const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
const base = readDeployed<DaemonSet>('base/daemonset.yaml');
const privileged = patched(base, readDeployed<object>('privileged/daemonset.yaml'));
const stock = parse(kubeadmDaemonSet) as DaemonSet;
const podOf = (daemonSet: DaemonSet) => daemonSet.spec.template.spec;

interface Kustomization {
  readonly kind: string;
  readonly resources?: readonly string[];
  readonly components?: readonly string[];
  readonly patches?: readonly { readonly path?: string; readonly patch?: string }[];
  readonly configMapGenerator?: readonly { readonly name: string; readonly files: readonly string[] }[];
  readonly images?: readonly { readonly name: string; readonly newTag: string }[];
}

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

const folders = readdirSync(join(ROOT, 'deploy')).filter((folder) =>
  existsSync(join(ROOT, 'deploy', folder, 'kustomization.yaml')),
);

test('every kustomization names what is there, and the version of the package', () => {
  assert.deepEqual(folders.sort(), [
    'apparmor',
    'base',
    'canary',
    'monitoring',
    'network-policy',
    'privileged',
    'seccomp',
    'stock-config',
  ]);
  for (const folder of folders) {
    const { resources, components, patches, configMapGenerator, images } = readDeployed<Kustomization>(
      `${folder}/kustomization.yaml`,
    );
    const files = [
      ...(resources ?? []),
      ...(components ?? []),
      ...(patches ?? []).flatMap(({ path }) => path ?? []),
      ...(configMapGenerator ?? []).flatMap((generator) => generator.files),
    ];
    for (const file of files)
      assert.ok(existsSync(join(ROOT, 'deploy', folder, file)), `${folder}: no ${file}`);
    for (const { newTag } of images ?? []) assert.equal(newTag, version, folder);
  }
});

test('the DaemonSet runs where kube-proxy would, with its mounts, and finds its own pods', () => {
  const pod = podOf(base);
  const { selector, template } = base.spec;
  assert.deepEqual(template.metadata.labels, selector.matchLabels);
  assert.notDeepEqual(selector.matchLabels, stock.spec.selector.matchLabels);
  for (const field of ['priorityClassName', 'hostNetwork', 'nodeSelector', 'tolerations'] as const) {
    assert.deepEqual(pod[field], podOf(stock)[field], field);
  }
  const [configuration, ...hostPaths] = podOf(stock).volumes;
  assert.deepEqual(pod.volumes, [
    { ...configuration, configMap: { name: 'kube-netlink-proxy' } },
    ...hostPaths,
  ]);
  const [container] = pod.containers;
  const [stockContainer] = podOf(stock).containers;
  assert.deepEqual(container.command, [...stockContainer.command, '--healthz-bind-hard-fail']);
  assert.deepEqual(container.env, stockContainer.env);
  const paths = (mounts: typeof container.volumeMounts) =>
    mounts.map(({ mountPath, readOnly = false }) => ({ mountPath, readOnly }));
  assert.deepEqual(paths(container.volumeMounts), paths(stockContainer.volumeMounts));
});

test('privileged, the container is like that of kube-proxy, with a read-only root filesystem', () => {
  const { initContainers, containers } = podOf(privileged);
  assert.deepEqual(initContainers, []);
  assert.deepEqual(containers[0].securityContext, { privileged: true, readOnlyRootFilesystem: true });
  assert.deepEqual(
    { ...containers[0], securityContext: {} },
    { ...podOf(base).containers[0], securityContext: {} },
  );
});

test('every command has flags that exist, and a configuration that is mounted', () => {
  const { initContainers = [], containers } = podOf(base);
  assert.deepEqual(
    initContainers.map(({ name }) => name),
    ['init-only'],
  );
  for (const { command, volumeMounts, name } of [...initContainers, ...containers]) {
    assert.equal(command[0], '/usr/local/bin/kube-proxy');
    const asked = readFlags(command.slice(1));
    assert.equal(asked.do, 'run');
    assert.ok('config' in asked && asked.config === '/var/lib/kube-proxy/config.conf');
    assert.equal(asked.initOnly, name === 'init-only');
    assert.ok(volumeMounts.some(({ mountPath }) => mountPath === '/var/lib/kube-proxy'));
  }
});

test('pods for one node run where kube-proxy does, on a node that has to be named, once', () => {
  for (const folder of ['plan', 'cleanup']) {
    const { spec } = readDeployed<{ spec: PodSpec & { nodeName: string; restartPolicy: string } }>(
      `${folder}/pod.yaml`,
    );
    const [container] = spec.containers;
    assert.equal(requested(container.command.slice(1)).name, folder);
    assert.equal(container.image, `kube-netlink-proxy:${version}`);
    assert.deepEqual([spec.nodeName, spec.restartPolicy], ['NODE', 'Never']);
    for (const field of ['priorityClassName', 'hostNetwork', 'tolerations'] as const) {
      assert.deepEqual(spec[field], podOf(stock)[field], `${folder}: ${field}`);
    }
    const names = spec.volumes.map(({ name }) => name);
    for (const { name } of container.volumeMounts) assert.ok(names.includes(name), `${folder}: ${name}`);
  }
});

test('the guides name files that are there', () => {
  for (const guide of ['docs/migrate.md', 'deploy/README.md', 'README.md']) {
    const named = readFileSync(join(ROOT, guide), 'utf8').matchAll(/\bdeploy\/[\w./-]*\w/g);
    for (const [path] of named) assert.ok(existsSync(join(ROOT, path)), `${guide}: ${path}`);
  }
});

test('nothing in the manifests and guides waits for a name that nobody has filled in', () => {
  const files = readdirSync(join(ROOT, 'deploy'), { recursive: true, encoding: 'utf8' })
    .map((path) => join('deploy', path))
    .filter((path) => /\.(yaml|conf|md)$/.test(path));
  for (const path of [...files, 'README.md', 'docs/migrate.md']) {
    assert.doesNotMatch(readFileSync(join(ROOT, path), 'utf8'), /OWNER|\.invalid\b/, path);
  }
});

test('an image that is built without arguments has the version of the package', () => {
  const dockerfile = readFileSync(join(ROOT, 'Dockerfile'), 'utf8');
  assert.equal(/^ARG VERSION=(.*)$/m.exec(dockerfile)?.[1], version);
});

test('probes ask the health server of the configuration', () => {
  const { configuration, problems, unknown } = decodeConfiguration(readDeployed('base/config.conf'));
  assert.deepEqual({ problems, unknown }, { problems: [], unknown: [] });
  assert.equal(configuration.mode, 'ipvs');
  assert.equal(configuration.clientConnection.kubeconfig, '/var/lib/kube-proxy/kubeconfig.conf');
  const [{ ports = [], livenessProbe, readinessProbe }] = podOf(base).containers;
  assert.deepEqual(livenessProbe?.httpGet, { path: '/livez', port: 'healthz' });
  assert.deepEqual(readinessProbe?.httpGet, { path: '/readyz', port: 'healthz' });
  const port = (wanted: string) => ports.find(({ name }) => name === wanted)?.containerPort;
  assert.equal(configuration.healthzBindAddress, `0.0.0.0:${port('healthz')}`);
  assert.equal(configuration.metricsBindAddress, `127.0.0.1:${port('metrics')}`);
});

test("the kubeconfig takes the service account's files", () => {
  const { kubeconfig } = afterCommandsOfReadme();
  const access = accessOfKubeconfig('/var/lib/kube-proxy/kubeconfig.conf', kubeconfig);
  assert.deepEqual(access.ca, { file: '/var/run/secrets/kubernetes.io/serviceaccount/ca.crt' });
  assert.deepEqual(access.token, { file: '/var/run/secrets/kubernetes.io/serviceaccount/token' });
  assert.equal(access.server, 'https://10.0.0.10:6443');
});

test('a server that nobody has set ends the proxy, with the error that the guide shows', () => {
  const text = readFileSync(join(ROOT, 'deploy/base/kubeconfig.conf'), 'utf8');
  const said =
    'kubeconfig /var/lib/kube-proxy/kubeconfig.conf: clusters[0].cluster.server: must be a URL, found ""';
  assert.throws(() => accessOfKubeconfig('/var/lib/kube-proxy/kubeconfig.conf', text), { message: said });
  assert.ok(readFileSync(join(ROOT, 'deploy/README.md'), 'utf8').includes(`\`Error: ${said}\``));
});

test('the commands of the guide set what base does not know of a cluster', () => {
  const { configuration, problems } = decodeConfiguration(parse(afterCommandsOfReadme().config));
  assert.deepEqual(problems, []);
  assert.equal(configuration.clusterCIDR, '10.244.0.0/16');
});

/** The configuration of base after the commands under "A cluster's own settings". */
function afterCommandsOfReadme(): { kubeconfig: string; config: string } {
  const guide = readFileSync(join(ROOT, 'deploy/README.md'), 'utf8');
  const [, commands = ''] = /## A cluster's own settings[\s\S]*?\n```sh\n([\s\S]*?)```/.exec(guide) ?? [];
  const folder = mkdtempSync(join(tmpdir(), 'knp-base-'));
  try {
    symlinkSync(ROOT, join(folder, 'kube-netlink-proxy'));
    execFileSync('sh', ['-ec', commands], { cwd: folder });
    const read = (name: string) => readFileSync(join(folder, name), 'utf8');
    return { kubeconfig: read('kubeconfig.conf'), config: read('config.conf') };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test('rights are what is used, and no more than system:node-proxier has', () => {
  const documents = readAllDeployed<{ kind: string; metadata: { name: string }; rules?: Rule[] }>(
    'base/rbac.yaml',
  );
  assert.deepEqual(
    documents.map(({ kind, metadata }) => `${kind} ${metadata.name}`),
    [
      'ServiceAccount kube-netlink-proxy',
      'ClusterRole kube-netlink-proxy',
      'ClusterRoleBinding kube-netlink-proxy',
    ],
  );
  const granted = (documents[1]?.rules ?? []).flatMap(({ apiGroups, resources, verbs }) =>
    apiGroups.flatMap((group) => resources.map((resource) => `${group}/${resource}: ${verbs.join(' ')}`)),
  );
  const watched = [SERVICES, ENDPOINT_SLICES, nodes('a'), SERVICE_CIDRS].map(
    ({ path }) => `${path.replace(/^\/apis?\//, '').replace(/^v1|\/v1/, '')}: list watch`,
  );
  assert.deepEqual(granted.sort(), [...watched, 'events.k8s.io/events: create'].sort());
  assert.equal(podOf(base).serviceAccountName, 'kube-netlink-proxy');
});

test('the canary and kube-proxy never want the same node', () => {
  const canary = patched(base, readDeployed('canary/node-selector.yaml'));
  assert.deepEqual(podOf(canary).nodeSelector, {
    'kubernetes.io/os': 'linux',
    'service-proxy': 'kube-netlink-proxy',
  });
  const patch = readDeployed<object>('canary/kube-proxy.yaml');
  const { affinity } = podOf(patched(stock, patch)) as unknown as { affinity: unknown };
  const expression = { key: 'service-proxy', operator: 'NotIn', values: ['kube-netlink-proxy', 'none'] };
  assert.deepEqual(affinity, {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchExpressions: [expression] }],
      },
    },
  });
});

test('patches of kube-proxy restart nothing by themselves, and change nothing else', () => {
  for (const file of ['canary/kube-proxy.yaml', 'replace-kubeadm/kube-proxy.yaml']) {
    const changed = patched(stock, readDeployed(file));
    assert.deepEqual(changed.spec.updateStrategy, { type: 'OnDelete' }, file);
    assert.deepEqual(
      { ...podOf(changed).containers[0], image: '' },
      { ...podOf(stock).containers[0], image: '' },
    );
  }
  const replaced = patched(stock, readDeployed('replace-kubeadm/kube-proxy.yaml'));
  assert.equal(podOf(replaced).containers[0].image, `kube-netlink-proxy:${version}`);
});

test('the proxy of base keeps two capabilities, and every container has a memory limit', () => {
  const { initContainers = [], containers } = podOf(base);
  for (const { resources, name } of [...initContainers, ...containers]) {
    assert.equal(resources?.limits?.['memory'], '1Gi', name);
  }
  assert.deepEqual(containers[0].securityContext, {
    privileged: false,
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    seccompProfile: { type: 'RuntimeDefault' },
    capabilities: { drop: ['ALL'], add: ['NET_ADMIN', 'NET_RAW'] },
  });
});

test('every container has a seccomp profile, unless it is privileged and so cannot have one', () => {
  const pods = [
    podOf(base),
    podOf(privileged),
    ...['plan', 'cleanup'].map((folder) => readDeployed<{ spec: PodSpec }>(`${folder}/pod.yaml`).spec),
  ];
  for (const { initContainers = [], containers } of pods) {
    for (const { name, securityContext } of [...initContainers, ...containers]) {
      const { privileged = false, seccompProfile } = securityContext;
      assert.equal(seccompProfile?.type, privileged ? undefined : 'RuntimeDefault', name);
    }
  }
});

test('the PodMonitor selects the pods, by a port that they have', () => {
  const monitor = readDeployed<{
    spec: { selector: { matchLabels: object }; podMetricsEndpoints: readonly { port: string }[] };
  }>('monitoring/podmonitor.yaml');
  assert.deepEqual(monitor.spec.selector.matchLabels, base.spec.template.metadata.labels);
  assert.deepEqual(
    monitor.spec.podMetricsEndpoints.map(({ port }) => port),
    ['metrics'],
  );
});
