// The arguments of explain: the frontend, and the client.

import { canonicalAddress, familyOf } from '../../../kernel/net/address.js';
import { PROTOCOL_NUMBERS, type Protocol } from '../../../kernel/net/protocol.js';
import { UsageError } from '../../config/commandLine.js';
import { quote, splitHostPort } from '../../config/goSyntax.js';
import type { PacketQuestion } from '../../explain/explanation.js';

const PLACES: ReadonlySet<string> = new Set(['pod', 'node', 'outside']);

/**
 * Reads `IP:PORT[/PROTO]`, by default TCP, and `--from`. Throws UsageError.
 *
 * @param from an address, `pod`, `node` or `outside`; undefined: the default of the mode
 */
export function readQuestion(target: string, from: string | undefined): PacketQuestion {
  const [, dialled = '', written = 'tcp'] = /^(.*?)(?:\/([^/]*))?$/s.exec(target) ?? [];
  const protocol = written.toLowerCase();
  if (!Object.hasOwn(PROTOCOL_NUMBERS, protocol)) {
    throw new UsageError(`${quote(target)}: the protocol must be tcp, udp or sctp; found ${quote(written)}`);
  }
  const parts = splitHostPort(dialled);
  if (typeof parts === 'string') {
    throw new UsageError(`${quote(target)} is not IP:PORT[/PROTO], for example 10.96.0.10:53/udp: ${parts}`);
  }
  const address = canonicalAddress(parts.host);
  if (address === undefined)
    throw new UsageError(`${quote(target)}: ${quote(parts.host)} is not an IP address`);
  const port = /^\d{1,5}$/.test(parts.port) ? Number(parts.port) : 0;
  if (port < 1 || port > 65_535) {
    throw new UsageError(
      `${quote(target)}: the port must be a number from 1 to 65535; found ${quote(parts.port)}`,
    );
  }
  const question = { address, port, protocol: protocol as Protocol };
  return from === undefined ? question : { ...question, from: readClient(from, address) };
}

function readClient(from: string, destination: string): string {
  if (PLACES.has(from)) return from;
  const address = canonicalAddress(from);
  if (address === undefined) {
    throw new UsageError(`--from must be an IP address, pod, node or outside; found ${quote(from)}`);
  }
  if (familyOf(address) !== familyOf(destination)) {
    throw new UsageError(
      `--from must be an IPv${familyOf(destination)} address, like the destination; found ${quote(from)}`,
    );
  }
  return address;
}
