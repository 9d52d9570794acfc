// A ConfigMap volume, laid out and updated as the kubelet does.
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

/** The files of a ConfigMap: name → text. */
export type ConfigMapFiles = Readonly<Record<string, string>>;

/** Lays a volume out as the kubelet does. */
export function mountFiles(folder: string, files: ConfigMapFiles): void {
  for (const name of Object.keys(files)) symlinkSync(`..data/${name}`, join(folder, name));
  updateFiles(folder, files);
}

/** Exchanges the contents as the kubelet does: a new folder, a link that is renamed, and the old folder removed. */
export function updateFiles(folder: string, files: ConfigMapFiles): void {
  const link = join(folder, '..data');
  const former = existsSync(link) ? realpathSync(link) : undefined;
  const versioned = mkdtempSync(join(folder, '..version-'));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(versioned, name), text);
  symlinkSync(basename(versioned), `${link}_tmp`);
  renameSync(`${link}_tmp`, link);
  if (former !== undefined) rmSync(former, { recursive: true });
}

/** Lays out a volume with one file, and returns its path. */
export function mountConfigMap(folder: string, text: string): string {
  mountFiles(folder, { 'mounted.conf': text });
  return join(folder, 'mounted.conf');
}

/** Updates such a volume. */
export function updateConfigMap(folder: string, text: string): void {
  updateFiles(folder, { 'mounted.conf': text });
}
