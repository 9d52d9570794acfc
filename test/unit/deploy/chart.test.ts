// The chart of deploy/: the same objects as the kustomizations beside it, and values that are described and checked.
// Needs: deployTools
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { describe, it } from 'node:test';
import { parse, stringify } from 'yaml';
import { defaultConfiguration } from '../../../src/command/config/configuration.js';
import { externalConfiguration } from '../../../src/command/config/writeConfig.js';
import { MODES } from '../../../src/command/modes/select.js';
import {
  built,
  type KubernetesObject,
  type Objects,
  readChartFile,
  rendered,
  TOOLS,
  templates,
  valuesWith,
} from '../../support/deployment/rendered.js';
import { ROOT } from '../../support/paths.js';

const IMAGE = { name: 'kube-netlink-proxy', newName: 'registry.example/proxy', newTag: '1.2.3' };
const STOCK = { existingConfigMap: 'kube-proxy' };
const LABEL = { 'service-proxy': 'kube-netlink-proxy' };
const MONITORING = { monitoring: { enabled: true } };
const POLICY = { networkPolicy: { enabled: true } };

/** Kustomizations, and the values with which the chart has the same objects. */
const EQUAL: readonly (readonly [
  name: string,
  kustomization: Parameters<typeof built>[0],
  values: Readonly<Record<string, unknown>>,
])[] = [
  ['base', { resources: ['base'] }, {}],
  ['stock-config', { resources: ['base'], components: ['stock-config'] }, STOCK],
  ['privileged', { resources: ['base'], components: ['privileged'] }, { privileged: true }],
  ['monitoring', { resources: ['base'], components: ['monitoring'] }, MONITORING],
  ['network-policy', { resources: ['base'], components: ['network-policy'] }, POLICY],
  ['canary', { resources: ['canary'] }, { ...STOCK, nodeSelector: LABEL }],
  [
    'all components, and an image of a registry',
    {
      resources: ['base'],
      components: ['stock-config', 'privileged', 'monitoring', 'network-policy'],
      images: [IMAGE],
    },
    {
      ...STOCK,
      ...MONITORING,
      ...POLICY,
      privileged: true,
      image: { repository: IMAGE.newName, tag: IMAGE.newTag },
    },
  ],
];

/** Name of the ConfigMap with the configuration, which kustomize ends with a hash. */
function configMapName(objects: Objects): string | undefined {
  const names = [...objects.values()].flatMap(({ kind, metadata: { name } }) =>
    kind === 'ConfigMap' && name !== 'kube-netlink-proxy-dashboard' ? [name] : [],
  );
  assert.ok(names.length <= 1, `${names}`);
  return names[0];
}

/** The annotation that replaces the pods when the configuration changes; with kustomize, the name of the ConfigMap does. */
const CHECKSUM = 'checksum/config';

/** An object whose pod has no init containers may have an empty list of them. */
function comparable(object: KubernetesObject): unknown {
  return JSON.parse(JSON.stringify(object), (_, value: unknown) =>
    (Array.isArray(value) && value.length === 0) || isChecksum(value) ? undefined : value,
  );
}

const isChecksum = (value: unknown) =>
  typeof value === 'object' && value !== null && Object.keys(value).join() === CHECKSUM;

const plain = (objects: Objects) =>
  Object.fromEntries(
    [...objects].sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, object]) => [key, comparable(object)]),
  );

describe('kustomize and the chart have equal objects:', () => {
  for (const [name, kustomization, values] of EQUAL) {
    it(name, async () => {
      const wanted = await built(kustomization);
      const own = configMapName(wanted);
      const found = await rendered({ ...values, ...(own !== undefined && { configMapName: own }) });
      assert.deepEqual(plain(found), plain(wanted));
    });
  }
});

const podOf = async (values: Readonly<Record<string, unknown>>) => {
  const object = (await rendered(values)).get('DaemonSet kube-system/kube-netlink-proxy') as unknown as {
    spec: { template: { spec: Record<string, unknown> & { containers: Record<string, unknown>[] } } };
  };
  return { ...object.spec, pod: object.spec.template.spec };
};

