// An API server with the objects of a tenant, in a process of its own.
//
// node dist/test/support/largeObjects/tenantServer.js ROW PARTS ORDINARY
// node dist/test/support/largeObjects/tenantServer.js PORTSxENDPOINTS
//
// ROW is a list of largeObjects.ts, in Services with ORDINARY parts each; all PARTS are in one if ORDINARY is 0. Prints the server's
// URL. Each line on standard input changes the objects once. Prints the number of stored objects after each change.
import { createInterface } from 'node:readline';
import type { RawObject } from '../../../bench/apiServer/store.js';
import { node } from '../apiServer/objects.js';
import { ApiServer } from '../apiServer/server.js';
import { LARGE_OBJECTS, portsAndEndpoints } from './largeObjects.js';

const [row = '', ...numbers] = process.argv.slice(2);
const [parts = 0, ordinary = 0] = numbers.map(Number);

function objects(version: number): RawObject[] {
  const make = LARGE_OBJECTS[row];
  if (!make) {
    const [ports = 0, endpoints = 0] = row.split('x').map(Number);
    return portsAndEndpoints(ports, endpoints, version);
  }
  if (ordinary === 0) return make('large-1', parts, 0, version);
  return Array.from({ length: parts / ordinary }, (_, i) =>
    make(`web-${i + 1}`, ordinary, i * ordinary, version),
  ).flat();
}

const server = await new ApiServer().start();
/** The stored objects, and their texts. */
let sent = new Map<string, { readonly object: RawObject; readonly text: string }>();
server.store.set(node('node-a'));

/** Stores the objects that a version has changed, and prints the number of those that were stored since the start. */
let stored = 0;
function store(version: number): void {
  const now: typeof sent = new Map();
  for (const object of objects(version)) {
    const name = `${object.kind} ${object.metadata.name}`;
    const text = JSON.stringify(object);
    now.set(name, { object, text });
    if (sent.get(name)?.text === text) continue;
    server.store.set(object);
    stored++;
  }
  for (const [name, { object }] of sent) {
    if (now.has(name)) continue;
    server.store.delete(object);
    stored++;
  }
  sent = now;
  server.store.compact();
  process.stdout.write(`${stored}\n`);
}

process.stdout.write(`${server.url}\n`);
store(0);
let version = 0;
for await (const _ of createInterface({ input: process.stdin })) store(++version);
await server.close();
