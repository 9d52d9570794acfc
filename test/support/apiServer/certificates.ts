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
  /** A server certificate for an address, by default {@link OWN_LOOPBACK}, localhost and kubernetes.default. */
  server(address?: string): KeyPair;
  /** The same, valid from the year 2098 on. */
  lateServer(): KeyPair;
  /** A client certificate for a user. */
  client(name: string): KeyPair;
}

/** Creates a CA. */
export function makeAuthority(name: string): Authority {
  const own = inFolder((folder) => {
    openssl(folder, ['req', '-x509', ...NEW_KEY, '-subj', `/CN=${name}`, '-days', '2', '-out', 'cert.pem']);
    return readPair(folder);
  });
  const issue = (subject: string, extensions: string, late = false) =>
    inFolder((folder) => {
      writeFileSync(join(folder, 'ca.pem'), own.cert);
      writeFileSync(join(folder, 'ca.key'), own.key);
      writeFileSync(join(folder, 'extensions'), extensions);
      openssl(folder, ['req', ...NEW_KEY, '-subj', subject, '-out', 'request.pem']);
      if (late) {
        writeFileSync(join(folder, 'index'), '');
        writeFileSync(join(folder, 'ca.conf'), CA_CONFIGURATION);
        const from = ['-startdate', '20980101000000Z', '-enddate', '20990101000000Z'];
        const to = ['-extfile', 'extensions', '-notext', '-in', 'request.pem', '-out', 'cert.pem'];
        openssl(folder, ['ca', '-config', 'ca.conf', '-batch', '-rand_serial', ...from, ...to]);
        return readPair(folder);
      }
      const signing = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-extfile', 'extensions'];
      openssl(folder, ['x509', '-req', '-in', 'request.pem', ...signing, '-days', '2', '-out', 'cert.pem']);
      return readPair(folder);
    });
  return {
    ...own,
    server: (address = OWN_LOOPBACK) => issue('/CN=server', serverAt(address)),
    lateServer: () => issue('/CN=server', serverAt(OWN_LOOPBACK), true),
    client: (user) => issue(`/CN=${user}`, 'extendedKeyUsage=clientAuth\n'),
  };
}

const serverAt = (address: string) =>
  `subjectAltName=IP:${address},DNS:localhost,DNS:kubernetes.default\nextendedKeyUsage=serverAuth\n`;
/** `openssl x509` sets no first day before version 3.4. */
const CA_CONFIGURATION = `[ca]
default_ca = own
[own]
database = index
serial = serial
new_certs_dir = .
certificate = ca.pem
private_key = ca.key
default_md = sha256
policy = any
[any]
commonName = supplied
`;
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
