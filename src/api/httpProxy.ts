// The HTTP proxy between a node and its API server, where there is one: chosen as Go programs choose it, since that is
// what a kubeconfig and the environment of a node were written for.
import { type ClientRequest, type ClientRequestArgs, request as plainRequest } from 'node:http';
import { type AgentOptions, Agent as TlsAgent, request as tlsRequest } from 'node:https';
import { isIP } from 'node:net';
import type { Duplex } from 'node:stream';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import { isLoopback, joinHostPort } from '../net/address.js';
import { networkContains, parseNetwork } from '../net/network.js';
import { ApiError } from './error.js';

/** Ms for which a proxy may be silent. */
const PATIENCE = 15_000;

/**
 * URL of the proxy to a server, or undefined. One that the kubeconfig names goes before the environment's: `HTTPS_PROXY`,
 * but for hosts that `NO_PROXY` lists and for this host itself. A server without TLS is never reached through one. Throws
 * an Error when the proxy speaks anything but HTTP.
 */
export function proxyTo(server: URL, named: string, environment: NodeJS.ProcessEnv): URL | undefined {
  if (server.protocol !== 'https:') return undefined;
  if (named !== '') return readURL(named);
  const of = (name: string) => environment[name] || environment[name.toLowerCase()] || '';
  const everybodys = of('HTTPS_PROXY');
  if (everybodys === '' || isExempt(server, of('NO_PROXY'))) return undefined;
  return readURL(everybodys);
}

function readURL(text: string): URL {
  const full = /^[\w+]+:\/\//.test(text) ? text : `http://${text}`;
  const url = URL.canParse(full) ? new URL(full) : undefined;
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url;
  throw new Error('the proxy to the API server must be an http or https URL');
}

/** As Go's httpproxy does: names with all names below them, addresses, networks, each with a port or without; `*`. */
function isExempt(server: URL, noProxy: string): boolean {
  const host = server.hostname.replace(/^\[|\]$/g, '');
  const port = server.port || '443';
  if (host === 'localhost' || (isIP(host) !== 0 && isLoopback(host))) return true;
  return noProxy.split(',').some((part) => {
    const entry = part.trim().toLowerCase();
    if (entry === '*') return true;
    const network = parseNetwork(entry);
    if (network) return networkContains(network, host);
    const [, name = entry, ofPort = port] = /^\[?([^[\]]+?)\]?:(\d+)$/.exec(isIP(entry) ? '' : entry) ?? [];
    if (ofPort !== port || name === '') return false;
    if (isIP(name)) return name === host;
    const bare = name.replace(/^\*?\./, '');
    return host.endsWith(`.${bare}`) || (bare === name && host === name);
  });
}

/** Makes connections through a proxy. */
export class TunnelAgent extends TlsAgent {
  readonly #proxy: URL;

  constructor(proxy: URL, options: AgentOptions) {
    super(options);
    this.#proxy = proxy;
  }

  override createConnection(
    options: ClientRequestArgs,
    made?: (error: Error | null, stream: Duplex) => void,
  ): undefined {
    const target = joinHostPort(String(options.host), Number(options.port));
    const request = this.#ask(target);
    // The only way to say that it failed is a stream that never was.
    const failed = (error: Error) => made?.(error, undefined as unknown as Duplex);
    request.once('connect', (response, socket) => {
      if (response.statusCode === 200) {
        try {
          made?.(null, connectTls({ ...options, socket } as ConnectionOptions));
        } catch (error) {
          // A certificate and a key that do not belong together, say, when one of them has just been exchanged.
          socket.destroy();
          failed(error as Error);
        }
        return;
      }
      socket.destroy();
      const said = `${response.statusCode} ${response.statusMessage ?? ''}`;
      failed(
        new ApiError({ code: 'ERR_PROXY', operation: `CONNECT ${target} at ${this.#proxy.host}`, said }),
      );
    });
    request.once('error', failed);
    request.once('timeout', () => request.destroy(new Error('the proxy does not answer')));
    request.end();
    return undefined;
  }

  #ask(target: string): ClientRequest {
    const { protocol, hostname, port, username, password } = this.#proxy;
    const user = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
    const authorization = username
      ? { 'Proxy-Authorization': `Basic ${Buffer.from(user).toString('base64')}` }
      : {};
    const send = protocol === 'https:' ? tlsRequest : plainRequest;
    return send({
      host: hostname.replace(/^\[|\]$/g, ''),
      port: port || (protocol === 'https:' ? 443 : 80),
      method: 'CONNECT',
      path: target,
      agent: false,
      timeout: PATIENCE,
      headers: { Host: target, ...authorization },
    });
  }
}
