// The HTTP proxy between a node and its API server, if there is one. Which proxy is used follows the rules of Go programs:
// kubeconfigs and the environments of nodes are written for these.
import type { Agent, ClientRequest } from 'node:http';
import { createRequire } from 'node:module';
import { isIP, type Socket } from 'node:net';
import { isLoopback, joinHostPort } from '../../kernel/net/address.js';
import { networkContains, parseNetwork } from '../../kernel/net/network.js';
import { optionalPackage } from '../optionalPackage.js';
import { ApiError } from './error.js';

/**
 * URL of the proxy to a server, or undefined. The proxy of the kubeconfig is preferred to the environment's `HTTPS_PROXY`,
 * which is not used for hosts that `NO_PROXY` lists and for this host itself. A server without TLS is reached directly.
 * Throws an Error if the URL's scheme is neither http nor https.
 */
export function proxyTo(server: URL, named: string, environment: NodeJS.ProcessEnv): URL | undefined {
  if (server.protocol !== 'https:') return undefined;
  if (named !== '') return readURL(named);
  const of = (name: string) => environment[name] || environment[name.toLowerCase()] || '';
  const common = of('HTTPS_PROXY');
  if (common === '' || isExempt(server, of('NO_PROXY'))) return undefined;
  return readURL(common);
}

function readURL(text: string): URL {
  const full = /^[\w+]+:\/\//.test(text) ? text : `http://${text}`;
  const url = URL.canParse(full) ? new URL(full) : undefined;
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url;
  throw new Error('the proxy to the API server must be an http or https URL');
}

/** The rules of Go's httpproxy: names with all names below them, addresses, networks, each with or without a port; `*`. */
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

type Library = typeof import('https-proxy-agent');
type TunnelOptions = ConstructorParameters<Library['HttpsProxyAgent']>[1];
type AgentConnectOpts = Parameters<InstanceType<Library['HttpsProxyAgent']>['connect']>[1];

const require = createRequire(import.meta.url);

/**
 * Makes connections through a proxy, with the method CONNECT. The options are those of connections to the proxy and of the
 * pool; TLS options of the API server belong to each request, so that a proxy receives none of them.
 *
 * @param limit time that a proxy may take to answer, in ms
 */
export function tunnelAgent(proxy: URL, options: TunnelOptions, limit: number): Agent {
  // Loaded on first use: most nodes reach their API server without a proxy.
  const { HttpsProxyAgent } = optionalPackage(
    'https-proxy-agent',
    'an HTTP proxy to the API server',
    () => require('https-proxy-agent') as Library,
  );
  class TunnelAgent extends HttpsProxyAgent<string> {
    override async connect(request: ClientRequest, to: AgentConnectOpts): Promise<Socket> {
      const end = new AbortController();
      let answer: ConnectAnswer | undefined;
      request.once('proxyConnect', (received: ConnectAnswer) => {
        answer = received;
      });
      // The library waits for an answer without a limit, and a request that is destroyed meanwhile does not end the wait.
      const timer = setTimeout(() => end.abort(), limit);
      this.connectOpts = { ...this.connectOpts, signal: end.signal };
      try {
        const socket = await super.connect(request, to);
        // The library returns a refusal as though the API server had sent it.
        if (answer?.statusCode !== 200) {
          socket.destroy();
          throw refused(proxy, to, answer);
        }
        return socket;
      } catch (error) {
        if (end.signal.aborted) throw unanswered(proxy, to, limit);
        // If TLS cannot begin, the library leaves the connection to the proxy open.
        end.abort();
        throw error;
      } finally {
        clearTimeout(timer);
      }
    }
  }
  return new TunnelAgent(proxy, options);
}

/** The answer of a proxy, as the library reports it. */
interface ConnectAnswer {
  readonly statusCode: number;
  readonly statusText: string;
}

function refused(proxy: URL, to: AgentConnectOpts, answer: ConnectAnswer | undefined): ApiError {
  const said = `${answer?.statusCode ?? 'no status'} ${answer?.statusText ?? ''}`.trimEnd();
  return new ApiError({ code: 'ERR_PROXY', operation: operationOf(proxy, to), said });
}

function unanswered(proxy: URL, to: AgentConnectOpts, limit: number): ApiError {
  const said = `no answer for ${limit} ms`;
  return new ApiError({ code: 'ERR_TIMEOUT', operation: operationOf(proxy, to), said });
}

function operationOf(proxy: URL, { host, port }: AgentConnectOpts): string {
  return `CONNECT ${joinHostPort(String(host), Number(port))} at ${proxy.host}`;
}
