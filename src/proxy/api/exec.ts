// Credentials from a program (client.authentication.k8s.io): run when there are none, when they expire, and when the
// server refuses them.
import { type ExecFileException, execFile } from 'node:child_process';
import { Fields, isRecord } from '../input/fields.js';
import type { ApiAccess, ExecPlugin } from './access.js';
import { ApiError } from './error.js';

/** Longest run of a program, in ms, and longest output, in bytes. */
const LIMITS = { time: 60_000, output: 1024 * 1024 };

/** A credential that the kubeconfig does not hold: it is fetched when it is needed. */
export interface FetchedCredential {
  readonly token: string | undefined;
  readonly certificate: string | undefined;
  readonly key: string | undefined;
}

/** Runs the program of a kubeconfig, and keeps its credential while it is valid. */
export class ExecCredentials {
  readonly #plugin: ExecPlugin;
  readonly #cluster: object;
  #running: Promise<FetchedCredential> | undefined;
  #given: FetchedCredential | undefined;
  /** Expiry of the credential, in ms since 1970; undefined for none. */
  #expires: number | undefined;

  /** `ca`: text of the authority's certificates, for programs that ask for the cluster's data. */
  constructor(plugin: ExecPlugin, access: Omit<ApiAccess, 'exec'>, ca: string | undefined) {
    this.#plugin = plugin;
    this.#cluster = {
      server: access.server,
      ...(access.serverName ? { 'tls-server-name': access.serverName } : {}),
      ...(access.insecure ? { 'insecure-skip-tls-verify': true } : {}),
      ...(access.proxy ? { 'proxy-url': access.proxy } : {}),
      ...(ca === undefined ? {} : { 'certificate-authority-data': Buffer.from(ca).toString('base64') }),
      config: null,
    };
  }

  /** Rejects with an ApiError `ERR_CREDENTIALS`; the next call then runs the program again. */
  async get(): Promise<FetchedCredential> {
    if (this.#expires !== undefined && this.#expires <= Date.now()) this.#forget();
    this.#running ??= this.#run();
    try {
      this.#given = await this.#running;
      return this.#given;
    } catch (error) {
      this.#forget();
      throw error;
    }
  }

  /** The server refused a credential. A newer one is kept: several requests may be refused with one credential. */
  refused(credential: FetchedCredential): void {
    if (credential === this.#given) this.#forget();
  }

  #forget(): void {
    this.#running = undefined;
    this.#given = undefined;
    this.#expires = undefined;
  }

  #run(): Promise<FetchedCredential> {
    const { apiVersion, command, args, env, installHint, provideClusterInfo } = this.#plugin;
    const spec = { interactive: false, ...(provideClusterInfo ? { cluster: this.#cluster } : {}) };
    const told = JSON.stringify({ apiVersion, kind: 'ExecCredential', spec });
    const options = {
      env: { ...process.env, ...env, KUBERNETES_EXEC_INFO: told },
      timeout: LIMITS.time,
      killSignal: 'SIGKILL' as const,
      maxBuffer: LIMITS.output,
    };
    return new Promise((resolve, reject) => {
      const child = execFile(command, args, options, (error, stdout, stderr) => {
        try {
          if (error) throw this.#failed(stderr.trim().split('\n').at(-1) || howItEnded(error), installHint);
          resolve(this.#read(stdout));
        } catch (failure) {
          reject(failure);
        }
      });
      child.stdin?.end();
    });
  }

  #read(stdout: string): FetchedCredential {
    let raw: unknown;
    try {
      raw = JSON.parse(stdout);
    } catch {
      throw this.#failed('printed no JSON');
    }
    if (!isRecord(raw) || raw['kind'] !== 'ExecCredential' || raw['apiVersion'] !== this.#plugin.apiVersion) {
      throw this.#failed(`printed no ExecCredential of ${this.#plugin.apiVersion}`);
    }
    const status = new Fields('', [], raw).child('status');
    const credential = {
      token: status.text('token') || undefined,
      certificate: status.text('clientCertificateData') || undefined,
      key: status.text('clientKeyData') || undefined,
    };
    if (credential.token === undefined && !(credential.certificate && credential.key)) {
      throw this.#failed('gave neither a token nor a certificate with its key');
    }
    const expires = Date.parse(status.text('expirationTimestamp'));
    this.#expires = Number.isNaN(expires) ? undefined : expires;
    return credential;
  }

  #failed(said: string, hint?: string): ApiError {
    return new ApiError({ code: 'ERR_CREDENTIALS', operation: this.#plugin.command, said, hint });
  }
}

/** Node.js's own message names all arguments, and one of them may be a secret. */
function howItEnded({ code, signal, killed, message }: ExecFileException): string {
  if (killed) return `took longer than ${LIMITS.time / 1000} s`;
  if (signal) return `was ended by ${signal}`;
  return typeof code === 'number' ? `ended with status ${code}` : message;
}
