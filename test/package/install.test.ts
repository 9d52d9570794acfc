// The published package on every Node, installed without install scripts and without a compiler.
// Needs: package
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { ROOT } from '../support/paths.js';
import { emptyProject, install, NODES, nodePath, type Project, succeed } from './installedPackage.js';

/** Imports every export, and then makes a call that every kernel answers. */
const SUBPATHS = `
  import { readFileSync } from 'node:fs';
  import { createRequire } from 'node:module';
  const { exports } = JSON.parse(readFileSync('node_modules/kube-netlink-proxy/package.json', 'utf8'));
  const subpaths = Object.keys(exports);
  for (const subpath of subpaths) {
    const name = 'kube-netlink-proxy' + subpath.slice(1);
    const imported = Object.keys(await import(name)).sort().join();
    const required = Object.keys(createRequire(import.meta.url)(name)).filter((key) => key !== '__esModule').sort().join();
    if (imported === '' || imported !== required) throw new Error(name + ': ' + imported + ' is not ' + required);
  }
  const { openRtnetlink } = await import('kube-netlink-proxy/rtnetlink');
  const rtnetlink = await openRtnetlink();
  const links = await rtnetlink.listLinks();
  await rtnetlink.close();
  console.log(subpaths.join(' '), links.some(({ name }) => name === 'lo'));`;

/** Writes a virtual service with a real server to a kernel with IPVS, reads them, and deletes them. */
const ROUND_TRIP = `
  import { openIpvs } from 'kube-netlink-proxy/ipvs';
  const ipvs = await openIpvs();
  const id = { address: '10.96.0.10', port: 53, protocol: 'udp' };
  await ipvs.add(id);
  await ipvs.addRealServer(id, { address: '10.244.0.5', port: 5353 });
  const [service] = await ipvs.list();
  const [server] = service.realServers;
  await ipvs.delete(id);
  console.log(service.address, server.address, server.port, (await ipvs.list()).length);
  await ipvs.close();`;

/** Uses ipset where libipset is not installed, and the other families. */
const WITHOUT_LIBIPSET = `
  import { openIpset } from 'kube-netlink-proxy/ipset';
  import { openConntrack } from 'kube-netlink-proxy/conntrack';
  import { openIpvs } from 'kube-netlink-proxy/ipvs';
  import { openRtnetlink } from 'kube-netlink-proxy/rtnetlink';
  const open = [await openIpvs(), await openRtnetlink(), await openConntrack(), await openIpset()];
  const [ipvs, rtnetlink, conntrack, ipset] = open;
  console.log((await ipvs.list()).length, (await rtnetlink.listLinks()).length > 0);
  await ipset.create({ name: 'knp', type: 'hash:ip', family: 4 }).catch(({ message }) => console.log(message));
  for (const client of open) await client.close();`;

/** Hides libipset from the command that follows, in a mount namespace of its own. */
const HIDE_LIBIPSET = `
  library=$(ldconfig -p | sed -n 's/^.*libipset[.]so[.0-9]* .*=> //p' | head -n 1)
  libraries=$(dirname "$(readlink -f "$library")")
  hidden=$(mktemp -d)
  mount -t tmpfs tmpfs "$hidden" && mkdir "$hidden/all" "$hidden/some"
  mount --bind "$libraries" "$hidden/all"
  ln -s "$hidden"/all/* "$hidden/some" && rm "$hidden"/some/libipset.so*
  mount --bind "$hidden/some" "$libraries"`;

const projects = new Map<string, Project>();

function projectOf(node: string): Project {
  return projects.get(node) ?? assert.fail(`no project of ${node}`);
}

/** Runs a shell script in the folder of a project, on a kernel with IPVS. */
function inKernel({ folder }: Project, script: string) {
  const { NODE_TEST_CONTEXT: _, ...environment } = process.env;
  // A guest has a /tmp of its own, except for folders that it may write to.
  const options = ['--timeout', '300', '--writable', folder];
  const command = [
    'scripts/vm.mjs',
    ...options,
    '--',
    'unshare',
    '-m',
    'sh',
    '-ec',
    `cd ${folder}\n${script}`,
  ];
  return spawnSync(process.execPath, command, { cwd: ROOT, encoding: 'utf8', env: environment });
}

