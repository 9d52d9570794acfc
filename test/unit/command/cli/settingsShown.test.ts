// Each setting of the table of docs/service-settings.md is shown by services -o wide and explain, in each mode that has it.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { frontendAt } from '../../../../src/command/cli/explain/objects.js';
import { explanationLines } from '../../../../src/command/cli/explain/text.js';
import type { Output } from '../../../../src/command/cli/output/output.js';
import { frontendsInventory } from '../../../../src/command/cli/services/frontendsInventory.js';
import type { Inventory } from '../../../../src/command/cli/services/inventory.js';
import { namesOf, type ServiceNames } from '../../../../src/command/cli/services/names.js';
import { ipvsInventory } from '../../../../src/command/cli/services/openInventory.js';
import { printServices } from '../../../../src/command/cli/services/services.js';
import type { Explanation, PacketQuestion } from '../../../../src/command/explain/explanation.js';
import { frontendsIn } from '../../../../src/command/explain/iptables/inventory.js';
import { explain as explainIptables } from '../../../../src/command/explain/read/iptables.js';
import { explain as explainIpvs } from '../../../../src/command/explain/read/ipvs.js';
import { explain as explainNftables, readFrontends } from '../../../../src/command/explain/read/nftables.js';
import { iptablesOptions } from '../../../../src/command/modes/iptables/open.js';
import { ipvsOptions } from '../../../../src/command/modes/ipvs/fromConfiguration.js';
import { nftablesOptions } from '../../../../src/command/modes/nftables/fromConfiguration.js';
import { readCounted } from '../../../../src/kernel/iptables/counted.js';
import { SETTING_NAMES, type SettingName } from '../../../../src/proxy/input/settingNames.js';
import { namedFrontends } from '../../../../src/proxy/services/namedFrontends.js';
import { nodeFacts } from '../../../../src/proxy/services/nodeFacts.js';
import { ServiceCache } from '../../../../src/proxy/services/serviceCache.js';
import { readManifest } from '../../../../src/proxy/source/manifestFile.js';
import { HOST, service, slice } from '../../../support/clusters/manifests.js';
import { FakeProcNet } from '../../../support/fakes/procNet.js';
import { FakeIptablesNode, FakeNftablesNode, FakeNode } from '../../../support/oracle/testNode.js';
import { ROOT } from '../../../support/paths.js';
import { ALL_SETTINGS } from '../../../support/settings/objects.js';

const FAMILIES = { families: [4, 6] } as const;
const NODE = { ...HOST, configuration: { serviceSettings: SETTING_NAMES } };
const MODES = ['ipvs', 'iptables', 'nftables'] as const;
type ModeName = (typeof MODES)[number];

/** Annotations that give a Service the setting, and what shows it: in all modes, or in ipvs mode and in the others. */
interface Shown {
  readonly given: Readonly<Record<string, string>>;
  /** In the table of services. */
  readonly listed: RegExp | { readonly ipvs: RegExp; readonly rules: RegExp };
  /** In the text of explain. */
  readonly explained: RegExp | { readonly ipvs: RegExp; readonly rules: RegExp };
}