describe('values', () => {
  it('reach the pod', async () => {
    const digest = `sha256:${'0'.repeat(64)}`;
    const { pod, ...spec } = await podOf({
      image: { repository: 'r/p', digest, pullPolicy: 'Always' },
      imagePullSecrets: [{ name: 'registry' }],
      extraArgs: ['--drain-timeout=5m'],
      tolerations: [],
      priorityClassName: '',
      minReadySeconds: 360,
      updateStrategy: { type: 'OnDelete', rollingUpdate: null },
      resources: { limits: { memory: '2Gi' } },
    });
    const [container] = pod.containers;
    assert.deepEqual(
      [container?.['image'], container?.['imagePullPolicy'], pod['imagePullSecrets']],
      [`r/p@${digest}`, 'Always', [{ name: 'registry' }]],
    );
    assert.equal((container?.['command'] as string[] | undefined)?.at(-1), '--drain-timeout=5m');
    assert.ok(!('tolerations' in pod) && !('priorityClassName' in pod));
    const { minReadySeconds, updateStrategy } = spec as Record<string, unknown>;
    assert.deepEqual([minReadySeconds, updateStrategy], [360, { type: 'OnDelete' }]);
    assert.deepEqual(container?.['resources'], {
      requests: { cpu: '100m', memory: '128Mi' },
      limits: { memory: '2Gi' },
    });
  });

  it('that change the configuration replace the pods, and others do not', async () => {
    const checksum = async (values: Readonly<Record<string, unknown>>) => {
      const object = (await rendered(values)).get('DaemonSet kube-system/kube-netlink-proxy') as unknown as {
        spec: { template: { metadata: { annotations?: Record<string, string> } } };
      };
      return object.spec.template.metadata.annotations?.[CHECKSUM];
    };
    const usual = await checksum({});
    assert.match(usual ?? '', /^[0-9a-f]{64}$/);
    assert.equal(await checksum({ monitoring: { enabled: true } }), usual);
    for (const values of [
      { mode: 'nftables' },
      { clusterCIDR: '10.244.0.0/16' },
      { server: 'https://10.0.0.10:6443' },
      { metricsBindAddress: '0.0.0.0:10249' },
      { config: { nodePortAddresses: ['primary'] } },
    ])
      assert.notEqual(await checksum(values), usual, JSON.stringify(values));
    assert.equal(await checksum(STOCK), undefined);
  });

  it('reach the configuration', async () => {
    const objects = await rendered({
      mode: 'nftables',
      server: 'https://10.0.0.10:6443',
      clusterCIDR: '10.244.0.0/16,fd00::/48',
      metricsBindAddress: '0.0.0.0:10249',
      config: { nodePortAddresses: ['primary'], conntrack: { maxPerCore: 0 } },
    });
    const data = objects.get('ConfigMap kube-system/kube-netlink-proxy')?.data as unknown as Record<
      string,
      Record<string, unknown>
    >;
    const { mode, clusterCIDR, metricsBindAddress, nodePortAddresses, conntrack } = data['config.conf'] ?? {};
    assert.deepEqual(
      { mode, clusterCIDR, metricsBindAddress, nodePortAddresses, conntrack },
      {
        mode: 'nftables',
        clusterCIDR: '10.244.0.0/16,fd00::/48',
        metricsBindAddress: '0.0.0.0:10249',
        nodePortAddresses: ['primary'],
        conntrack: { maxPerCore: 0 },
      },
    );
    const [cluster] =
      (data['kubeconfig.conf'] as { clusters?: { cluster: { server: string } }[] }).clusters ?? [];
    assert.equal(cluster?.cluster.server, 'https://10.0.0.10:6443');
  });

  it('put an address in front of the sections of the runbook, and kustomize does with the replacement of the guide', async () => {
    const runbook = 'https://wiki.example/runbook';
    const urls = (objects: Objects) => {
      const rule = objects.get('PrometheusRule kube-system/kube-netlink-proxy') as unknown as {
        spec: { groups: { rules: { alert: string; annotations: Record<string, string> }[] }[] };
      };
      return rule.spec.groups.flatMap(({ rules }) =>
        rules.map(({ alert, annotations }) => [alert, annotations['runbook_url']]),
      );
    };
    const found = urls(await rendered({ monitoring: { enabled: true, runbook } }));
    assert.ok(found.length > 0);
    for (const [alert, url] of found) assert.equal(url, `${runbook}#${alert?.toLowerCase()}`);
    const guide = readFileSync(join(ROOT, 'deploy/README.md'), 'utf8');
    const [, text = ''] = /```yaml\n(patches:[\s\S]*?)```/.exec(guide) ?? [];
    assert.ok(text.includes(runbook));
    const ofGuide = parse(text) as Record<string, unknown>;
    assert.deepEqual(
      urls(await built({ resources: ['base'], components: ['monitoring'], ...ofGuide })),
      found,
    );
  });
});

interface Schema {
  readonly type?: unknown;
  readonly description?: string;
  readonly additionalProperties?: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
}

