// The API server's address, and the origin of the credentials for it.
import type { Untyped } from '../input/fields.js';

/** A user of a kubeconfig whose credentials are the library's business. */
export interface AuthProvider {
  /** `oidc`, `gcp`, `azure`. */
  readonly name: string;
  /** The user as it is written in the kubeconfig. */
  readonly user: Untyped;
}

/** A certificate, key or token: in a file, which is read for each request, or as text. */
export type Material = { readonly file: string } | { readonly text: string };

/** A program that prints credentials (client.authentication.k8s.io). */
export interface ExecPlugin {
  readonly apiVersion: 'client.authentication.k8s.io/v1' | 'client.authentication.k8s.io/v1beta1';
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Advice of the kubeconfig if the program is missing; empty for none. */
  readonly installHint: string;
  readonly provideClusterInfo: boolean;
}

/** How the API server is reached, and with which identity. */
export interface ApiAccess {
  /** `https://10.0.0.1:6443`, with a path where the server has a prefix. */
  readonly server: string;
  /** Certificates of the authorities for the server; undefined for Node.js's. */
  readonly ca: Material | undefined;
  /** Name that the server's certificate must have; empty for the host of its URL. */
  readonly serverName: string;
  /** The server's certificate is not checked. */
  readonly insecure: boolean;
  /** HTTP proxy in front of the server; empty for none. */
  readonly proxy: string;
  readonly certificate: Material | undefined;
  readonly key: Material | undefined;
  readonly token: Material | undefined;
  readonly basic: { readonly username: string; readonly password: string } | undefined;
  readonly exec: ExecPlugin | undefined;
  readonly authProvider: AuthProvider | undefined;
  /** Headers of impersonation. */
  readonly impersonate: Readonly<Record<string, string | readonly string[]>>;
}