const SHOWN: Readonly<Record<SettingName, Shown>> = {
  scheduler: { given: { scheduler: 'wlc' }, listed: /:80\/tcp +wlc /, explained: /scheduler wlc,/ },
  'scheduler-flags': {
    given: { scheduler: 'sh', 'scheduler-flags': 'port' },
    listed: / sh-port$/m,
    explained: /scheduler sh \(sh-port\)/,
  },
  'persistence-timeout': {
    given: { 'persistence-timeout': '77' },
    listed: / 77s( |$)/m,
    explained: { ipvs: /keeps its real server for 77 s/, rules: /77/ },
  },
  'persistence-netmask': {
    given: { 'persistence-netmask': 'IPv4=24' },
    listed: / netmask 24$/m,
    explained: /\(netmask 24\)/,
  },
  'one-packet': { given: { 'one-packet': 'true' }, listed: / one-packet$/m, explained: /\(one-packet\)/ },
  'upper-threshold': {
    given: { 'upper-threshold': '9' },
    listed: / upper 9 lower /,
    explained: /connections: upper 9 /,
  },
  'lower-threshold': {
    given: { 'upper-threshold': '9', 'lower-threshold': '4' },
    listed: / upper 9 lower 4$/m,
    explained: /upper 9 lower 4\n/,
  },
  'drain-timeout': {
    given: { 'drain-timeout': '30' },
    listed: / drain-timeout 30s$/m,
    explained: /settings of the Service: drain-timeout 30s\n/,
  },
  'slow-start': {
    given: { scheduler: 'wrr', 'slow-start': '60' },
    listed: / slow-start 60s$/m,
    explained: /settings of the Service: slow-start 60s\n/,
  },
  'fail-fast': {
    given: { 'fail-fast': 'not-serving' },
    listed: / fail-fast not-serving$/m,
    explained: /settings of the Service: fail-fast not-serving\n/,
  },
  'zone-weights': {
    given: { 'zone-weights': 'same=3,z-1=0' },
    listed: / zone-weights same=3,z-1=0$/m,
    explained: /settings of the Service: zone-weights same=3,z-1=0\n/,
  },
  forwarding: {
    given: { scheduler: 'mh', forwarding: 'tunnel' },
    listed: / forwarding tunnel$/m,
    explained: /settings of the Service: forwarding tunnel$/m,
  },
  weight: {
    given: { weight: '3' },
    listed: { ipvs: /10\.0\.0\.1:8080 +3 /, rules: /10\.0\.0\.1:8080 +75% / },
    explained: { ipvs: /10\.0\.0\.1:8080, weight 3,/, rules: /10\.0\.0\.1:8080, share 75 %,/ },
  },
};

/** A Service `web` with a slice for each of two endpoints, of which the first has the weight. */
function objects(name: SettingName): string {
  const { weight, ...given } = SHOWN[name].given;
  const texts = Object.entries(given).map(([key, value]) => `kube-netlink-proxy.io/${key}: "${value}"`);
  const isUdp = name === 'one-packet';
  const affinity = name.startsWith('persistence') ? '  sessionAffinity: ClientIP' : '';
  const first = weight === undefined ? '' : `, annotations: {kube-netlink-proxy.io/weight: "${weight}"}`;
  const all =
    service('web', '10.96.0.1', affinity).replace(
      'name: web}',
      `name: web, annotations: {${texts.join(', ')}}}`,
    ) +
    ['10.0.0.1', '10.0.0.2']
      .map((address, i) =>
        slice('web', address).replace('name: web,', `name: web-${i}${i === 0 ? first : ''},`),
      )
      .join('');
  return isUdp ? all.replaceAll(/port: (80|8080)\}/g, 'port: $1, protocol: UDP}') : all;
}

/** A loaded node of any mode, with an uplink. */
async function loaded<Node extends FakeNode | FakeIptablesNode | FakeNftablesNode>(node: Node, text: string) {
  await node.loadText(text);
  assert.deepEqual((await node.sync()).failures, []);
  const { rtnetlink } = node.kernel;
  await rtnetlink.addLink('eth0', 'dummy');
  await rtnetlink.addAddress({ link: 'eth0', address: '192.168.50.10', prefix: 24 });
  const procNet = new FakeProcNet();
  procNet.networkRoutes.push({ network: '0.0.0.0/0', gateway: '192.168.50.1', link: 'eth0', metric: 0 });
  return { configuration: node.configuration, kernel: { ...node.kernel, procNet } };
}

/** The text of services -o wide. */
async function tableOf<Listing>(inventory: Inventory<Listing>): Promise<string> {
  let text = '';
  const output: Output = {
    ...{ format: 'wide', columns: 200, style: (_, shown) => shown, note: () => {} },
    write: (written) => {
      text += written;
    },
  };
  await printServices({ isFiltered: false, interval: 0, inventory, output });
  return text;
}

