// Credentials of a kubeconfig's auth-provider (oidc, gcp, azure), by @kubernetes/client-node. The library is loaded only for
// such a user: it takes 75 MB of memory.
import type { RequestOptions } from 'node:https';
import type { KubeConfig } from '@kubernetes/client-node';
import type { AuthProvider } from './access.js';
import { ApiError } from './error.js';
import type { FetchedCredential } from './exec.js';

const LIBRARY = '@kubernetes/client-node';

/** Asks the library for credentials, which keeps and renews them. */
export class AuthProviderCredentials {
  readonly #provider: AuthProvider;
  #config: KubeConfig | undefined;

  constructor(provider: AuthProvider) {
    this.#provider = provider;
  }

  /** Loads the library. Rejects with an ApiError `ERR_CREDENTIALS` if it is not installed. */
  async load(): Promise<KubeConfig> {
    if (this.#config) return this.#config;
    let library: typeof import('@kubernetes/client-node');
    try {
      library = await import('@kubernetes/client-node');
    } catch (error) {
      throw this.#failed((error as Error).message, `npm install ${LIBRARY}`);
    }
    this.#config ??= configOf(library, this.#provider);
    return this.#config;
  }

  /** Rejects with an ApiError `ERR_CREDENTIALS`. */
  async get(): Promise<FetchedCredential> {
    const config = await this.load();
    const options: RequestOptions = {};
    try {
      await config.applyToHTTPSOptions(options);
    } catch (error) {
      throw this.#failed((error as Error).message);
    }
    const { Authorization: authorization } = (options.headers ?? {}) as Readonly<Record<string, unknown>>;
    const [, token] = /^Bearer (.+)$/.exec(String(authorization ?? '')) ?? [];
    // For an unknown provider, and for a token that it cannot renew, the library returns nothing and no error.
    if (token === undefined) {
      throw this.#failed(
        'the library gave no token: the provider is unknown, or its token has expired and cannot be renewed',
      );
    }
    return { token, certificate: undefined, key: undefined };
  }

  #failed(said: string, hint?: string): ApiError {
    const operation = `auth-provider ${this.#provider.name}`;
    return new ApiError({ code: 'ERR_CREDENTIALS', operation, said, hint });
  }
}

/** A configuration of this user alone: the library ignores mistakes elsewhere in the kubeconfig. */
function configOf(library: typeof import('@kubernetes/client-node'), { user }: AuthProvider): KubeConfig {
  const config = new library.KubeConfig();
  config.loadFromString(
    JSON.stringify({
      'current-context': 'x',
      contexts: [{ name: 'x', context: { cluster: 'x', user: 'x' } }],
      clusters: [{ name: 'x', cluster: { server: 'https://unused' } }],
      users: [{ name: 'x', user: { 'auth-provider': user['auth-provider'] } }],
    }),
  );
  return config;
}