describe('values.schema.json', () => {
  const schema = JSON.parse(readFileSync(join(ROOT, 'deploy/values.schema.json'), 'utf8')) as Schema;
  const { Ajv } = createRequire(join(TOOLS, 'x.js'))('ajv') as {
    Ajv: new (options: object) => { compile(schema: object): (values: unknown) => boolean };
  };
  const isValid = new Ajv({ strict: true, allowUnionTypes: true }).compile(schema);

  it('accepts the values of each kustomization', () => {
    for (const [name, , values] of EQUAL) assert.ok(isValid(valuesWith(values)), name);
  });

  it('refuses a misspelt key in each object, and describes each value', () => {
    let objects = 0;
    const look = (at: string, part: Schema, put: (value: object) => object) => {
      if (part.properties) {
        objects++;
        assert.equal(part.additionalProperties, false, at);
        assert.ok(!isValid(valuesWith(put({ mispelt: 1 }) as Record<string, unknown>)), at);
      }
      for (const [key, value] of Object.entries(part.properties ?? {})) {
        assert.match(value.description ?? '', /\.$/, `${at}${key}`);
        look(`${at}${key}.`, value, (inner) => put({ [key]: inner }));
      }
      if (part.items) look(`${at}[].`, part.items, (inner) => put([inner]));
    };
    look('', schema, (value) => value);
    assert.ok(objects > 9);
  });

  it('refuses values that the pod or the proxy would refuse', () => {
    for (const wrong of [
      { mode: 'userspace' },
      { image: { digest: 'sha256:1' } },
      { metricsBindAddress: '0.0.0.0:9000' },
      { server: '10.0.0.10:6443' },
      { extraArgs: ['drain-timeout=5m'] },
      { updateStrategy: { rollingUpdate: { maxUnavailable: 0 } } },
      { privileged: 'yes' },
      { config: { clusterCIDR: '10.0.0.0/8' } },
      { nodeSelector: { a: true } },
    ])
      assert.ok(!isValid(valuesWith(wrong)), JSON.stringify(wrong));
  });

  it('has the fields of the configuration that the chart does not set itself', () => {
    const own = ['apiVersion', 'kind', 'mode', 'clusterCIDR', 'clientConnection'];
    const servers = ['healthzBindAddress', 'metricsBindAddress', 'hostnameOverride'];
    const fields = Object.keys(externalConfiguration(defaultConfiguration(), MODES));
    const wanted = new Set([...fields, 'featureGates']);
    for (const field of [...own, ...servers]) assert.ok(wanted.delete(field), field);
    assert.deepEqual(Object.keys(schema.properties?.['config']?.properties ?? {}).sort(), [...wanted].sort());
  });

  it('has each value that a template reads, which has a default', () => {
    const read = new Set(
      [...templates().values()].flatMap((text) =>
        [...text.matchAll(/\.Values\.([\w.]+)/g)].map(([, path = '']) => path),
      ),
    );
    const defaults = readChartFile('values.yaml') as Record<string, unknown>;
    const missing = [...read].filter((path) => {
      let value: unknown = defaults;
      for (const key of path.split('.')) value = (value as Record<string, unknown> | undefined)?.[key];
      return value === undefined;
    });
    assert.deepEqual(missing, []);
    for (const key of Object.keys(defaults)) {
      assert.ok(
        [...read].some((path) => path.split('.')[0] === key),
        `no template reads ${key}`,
      );
    }
  });
});

it('npm run task -- chart writes a repository that keeps other versions, and the same archive again', () => {
  const folder = mkdtempSync(join(tmpdir(), 'knp-chart-'));
  const make = () =>
    spawnSync('npm', ['run', '--silent', 'task', '--', 'chart', '--output', folder], {
      cwd: ROOT,
      encoding: 'utf8',
    });
  const index = join(folder, 'index.yaml');
  try {
    const chart = readChartFile('Chart.yaml') as Record<string, string>;
    const former = { ...chart, version: '0.0.1', digest: '00', urls: ['kube-netlink-proxy-0.0.1.tgz'] };
    writeFileSync(index, stringify({ apiVersion: 'v1', entries: { 'kube-netlink-proxy': [former] } }));
    const { stdout, stderr, status } = make();
    assert.equal(status, 0, stderr);
    const archive = readFileSync(stdout.trim());
    assert.equal(make().status, 0);
    assert.deepEqual(readFileSync(stdout.trim()), archive);
    const { entries } = parse(readFileSync(index, 'utf8')) as {
      entries: Record<string, (Record<string, unknown> & { urls: string[] })[]>;
    };
    const [newest, ...others] = entries['kube-netlink-proxy'] ?? [];
    assert.deepEqual(others, [former]);
    const { created, digest, urls, ...fields } = newest as Record<string, unknown>;
    assert.deepEqual(fields, chart);
    assert.equal(Date.parse(String(created)) > 0, true);
    assert.equal(digest, createHash('sha256').update(archive).digest('hex'));
    assert.deepEqual(urls, [basename(stdout.trim())]);
    // What Helm needs of an archive: one folder with the name of the chart, and in it the chart and what its templates read.
    const files = execFileSync('tar', ['-tzf', stdout.trim()], { encoding: 'utf8' }).trim().split('\n');
    for (const name of ['Chart.yaml', 'values.yaml', 'values.schema.json', 'templates/daemonset.yaml'])
      assert.ok(files.includes(`kube-netlink-proxy/${name}`), `${name} is not among ${files}`);
    assert.ok(files.every((file) => file.startsWith('kube-netlink-proxy/')));
    writeFileSync(index, readFileSync(index, 'utf8').replace(String(digest), '11'));
    assert.match(make().stderr, /another digest/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

it('the chart has the version of the package', () => {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
  const chart = readChartFile('Chart.yaml') as Record<string, unknown>;
  assert.deepEqual([chart['version'], chart['appVersion']], [version, version]);
});