/** What each mode lists and explains. */
const READERS: Readonly<
  Record<
    ModeName,
    (
      text: string,
      names: ServiceNames,
      question: PacketQuestion,
    ) => Promise<{ listed: string; explanation: Explanation }>
  >
> = {
  async ipvs(text, names, question) {
    const { kernel, configuration } = await loaded(new FakeNode(NODE), text);
    const options = ipvsOptions(configuration, { ...FAMILIES, kernelRelease: '6.1.0' });
    const listed = await tableOf(ipvsInventory(kernel.ipvs, names, []));
    return { listed, explanation: await explainIpvs(kernel, options, question) };
  },
  async iptables(text, names, question) {
    const { kernel, configuration } = await loaded(new FakeIptablesNode(NODE), text);
    const options = iptablesOptions(configuration, { ...FAMILIES, nfacct: true, conntrackLiberal: false });
    const saved = kernel.iptables.dump(4).replace(/^-A /gm, '[0:0] -A ');
    const list = async () => frontendsIn(4, await readCounted([Buffer.from(saved)]));
    const listed = await tableOf(frontendsInventory(list, names, []));
    return { listed, explanation: await explainIptables(kernel, options, question) };
  },
  async nftables(text, names, question) {
    const { kernel, configuration } = await loaded(new FakeNftablesNode(NODE), text);
    const options = nftablesOptions(configuration, { ...FAMILIES, layout: 'kube-proxy' });
    const list = () => readFrontends(kernel.nftables);
    const listed = await tableOf(frontendsInventory(list, names, [], 'none'));
    return { listed, explanation: await explainNftables(kernel, options, question) };
  },
};

/** What services -o wide and explain write about the Service. */
async function outputs(mode: ModeName, name: SettingName): Promise<{ listed: string; explained: string }> {
  const text = objects(name);
  const cache = new ServiceCache({ settingRules: ALL_SETTINGS });
  for (const object of (await readManifest('objects.yaml', text)).objects.values())
    cache.apply({ type: 'set', object });
  const facts = nodeFacts('node-a');
  const names = namesOf({ source: 'agent' }, [...namedFrontends(cache, facts)]);
  const question = {
    ...{ address: '10.96.0.1', port: 80, from: '10.244.1.9' },
    protocol: name === 'one-packet' ? 'udp' : 'tcp',
  } as const;
  const owned = frontendAt(cache, facts, question);
  assert.ok(owned);
  const { listed, explanation } = await READERS[mode](text, names, question);
  const { settings } = owned;
  const owner = { service: 'demo/web', portName: '', ...(settings.length > 0 ? { settings } : {}) };
  return { listed, explained: explanationLines(explanation, owner, 200).join('\n') };
}

/** The settings of the table of the page, each with its modes. */
function documented(): Map<string, readonly ModeName[]> {
  const page = readFileSync(`${ROOT}/docs/service-settings.md`, 'utf8');
  const rows = page.matchAll(/^\| `([a-z-]+)`[^|]*\|[^\n]*\| (all|ipvs) \|[^|\n]*\|$/gm);
  return new Map(
    [...rows].map(([, name = '', modes]) => [name, modes === 'all' ? MODES : (['ipvs'] as const)]),
  );
}

describe('services -o wide and explain show', () => {
  const table = documented();
  it('the settings of the page: it has all of them', () => {
    assert.deepEqual([...table.keys()].sort(), [...SETTING_NAMES].sort());
  });

  for (const name of SETTING_NAMES) {
    for (const mode of table.get(name) ?? []) {
      it(`${name} in ${mode} mode`, async () => {
        const { listed, explained } = await outputs(mode, name);
        const expected = SHOWN[name];
        const of = (value: Shown['listed']) =>
          value instanceof RegExp ? value : value[mode === 'ipvs' ? 'ipvs' : 'rules'];
        assert.match(listed, of(expected.listed));
        assert.match(explained, of(expected.explained));
      });
    }
  }
});
