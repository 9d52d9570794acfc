// A ConfigMap volume with one file, config.conf, laid out and updated as the kubelet does.
import {
  existsSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';

/** Lays a volume out as the kubelet does, and returns the path of its file. */
export function mountConfigMap(folder: string, text: string): string {
  const mounted = join(folder, 'mounted.conf');
  symlinkSync('..data/config.conf', mounted);
  updateConfigMap(folder, text);
  return mounted;
}

/** Exchanges the contents as the kubelet does: a new folder, a link that is renamed, and the old folder removed. */
export function updateConfigMap(folder: string, text: string): void {
  const link = join(folder, '..data');
  const former = existsSync(link) ? realpathSync(link) : undefined;
  const versioned = mkdtempSync(join(folder, '..version-'));
  writeFileSync(join(versioned, 'config.conf'), text);
  symlinkSync(basename(versioned), `${link}_tmp`);
  renameSync(`${link}_tmp`, link);
  if (former !== undefined) rmSync(former, { recursive: true });
}
