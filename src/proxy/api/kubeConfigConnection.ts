// The connection that a KubeConfig of @kubernetes/client-node describes, for programs that have one already.
import type { RequestOptions } from 'node:https';
import { isDeepStrictEqual } from 'node:util';
import { type ApiConnection, type Credentials, option, type TlsOptions } from './connection.js';
import { ApiError } from './error.js';
import { proxyTo } from './httpProxy.js';

/** The part of a KubeConfig that is used: a program that has none needs no types of the library. */
export interface KubeConfigParts {
  getCurrentCluster(): {
    readonly name: string;
    readonly server: string;
    readonly proxyUrl?: string | undefined;
  } | null;
  applyToHTTPSOptions(options: RequestOptions): Promise<void>;
}

/** The current context of a KubeConfig: its server, and the credentials that the library gives for each request. */
export class KubeConfigConnection implements ApiConnection {
  readonly server: URL;
  readonly proxy: URL | undefined;
  /** The library reports no unreadable files: requests fail instead. */
  readonly stale = undefined;
  readonly #config: KubeConfigParts;
  #tls: TlsOptions | undefined;

  /** Throws an Error if there is no current cluster, or its server or proxy is not a URL. */
  constructor(config: KubeConfigParts, environment: NodeJS.ProcessEnv = process.env) {
    const cluster = config.getCurrentCluster();
    if (!cluster) throw new Error('the KubeConfig has no current cluster');
    if (!URL.canParse(cluster.server)) throw new Error(`server of cluster ${cluster.name}: must be a URL`);
    this.#config = config;
    this.server = new URL(cluster.server);
    this.proxy = proxyTo(this.server, cluster.proxyUrl ?? '', environment);
  }

  async credentials(): Promise<Credentials> {
    const options: RequestOptions = {};
    try {
      await this.#config.applyToHTTPSOptions(options);
    } catch (error) {
      const said = (error as Error).message;
      throw new ApiError({ code: 'ERR_CREDENTIALS', operation: 'KubeConfig', said });
    }
    const { auth, headers, servername, rejectUnauthorized = true } = options;
    const tls: TlsOptions = {
      ...option('ca', textOf(options.ca)),
      ...option('cert', textOf(options.cert)),
      ...option('key', textOf(options.key)),
      ...(servername ? { servername } : {}),
      rejectUnauthorized,
    };
    if (!isDeepStrictEqual(tls, this.#tls)) this.#tls = tls;
    const basic = auth ? { Authorization: `Basic ${Buffer.from(auth).toString('base64')}` } : {};
    return {
      tls: this.#tls ?? tls,
      headers: { ...basic, ...(headers as Credentials['headers'] | undefined) },
      refused: () => {},
    };
  }
}

/** Text of a certificate or key; the library reads it as a Buffer. */
function textOf(value: unknown): string | undefined {
  return value ? String(value) : undefined;
}
