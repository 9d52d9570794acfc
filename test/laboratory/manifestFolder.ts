// An editable copy of examples/.
import { cpSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { isMap, isSeq, parseAllDocuments, type YAMLMap } from 'yaml';
import { undoAtExit } from './atExit.js';

/** examples/, seen from dist/test/laboratory/. */
const EXAMPLES = fileURLToPath(new URL('../../../examples', import.meta.url));

/** A folder of manifests that exists until it is closed. */
export class ManifestFolder {
  readonly path: string;
  readonly close: () => void;

  /** @param from a folder to copy; an empty text for none */
  constructor(from: string = EXAMPLES) {
    const root = mkdtempSync(join(tmpdir(), 'kube-netlink-proxy-'));
    this.close = undoAtExit(() => rmSync(root, { recursive: true, force: true }));
    this.path = join(root, 'manifests');
    if (from === '') mkdirSync(this.path);
    else cpSync(from, this.path, { recursive: true });
  }

  read(file: string): string {
    return readFileSync(join(this.path, file), 'utf8');
  }

  /**
   * Replaces a file atomically, by renaming.
   *
   * @returns the time of the change, by performance.now()
   */
  write(file: string, text: string): number {
    const draft = join(this.path, `.${file}.draft`);
    writeFileSync(draft, text);
    const moment = performance.now();
    renameSync(draft, join(this.path, file));
    return moment;
  }
}

/** The manifest without the endpoints that have this address; comments are kept. */
export function withoutEndpoint(manifest: string, address: string): string {
  return editEndpoints(manifest, address, () => []);
}

/** The manifest with these endpoints terminating, as a controller writes it while their pod terminates. */
export function withTerminating(manifest: string, address: string): string {
  return editEndpoints(manifest, address, (endpoint) => {
    for (const [name, value] of Object.entries({ ready: false, serving: true, terminating: true })) {
      endpoint.setIn(['conditions', name], value);
    }
    return [endpoint];
  });
}

/** Replaces each endpoint that has this address with the result of `edit`. */
function editEndpoints(manifest: string, address: string, edit: (endpoint: YAMLMap) => YAMLMap[]): string {
  let edited = 0;
  const parsed = parseAllDocuments(manifest);
  const documents = 'empty' in parsed ? [] : parsed;
  for (const document of documents) {
    const endpoints = document.get('endpoints');
    if (!isSeq(endpoints)) continue;
    endpoints.items = endpoints.items.flatMap((endpoint) => {
      if (!isMap(endpoint) || !hasAddress(endpoint.toJSON(), address)) return [endpoint];
      edited += 1;
      return edit(endpoint);
    });
  }
  if (edited === 0) throw new Error(`no endpoint has the address ${address}`);
  // Each document except the first begins with its marker.
  return documents.map((document) => document.toString()).join('');
}

function hasAddress(endpoint: { readonly addresses?: readonly unknown[] }, address: string): boolean {
  return endpoint.addresses?.includes(address) ?? false;
}
