// Creates certificates for tests with openssl: a CA, and certificates that it signs.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { OWN_LOOPBACK } from './loopback.js';

/** A certificate and its key, in PEM. */
export interface KeyPair {
  readonly cert: string;
  readonly key: string;
}

/** A CA. */
export interface Authority extends KeyPair {
  /** A server certificate for {@link OWN_LOOPBACK}, localhost and kubernetes.default. */
  server(): KeyPair;
  /** A client certificate for a user. */
  client(name: string): KeyPair;
}

/** Creates a CA. */
export function makeAuthority(name: string): Authority {
  const own = inFolder((folder) => {
    openssl(folder, ['req', '-x509', ...NEW_KEY, '-subj', `/CN=${name}`, '-days', '2', '-out', 'cert.pem']);
    return readPair(folder);
  });
  const issue = (subject: string, extensions: string) =>
    inFolder((folder) => {
      writeFileSync(join(folder, 'ca.pem'), own.cert);
      writeFileSync(join(folder, 'ca.key'), own.key);
      writeFileSync(join(folder, 'extensions'), extensions);
      openssl(folder, ['req', ...NEW_KEY, '-subj', subject, '-out', 'request.pem']);
      const signing = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-extfile', 'extensions'];
      openssl(folder, ['x509', '-req', '-in', 'request.pem', ...signing, '-days', '2', '-out', 'cert.pem']);
      return readPair(folder);
    });
  return {
    ...own,
    server: () =>
      issue(
        '/CN=server',
        `subjectAltName=IP:${OWN_LOOPBACK},DNS:localhost,DNS:kubernetes.default\nextendedKeyUsage=serverAuth\n`,
      ),
    client: (user) => issue(`/CN=${user}`, 'extendedKeyUsage=clientAuth\n'),
  };
}

const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', 'key.pem'];

function openssl(folder: string, args: readonly string[]): void {
  execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' });
}

function readPair(folder: string): KeyPair {
  return {
    cert: readFileSync(join(folder, 'cert.pem'), 'utf8'),
    key: readFileSync(join(folder, 'key.pem'), 'utf8'),
  };
}

function inFolder<T>(use: (folder: string) => T): T {
  const folder = mkdtempSync(join(tmpdir(), 'knp-certificates-'));
  try {
    return use(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
