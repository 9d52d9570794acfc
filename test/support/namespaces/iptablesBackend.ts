// Selects the backend of iptables in a test file.
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { closeAfter } from '../closeAfter.js';

/** Tables in nf_tables, or in iptables' own part of the kernel. */
export type Backend = 'nft' | 'legacy';

const PROGRAMS = ['iptables', 'ip6tables'].flatMap((program) => [
  program,
  `${program}-save`,
  `${program}-restore`,
]);

/** Makes these the programs of iptables for this process and its children, until the end of the file's tests. */
export function selectBackend(backend: Backend): void {
  const folder = mkdtempSync(join(tmpdir(), 'knp-iptables-'));
  closeAfter({ close: () => rmSync(folder, { recursive: true }) });
  for (const program of PROGRAMS) symlinkSync(`/usr/sbin/xtables-${backend}-multi`, join(folder, program));
  process.env['PATH'] = `${folder}:${process.env['PATH']}`;
}