before(() => {
  for (const { node, npm } of NODES) {
    const project = emptyProject(node);
    projects.set(node, project);
    succeed(install(project, npm, '--ignore-scripts'));
    writeFileSync(join(project.folder, 'roundTrip.mjs'), ROUND_TRIP);
    writeFileSync(join(project.folder, 'withoutLibipset.mjs'), WITHOUT_LIBIPSET);
  }
});

after(() => {
  for (const project of projects.values()) project.remove();
});

for (const { node, npm } of NODES) {
  test(`${node}, installed by ${npm}: every export is imported and required, and the command runs`, () => {
    const project = projectOf(node);
    const said = succeed(project.run('node', '--input-type=module', '-e', SUBPATHS));
    assert.equal(said, `${Object.keys(description().exports).join(' ')} true\n`);
    const command = join(project.folder, 'node_modules/.bin/kube-netlink-proxy');
    assert.equal(succeed(project.run('node', command, '--version')), `kube-netlink-proxy ${version()}\n`);
    assert.match(succeed(project.run('node', command, '--help')), /--hostname-override/);
  });
}

for (const { node } of NODES) {
  test(`${node}: a virtual service is written to the kernel and read`, () => {
    const script = `ip link set lo up\n${nodePath(node)} roundTrip.mjs`;
    assert.equal(succeed(inKernel(projectOf(node), script)), '10.96.0.10 10.244.0.5 5353 0\n');
  });
}

test('without libipset, all but ipset works, and its error names the package to install', () => {
  const script = `${HIDE_LIBIPSET}\n${nodePath('node24')} withoutLibipset.mjs`;
  const [others, error] = succeed(inKernel(projectOf('node24'), script)).split('\n');
  assert.equal(others, '0 true');
  assert.match(error ?? '', /^ERR_LIBRARY: .*apt-get install libipset13/);
});

test('one package is installed beside it', () => {
  const { folder } = projectOf('node20');
  const names = readdirSync(join(folder, 'node_modules')).filter((name) => !name.startsWith('.'));
  assert.deepEqual(names, ['kube-netlink-proxy', 'node-gyp-build']);
});

/** Programs that print the error of a part of the library whose optional package is not installed. */
const WITHOUT_PACKAGE = {
  yaml: `
    import { describeProblem, ManifestSource } from 'kube-netlink-proxy';
    import { mkdirSync, writeFileSync } from 'node:fs';
    mkdirSync('manifests', { recursive: true });
    writeFileSync('manifests/web.yaml', 'kind: Service');
    const source = new ManifestSource({ path: 'manifests', follow: false });
    const problems = (found) => console.log(found.map(describeProblem).join());
    await source.start({ changed() {}, synced() {}, problems });`,
  'https-proxy-agent': `
    import { ApiClient, connectToApi } from 'kube-netlink-proxy/kubernetes';
    // Nothing listens there, and nothing is sent.
    const environment = { HTTPS_PROXY: 'http://127.0.0.1:1' };
    const connection = await connectToApi({ master: 'https://192.0.2.1', environment });
    const client = new ApiClient(connection, { userAgent: 'test' });
    const list = client.list('/api/v1/services', {}, () => {}, AbortSignal.timeout(10000));
    await list.catch(({ message }) => console.log(message));`,
};

for (const [name, script] of Object.entries(WITHOUT_PACKAGE)) {
  test(`without ${name}, the error of its user names it`, () => {
    const said = succeed(projectOf('node20').run('node', '--input-type=module', '-e', script));
    const advice = `needs the package ${name}, which is not installed: run \`npm install ${name}\``;
    assert.ok(said.includes(advice), said);
  });
}

for (const npm of ['npm10', 'npm11', 'npm12']) {
  test(`${npm} with install scripts allowed compiles nothing`, () => {
    const project = emptyProject('node24');
    try {
      const { status, stdout, stderr } = install(project, npm, '--foreground-scripts');
      assert.equal(status, 0, stdout + stderr);
      assert.doesNotMatch(stdout + stderr, /gyp|allow-scripts|install script/);
      assert.equal(existsSync(join(project.installed, 'build')), false);
      assert.match(succeed(project.run('node', '--input-type=module', '-e', SUBPATHS)), / true\n$/);
    } finally {
      project.remove();
    }
  });
}

function description(): { version: string; exports: Record<string, string> } {
  return JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
}

const version = () => description().version;
