// An invalid configuration file is rejected with the reason before the kernel is opened.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { type KernelCommand, readFlags } from '../../../../src/command/config/commandLine.js';
import { ConfigurationError, loadConfiguration } from '../../../../src/command/config/load.js';
import { MODES } from '../../../../src/command/modes/select.js';

const GOOD = 'apiVersion: kubeproxy.config.k8s.io/v1alpha1\nkind: KubeProxyConfiguration\nmode: ipvs\n';

const DAMAGES: readonly (readonly [name: string, make: (path: string) => void, says: RegExp])[] = [
  ['is not there', () => {}, /^failed complete: open .*: no such file or directory$/],
  ['is a folder', (path) => mkdirSync(path), /^failed complete: read .*: is a directory$/],
  ['is a link to itself', (path) => symlinkSync(path, path), /^failed complete: open .*ELOOP/],
  ['is empty', (path) => writeFileSync(path, ''), /Object 'Kind' is missing in ''/],
  ['ends in a word', (path) => writeFileSync(path, GOOD.slice(0, 20)), /Object 'Kind' is missing in '/],
  ['ends in a list', (path) => writeFileSync(path, `${GOOD}nodePortAddresses: [10.`), /yaml: /],
  ['ends in a key', (path) => writeFileSync(path, `${GOOD}iptab`), /yaml: /],
  [
    'has NUL bytes',
    (path) => writeFileSync(path, GOOD.replace('mode', '\0mode\0')),
    /yaml: control characters are not allowed/,
  ],
  ['is not UTF-8', (path) => writeFileSync(path, Buffer.from([0x6b, 0xff, 0x3a, 0xff])), /failed complete: /],
  [
    'has a value of another type',
    (path) => writeFileSync(path, `${GOOD}ipvs: none\n`),
    /cannot unmarshal string/,
  ],
];

describe('a configuration file that', () => {
  for (const [name, make, says] of DAMAGES) {
    it(`${name} is rejected`, (test) => {
      const folder = mkdtempSync(join(tmpdir(), 'knp-config-'));
      test.after(() => rmSync(folder, { recursive: true }));
      const path = join(folder, 'config.conf');
      make(path);
      const command = readFlags(['--config', path]) as KernelCommand;
      assert.throws(
        () => loadConfiguration(command, MODES),
        (error) => {
          assert.ok(error instanceof ConfigurationError);
          assert.match(error.message, says);
          assert.ok(error.message.length < 600);
          return true;
        },
      );
    });
  }
});
