// The address of the API server, and the credentials of each request. Files are read for each request: they are few and
// small, requests are rare, and rotated credentials are used at once.
import { readFile } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import { checkArgument, object } from '../../kernel/shapes.js';
import type { ApiAccess, Material } from './access.js';
import { AuthProviderCredentials } from './authProvider.js';
import { ApiError } from './error.js';
import { ExecCredentials, type FetchedCredential } from './exec.js';
import { proxyTo } from './httpProxy.js';
import { accessInCluster, accessOfKubeconfig, accessToMaster } from './kubeconfig.js';
import { CONNECTION_OPTIONS } from './shapes.js';

/** Options of TLS, as node:tls names them. */
export interface TlsOptions {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly servername?: string;
  readonly rejectUnauthorized: boolean;
}

/** Credentials of a request. */
export interface Credentials {
  /** The same object as long as nothing changes: connections that were made with another one are not used again. */
  readonly tls: TlsOptions;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  /** The server answered 401: credentials of an exec plugin are fetched again for the next request. */
  refused(): void;
}

/** An API server, and the credentials for it. */
export interface ApiConnection {
  /** URL of the server; its path, if any, is a prefix of every request's. */
  readonly server: URL;
  /** URL of the HTTP proxy in front of the server. */
  readonly proxy: URL | undefined;
  /** Rejects with an ApiError `ERR_CREDENTIALS`. */
  credentials(): Promise<Credentials>;
  /** Files that have become unreadable, whose former contents are used; undefined for none. */
  readonly stale: string | undefined;
}

/** How the API server is found. */
export interface ConnectionOptions {
  /** Path of a kubeconfig; empty for none. */
  readonly kubeconfig?: string;
  /** URL of the server, in place of the kubeconfig's; empty for none. */
  readonly master?: string;
  /** Default `process.env`. */
  readonly environment?: NodeJS.ProcessEnv;
  /** Folder with the files of a pod's service account; default as in every pod. */
  readonly serviceAccount?: string;
}

const OPTIONS = object<ConnectionOptions>(CONNECTION_OPTIONS);

const SERVICE_ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';

/**
 * Finds the API server as kube-proxy does: the current context of a kubeconfig, a master's URL, or both; with neither,
 * the service account of the pod. Sends nothing. Rejects with an Error that names each problem if the kubeconfig, or a file
 * that it names, is unusable.
 */
export async function connectToApi(options: ConnectionOptions): Promise<ApiConnection> {
  checkArgument('connectToApi', 'options', options, OPTIONS);
  const { kubeconfig = '', master = '', environment = process.env } = options;
  let access: ApiAccess;
  if (kubeconfig !== '') access = accessOfKubeconfig(kubeconfig, await readKubeconfig(kubeconfig), master);
  else if (master !== '') access = accessToMaster(master);
  else access = accessInCluster(environment, options.serviceAccount ?? SERVICE_ACCOUNT);
  const connection = new Connection(access, environment);
  await connection.check();
  return connection;
}

async function readKubeconfig(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new Error(`kubeconfig ${path}: ${(error as Error).message}`, { cause: error });
  }
}

class Connection implements ApiConnection {
  readonly server: URL;
  readonly proxy: URL | undefined;
  readonly #access: ApiAccess;
  /** Contents of the files when they were last readable. */
  readonly #lastRead = new Map<string, string>();
  readonly #unreadable = new Map<string, string>();
  readonly #authProvider: AuthProviderCredentials | undefined;
  #exec: ExecCredentials | undefined;
  #tls: TlsOptions | undefined;

  constructor(access: ApiAccess, environment: NodeJS.ProcessEnv) {
    this.#access = access;
    this.server = new URL(access.server);
    this.proxy = proxyTo(this.server, access.proxy, environment);
    this.#authProvider = access.authProvider && new AuthProviderCredentials(access.authProvider);
  }

  get stale(): string | undefined {
    return this.#unreadable.size === 0 ? undefined : [...this.#unreadable.values()].join('; ');
  }

  /** Rejects if a file cannot be read, or a library is missing, that the access needs. */
  async check(): Promise<void> {
    await this.#readFiles();
    await this.#authProvider?.load();
  }

  async #readFiles(): Promise<{ ca?: string; cert?: string; key?: string; token?: string }> {
    const { ca, certificate, key, token } = this.#access;
    return {
      ...option('ca', await this.#read(ca)),
      ...option('cert', await this.#read(certificate)),
      ...option('key', await this.#read(key)),
      ...option('token', (await this.#read(token))?.trim()),
    };
  }

  async credentials(): Promise<Credentials> {
    const { serverName, insecure, basic, impersonate } = this.#access;
    const { token: tokenRead, ...files } = await this.#readFiles();
    const given = await this.#fetch(files.ca);
    const tls: TlsOptions = {
      ...files,
      ...(given?.certificate && given.key ? { cert: given.certificate, key: given.key } : {}),
      ...(serverName ? { servername: serverName } : {}),
      rejectUnauthorized: !insecure,
    };
    if (!isDeepStrictEqual(tls, this.#tls)) this.#tls = tls;
    const token = given?.token ?? tokenRead;
    const pair = basic && Buffer.from(`${basic.username}:${basic.password}`).toString('base64');
    const authorization = token ? `Bearer ${token}` : pair ? `Basic ${pair}` : undefined;
    return {
      tls: this.#tls ?? tls,
      headers: { ...impersonate, ...(authorization ? { Authorization: authorization } : {}) },
      refused: () => given && this.#exec?.refused(given),
    };
  }

  /** The credential that the kubeconfig does not hold. */
  async #fetch(ca: string | undefined): Promise<FetchedCredential | undefined> {
    const { exec, ...access } = this.#access;
    if (!exec) return this.#authProvider?.get();
    this.#exec ??= new ExecCredentials(exec, access, ca);
    return this.#exec.get();
  }

  /** A file may be missing for a moment while it is replaced: its former contents are used then. */
  async #read(material: Material | undefined): Promise<string | undefined> {
    if (!material || 'text' in material) return material?.text;
    const { file } = material;
    try {
      const text = await readFile(file, 'utf8');
      if (text.trim() === '') throw new Error('is empty');
      this.#lastRead.set(file, text);
      this.#unreadable.delete(file);
      return text;
    } catch (error) {
      const said = `${file}: ${(error as Error).message}`;
      const last = this.#lastRead.get(file);
      if (last === undefined) throw new ApiError({ code: 'ERR_CREDENTIALS', operation: 'read', said });
      this.#unreadable.set(file, said);
      return last;
    }
  }
}

/** An option, if it has a value. */
export function option<Name extends string>(
  name: Name,
  value: string | undefined,
): { [name in Name]?: string } {
  return (value === undefined ? {} : { [name]: value }) as { [name in Name]?: string };
}
