// The build from source, on request, of an installed package.
// Needs: package
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { emptyProject, install, type Outcome, type Project, succeed } from './installedPackage.js';

const LIST_LINKS = `
  import { openRtnetlink } from 'kube-netlink-proxy/rtnetlink';
  const rtnetlink = await openRtnetlink();
  console.log((await rtnetlink.listLinks()).some(({ name }) => name === 'lo'));
  await rtnetlink.close();`;

let project: Project;
before(() => {
  project = emptyProject('node20');
  succeed(install(project, 'npm11', '--ignore-scripts'));
  rmSync(join(project.installed, 'prebuilds'), { recursive: true });
});
after(() => project.remove());

test('where there is no binary, the command that the error names builds one', () => {
  const missing = project.run('node', '--input-type=module', '-e', LIST_LINKS);
  assert.notEqual(missing.status, 0);
  assert.match(missing.stderr, /cannot be loaded: No native build was found for platform=linux arch=/);
  const [, command = ''] = /build it with `([^`]+)`/.exec(missing.stderr) ?? [];
  assert.notEqual(command, '', missing.stderr);
  succeed(withCompiler(command));
  const built = join(project.installed, 'build/Release/knp.node');
  assert.ok(existsSync(built));
  const elf = succeed(spawnSync('readelf', ['-Wdln', '--dyn-syms', built], { encoding: 'utf8' }));
  for (const part of [/__stack_chk_fail/, / GNU_RELRO /, /\(FLAGS_1\) +Flags: NOW/, /Build ID: [0-9a-f]{40}/])
    assert.match(elf, part);
  assert.equal(succeed(project.run('node', '--input-type=module', '-e', LIST_LINKS)), 'true\n');
});

/** Runs a command with this machine's PATH. Unoptimized: only the result matters. */
function withCompiler(command: string): Outcome {
  const { NODE_TEST_CONTEXT: _, ...environment } = process.env;
  const env = { ...environment, CXXFLAGS: '-O0' };
  return spawnSync('sh', ['-c', command], { cwd: project.folder, encoding: 'utf8', env });
}
