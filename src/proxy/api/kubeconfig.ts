// A kubeconfig, or the environment of a pod → the API server's address, and the origin of the credentials. No file is read.
import { dirname, isAbsolute, resolve } from 'node:path';
import { describeProblem, excerpt, type Problem } from '../../kernel/errors.js';
import { joinHostPort } from '../../kernel/net/address.js';
import { Fields, isRecord } from '../input/fields.js';
import { yaml } from '../yaml.js';
import type { ApiAccess, AuthProvider, ExecPlugin, Material } from './access.js';
import { redact } from './error.js';

const NOBODY = {
  ca: undefined,
  serverName: '',
  insecure: false,
  proxy: '',
  certificate: undefined,
  key: undefined,
  token: undefined,
  basic: undefined,
  exec: undefined,
  authProvider: undefined,
  impersonate: {},
} satisfies Omit<ApiAccess, 'server'>;

/** Access of a pod by its service account, whose files are in `folder`. Throws an Error outside a pod. */
export function accessInCluster(environment: NodeJS.ProcessEnv, folder: string): ApiAccess {
  const host = environment['KUBERNETES_SERVICE_HOST'] ?? '';
  const port = environment['KUBERNETES_SERVICE_PORT'] ?? '';
  if (host === '' || port === '') {
    throw new Error(
      'no API server: give --kubeconfig or --master, or run in a pod (KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set)',
    );
  }
  return {
    ...NOBODY,
    server: `https://${joinHostPort(host, Number(port))}`,
    ca: { file: `${folder}/ca.crt` },
    token: { file: `${folder}/token` },
  };
}

/** Access without credentials to the server of a URL; the default scheme is http. */
export function accessToMaster(master: string): ApiAccess {
  return { ...NOBODY, server: withScheme(master, 'http') };
}

/**
 * Access by the current context of a kubeconfig. Names of files are relative to the folder of `path`. A `master` replaces
 * the server, and the server's name is then that of the URL. Throws an Error with every problem, a line each.
 */
export function accessOfKubeconfig(path: string, text: string, master = ''): ApiAccess {
  const problems: Problem[] = [];
  const access = decodeKubeconfig(path, parseText(path, text), master, problems);
  if (problems.length > 0 || !access) throw new Error(redact(problems.map(describeSafely).join('\n')));
  return access;
}

/** The value of a field that may hold a secret is not shown. */
function describeSafely({ value, ...problem }: Problem): string {
  const secret = /(token|password|-data|auth-provider|value|args\[\d+\])$/.test(problem.field);
  return describeProblem(secret ? problem : { ...problem, value });
}

function parseText(path: string, text: string): Readonly<Record<string, unknown>> {
  let raw: unknown;
  try {
    raw = yaml().parse(text, { version: '1.1', logLevel: 'error' });
  } catch (error) {
    // The part behind a colon quotes the text, which may hold a secret.
    const [said = ''] = (error as Error).message.split(/:\s/);
    throw new Error(`kubeconfig ${path}: ${excerpt(said)}`);
  }
  if (!isRecord(raw)) throw new Error(`kubeconfig ${path}: must be an object`);
  return raw;
}

function decodeKubeconfig(
  path: string,
  raw: Readonly<Record<string, unknown>>,
  master: string,
  problems: Problem[],
): ApiAccess | undefined {
  const fields = new Fields(`kubeconfig ${path}`, problems, raw);
  const named = (list: string, name: string) => {
    const [first, ...others] = [...fields.children(list)].filter((entry) => entry.text('name') === name);
    // As in client-go: the name is ambiguous.
    if (others.length > 0) fields.report(list, 'must have each name once', name);
    return first;
  };
  const context = named('contexts', fields.text('current-context'))?.child('context');
  if (!context) return fields.report('current-context', 'must name one of contexts');
  const cluster = named('clusters', context.text('cluster'))?.child('cluster');
  if (!cluster) return context.report('cluster', 'must name one of clusters');
  const user = named('users', context.text('user'))?.child('user');
  if (!user && context.has('user')) return context.report('user', 'must name one of users');
  const folder = dirname(resolve(path));
  const who = user ? decodeUser(user, folder) : {};
  return { ...NOBODY, ...decodeCluster(cluster, folder, master, user !== undefined), ...who };
}

