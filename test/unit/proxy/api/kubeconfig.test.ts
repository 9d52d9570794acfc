// Kubeconfigs in the forms in which they are found on nodes.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ApiAccess } from '../../../../src/proxy/api/access.js';
import { accessInCluster, accessOfKubeconfig, accessToMaster } from '../../../../src/proxy/api/kubeconfig.js';
import { kubeadmKubeconfig } from '../../../support/deployment/kubeadm.js';

const PATH = '/var/lib/kube-proxy/kubeconfig.conf';

/** A kubeconfig of one cluster and one user. */
const config = (cluster: object, user: object = {}) =>
  JSON.stringify({
    'current-context': 'here',
    contexts: [
      { name: 'there', context: { cluster: 'y', user: 'y' } },
      { name: 'here', context: { cluster: 'x', user: 'x' } },
    ],
    clusters: [
      { name: 'x', cluster },
      { name: 'y', cluster: {} },
    ],
    users: [{ name: 'x', user }],
  });

const read = (cluster: object, user: object = {}, master = '') =>
  accessOfKubeconfig(PATH, config({ server: 'https://a:6443', ...cluster }, user), master);

const base64 = (text: string) => Buffer.from(text).toString('base64');
const PEM = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n';

describe('a kubeconfig', () => {
  it("of kubeadm's: authority and token in files", () => {
    const folder = '/var/run/secrets/kubernetes.io/serviceaccount';
    const server = 'https://192.168.50.4:6443';
    const text = kubeadmKubeconfig(server, `${folder}/ca.crt`, `${folder}/token`);
    assert.deepEqual(accessOfKubeconfig(PATH, text), {
      ...accessToMaster(server),
      ca: { file: `${folder}/ca.crt` },
      token: { file: `${folder}/token` },
    });
  });

  const cases: [what: string, cluster: object, user: object, expected: Partial<ApiAccess>][] = [
    [
      'files are relative to its folder',
      { 'certificate-authority': 'pki/ca.crt' },
      { 'client-certificate': 'pki/me.crt', 'client-key': '/etc/me.key', tokenFile: 'token' },
      {
        ca: { file: '/var/lib/kube-proxy/pki/ca.crt' },
        certificate: { file: '/var/lib/kube-proxy/pki/me.crt' },
        key: { file: '/etc/me.key' },
        token: { file: '/var/lib/kube-proxy/token' },
      },
    ],
    [
      'data is preferred to files, and a token file to a token',
      { 'certificate-authority': 'x', 'certificate-authority-data': base64(PEM) },
      { 'client-certificate-data': base64(PEM), 'client-key-data': base64(PEM), token: 't', tokenFile: '/t' },
      { ca: { text: PEM }, certificate: { text: PEM }, key: { text: PEM }, token: { file: '/t' } },
    ],
    ['a token', {}, { token: 'secret' }, { token: { text: 'secret' } }],
    ['a password', {}, { username: 'u', password: 'p' }, { basic: { username: 'u', password: 'p' } }],
    ['no check of the server', { 'insecure-skip-tls-verify': true }, {}, { insecure: true }],
    ['another name of the server', { 'tls-server-name': 'kubernetes' }, {}, { serverName: 'kubernetes' }],
    ['a proxy', { 'proxy-url': 'http://p:3128' }, {}, { proxy: 'http://p:3128' }],
    [
      'impersonation',
      {},
      { as: 'u', 'as-uid': '7', 'as-groups': ['g', 'h'], 'as-user-extra': { 'a/b': ['c'] } },
      {
        impersonate: {
          'Impersonate-User': 'u',
          'Impersonate-Uid': '7',
          'Impersonate-Group': ['g', 'h'],
          'Impersonate-Extra-a%2Fb': ['c'],
        },
      },
    ],
    [
      'a program, in its folder when its name has a slash',
      {},
      {
        exec: {
          apiVersion: 'client.authentication.k8s.io/v1',
          command: './bin/login',
          args: ['--cluster', ' x ', ''],
          env: [{ name: 'A', value: 'b' }],
          interactiveMode: 'IfAvailable',
          provideClusterInfo: true,
          installHint: 'ask',
        },
      },
      {
        exec: {
          apiVersion: 'client.authentication.k8s.io/v1',
          command: '/var/lib/kube-proxy/bin/login',
          args: ['--cluster', ' x ', ''],
          env: { A: 'b' },
          installHint: 'ask',
          provideClusterInfo: true,
        },
      },
    ],
  ];
  for (const [what, cluster, user, expected] of cases) {
    it(`holds ${what}`, () => {
      assert.deepEqual(read(cluster, user), { ...accessToMaster('https://a:6443'), ...expected });
    });
  }

  it('is overridden by a master, whose certificate has the name of its URL', () => {
    const access = read({ 'tls-server-name': 'x', 'certificate-authority': '/ca' }, { token: 't' }, 'b:6443');
    assert.equal(access.server, 'https://b:6443');
    assert.equal(access.serverName, '');
    assert.deepEqual([access.ca, access.token], [{ file: '/ca' }, { text: 't' }]);
  });

  const wrong: [what: string, text: string, told: RegExp][] = [
    ['no YAML', 'a: [', /kubeconfig \/var/],
    ['no object', 'hello', /must be an object/],
    ['no current context', '{}', /current-context: must name one of contexts/],
    [
      'a cluster that is not there',
      '{"current-context": "a", "contexts": [{"name": "a", "context": {"cluster": "b"}}]}',
      /contexts\[0\]\.context\.cluster: must name one of clusters, found "b"/,
    ],
    [
      'two users of one name',
      JSON.stringify({
        ...JSON.parse(config({ server: 'https://a' })),
        users: [
          { name: 'x', user: { token: 'a' } },
          { name: 'x', user: { token: 'b' } },
        ],
      }),
      /users: must have each name once, found "x"/,
    ],
    ['no server', config({}), /clusters\[0\]\.cluster\.server: must be a URL/],
    [
      'a server that is none',
      config({ server: 'https://:x:' }),
      /server: must be a URL, found "https:\/\/:x:"/,
    ],
    [
      'a certificate without its key',
      config({ server: 'https://a' }, { 'client-certificate': '/x' }),
      /user\.client-key: must be set together/,
    ],
    [
      'a key without its certificate',
      config({ server: 'https://a' }, { 'client-key': '/x' }),
      /user\.client-certificate: must be set together/,
    ],
    [
      'an authority beside no check of the server',
      config({ server: 'https://a', 'certificate-authority': '/x', 'insecure-skip-tls-verify': true }),
      /insecure-skip-tls-verify: must not be set together/,
    ],
    [
      'an auth-provider without a name',
      config({ server: 'https://a' }, { 'auth-provider': { config: {} } }),
      /users\[0\]\.user\.auth-provider: must have a name/,
    ],
    [
      'an auth-provider beside a program',
      config(
        { server: 'https://a' },
        {
          'auth-provider': { name: 'oidc' },
          exec: { apiVersion: 'client.authentication.k8s.io/v1', command: 'x' },
        },
      ),
      /users\[0\]\.user\.auth-provider: must not be set together with exec/,
    ],
    [
      'a program that wants a terminal',
      config(
        { server: 'https://a' },
        { exec: { apiVersion: 'client.authentication.k8s.io/v1', command: 'x', interactiveMode: 'Always' } },
      ),
      /exec\.interactiveMode: must be Never or IfAvailable/,
    ],
    [
      'a program of an old version',
      config({ server: 'https://a' }, { exec: { apiVersion: 'client.authentication.k8s.io/v1alpha1' } }),
      /exec\.apiVersion: must be client.authentication.k8s.io\/v1 or/,
    ],
  ];
  for (const [what, text, told] of wrong) {
    it(`is refused with ${what}`, () => assert.throws(() => accessOfKubeconfig(PATH, text), told));
  }

  it('is refused without showing a secret', () => {
    const secret = 'hunter2hunter2';
    const users = [
      { token: [secret] },
      { username: 'u', password: [secret] },
      { 'client-key-data': base64(secret) },
      { 'auth-provider': { config: { 'id-token': secret } } },
      { 'auth-provider': secret },
      {
        exec: {
          apiVersion: 'client.authentication.k8s.io/v1',
          command: 'x',
          env: [{ name: 'A', value: [secret] }],
        },
      },
      { exec: { apiVersion: 'client.authentication.k8s.io/v1', command: 'x', args: [[secret]] } },
    ];
    for (const user of users) {
      assert.throws(
        () => accessOfKubeconfig(PATH, config({ server: 'https://a' }, user)),
        ({ message }: Error) => !message.includes(secret) && !message.includes(base64(secret)),
      );
    }
    const texts = [
      `users: [{name: x, user: {token: "${secret}}}]`,
      `users:\n- user:\n    token: ${secret}: ${secret}\n   a: b\n`,
      `users:\n- user:\n    password: *${secret}\n`,
      config({ server: `https://u:${secret}@:::` }),
    ];
    for (const text of texts) {
      assert.throws(
        () => accessOfKubeconfig(PATH, text),
        ({ message }: Error) => message.startsWith(`kubeconfig ${PATH}: `) && !message.includes(secret),
      );
    }
  });
});

describe('without a kubeconfig', () => {
  it('a master needs no scheme', () => {
    assert.equal(accessToMaster('127.0.0.1:8080').server, 'http://127.0.0.1:8080');
    assert.equal(accessToMaster('https://a').server, 'https://a');
  });

  it('a pod has a service account', () => {
    const environment = { KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '443' };
    assert.deepEqual(accessInCluster(environment, '/sa'), {
      ...accessToMaster('https://[fd00::1]:443'),
      ca: { file: '/sa/ca.crt' },
      token: { file: '/sa/token' },
    });
    assert.throws(() => accessInCluster({}, '/sa'), /--kubeconfig or --master/);
  });
});
