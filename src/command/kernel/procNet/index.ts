// Routes and listening sockets, from the files below /proc/net: they need no privilege and no tool.
import { readFile } from 'node:fs/promises';
import { NetlinkError } from '../../../kernel/errors.js';
import { parseRoutes4, parseRoutes6, parseSockets, routeFile, SOCKET_FILES } from './text.js';
import type { ListeningSocket, ProcNet } from './types.js';

export type * from './types.js';

/**
 * Reads the files of the network namespace of the process. Both methods reject with a NetlinkError (`EACCES`) if a file
 * cannot be read. A missing file is an empty one: a kernel without IPv6 has none of its files.
 *
 * @param root folder of the files; default `/proc/net`
 */
export function openProcNet(root = '/proc/net'): ProcNet {
  const read = (name: string) => readProc(`${root}/${name}`);
  return {
    async routes(family) {
      const text = await read(routeFile(family));
      return family === 4 ? parseRoutes4(text) : parseRoutes6(text);
    },
    async listeningSockets() {
      const found: ListeningSocket[] = [];
      for (const protocol of ['tcp', 'udp'] as const) {
        for (const file of SOCKET_FILES[protocol])
          for (const socket of parseSockets(await read(file), protocol)) found.push(socket);
      }
      return found;
    },
  };
}

async function readProc(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'EIO';
    if (code === 'ENOENT') return '';
    throw new NetlinkError({ code, operation: 'procNet.read', target: path });
  }
}