function decodeCluster(cluster: Fields, folder: string, master: string, hasUser: boolean) {
  const ca = material(cluster, folder, 'certificate-authority', 'certificate-authority-data');
  const insecure = cluster.flag('insecure-skip-tls-verify', false);
  if (ca && insecure) {
    cluster.report('insecure-skip-tls-verify', 'must not be set together with certificate-authority');
  }
  const server = master || cluster.text('server');
  if (server === '') cluster.report('server', 'must be a URL');
  else if (!isURL(withScheme(server, 'https'))) cluster.report('server', 'must be a URL', server);
  const encrypted = ca !== undefined || insecure || hasUser;
  return {
    server: withScheme(server, encrypted ? 'https' : 'http'),
    ca,
    serverName: master === '' ? cluster.text('tls-server-name') : '',
    insecure,
    proxy: cluster.text('proxy-url'),
  };
}

function decodeUser(user: Fields, folder: string) {
  const username = user.text('username');
  const given = user.text('token');
  const tokenFile = user.text('tokenFile');
  const certificate = material(user, folder, 'client-certificate', 'client-certificate-data');
  const key = material(user, folder, 'client-key', 'client-key-data');
  if (certificate && !key) user.report('client-key', 'must be set together with client-certificate');
  if (key && !certificate) user.report('client-certificate', 'must be set together with client-key');
  return {
    certificate,
    key,
    // As in client-go: a file is renewed, and is preferred to a fixed token.
    token: tokenFile ? { file: resolve(folder, tokenFile) } : given ? { text: given } : undefined,
    basic: username ? { username, password: user.text('password') } : undefined,
    exec: user.has('exec') ? decodeExec(user.child('exec'), folder) : undefined,
    authProvider: user.has('auth-provider') ? decodeAuthProvider(user) : undefined,
    impersonate: decodeImpersonation(user),
  };
}

/** Data in the kubeconfig is preferred to a file. */
function material(fields: Fields, folder: string, file: string, data: string): Material | undefined {
  const encoded = fields.text(data);
  if (encoded !== '') {
    const text = Buffer.from(encoded, 'base64').toString();
    if (!text.includes('-----BEGIN ')) fields.report(data, 'must be PEM in base64');
    return { text };
  }
  const path = fields.text(file);
  return path === '' ? undefined : { file: resolve(folder, path) };
}

function decodeExec(exec: Fields, folder: string): ExecPlugin | undefined {
  const versions = ['client.authentication.k8s.io/v1', 'client.authentication.k8s.io/v1beta1'] as const;
  if (!exec.has('apiVersion')) exec.report('apiVersion', `must be ${versions.join(' or ')}`);
  const apiVersion = exec.word('apiVersion', versions, versions[0]);
  const command = exec.text('command');
  if (command === '') exec.report('command', 'must name a program');
  if (exec.word('interactiveMode', ['Never', 'IfAvailable', 'Always'], 'IfAvailable') === 'Always') {
    exec.report('interactiveMode', 'must be Never or IfAvailable: there is no terminal here');
  }
  const env = Array.from(exec.children('env'), (entry) => [entry.text('name'), entry.text('value')] as const);
  if (apiVersion === undefined) return undefined;
  return {
    apiVersion,
    // As in a shell: a bare name is searched in PATH, a name with a slash is a path.
    command: command.includes('/') && !isAbsolute(command) ? resolve(folder, command) : command,
    args: exec.texts('args'),
    env: Object.fromEntries(env),
    installHint: exec.text('installHint'),
    provideClusterInfo: exec.flag('provideClusterInfo', false),
  };
}

function decodeAuthProvider(user: Fields): AuthProvider {
  if (user.has('exec')) user.report('auth-provider', 'must not be set together with exec');
  const name = user.child('auth-provider').text('name');
  if (name === '') user.report('auth-provider', 'must have a name');
  return { name, user: user.values };
}

/** https://kubernetes.io/docs/reference/access-authn-authz/authentication/#user-impersonation */
function decodeImpersonation(user: Fields): Record<string, string | readonly string[]> {
  const headers: Record<string, string | readonly string[]> = {};
  const name = user.text('as');
  const uid = user.text('as-uid');
  const groups = user.texts('as-groups');
  if (name) headers['Impersonate-User'] = name;
  if (uid) headers['Impersonate-Uid'] = uid;
  if (groups.length > 0) headers['Impersonate-Group'] = groups;
  const extra = user.child('as-user-extra');
  for (const key of extra.names()) headers[`Impersonate-Extra-${encodeURIComponent(key)}`] = extra.texts(key);
  return headers;
}

function withScheme(server: string, scheme: 'http' | 'https'): string {
  return /^https?:\/\//.test(server) ? server : `${scheme}://${server}`;
}

function isURL(text: string): boolean {
  return URL.canParse(text);
}
