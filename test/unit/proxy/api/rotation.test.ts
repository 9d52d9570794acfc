// Credentials that change while the proxy runs.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { makeAuthority } from '../../../support/apiServer/certificates.js';
import { agrees, Follower, until } from '../../../support/apiServer/cluster.js';
import { churn, startServer } from '../../../support/apiServer/scene.js';
import type { ApiServer } from '../../../support/apiServer/server.js';
import { closeAfter } from '../../../support/closeAfter.js';

describe('credentials', () => {
  const folder = mkdtempSync(join(tmpdir(), 'knp-rotation-'));
  closeAfter({ close: () => rmSync(folder, { recursive: true }) });
  const authority = makeAuthority('first');
  const write = (name: string, text: string) => {
    writeFileSync(join(folder, name), text);
    return name;
  };
  const kubeconfig = (server: ApiServer) =>
    join(
      folder,
      write(
        'kubeconfig.conf',
        JSON.stringify({
          'current-context': 'default',
          contexts: [{ name: 'default', context: { cluster: 'default', user: 'default' } }],
          clusters: [{ name: 'default', cluster: { server: server.url, 'certificate-authority': 'ca.crt' } }],
          users: [{ name: 'default', user: { tokenFile: 'token' } }],
        }),
      ),
    );

  it('that expired keep everything as it is until the file has new ones', async () => {
    const tokens = new Set(['one']);
    const server = await startServer({ tls: authority.server(), tokens });
    write('ca.crt', authority.cert);
    write('token', 'one\n');
    const follower = closeAfter(await Follower.start({ kubeconfig: kubeconfig(server) }));
    await agrees(follower, server);
    tokens.clear();
    tokens.add('two');
    server.resetConnections();
    churn(server);
    await until('it was refused', () => follower.troubles.some(({ error }) => error.status === 401));
    assert.ok(follower.objects.has('Service demo/a'));
    assert.ok(follower.troubles.every(({ error }) => !/one|two/.test(error.message)));
    write('token', 'two\n');
    await agrees(follower, server);
  });

  it('of a server that were made anew are trusted once the authority is known', async () => {
    const server = await startServer({ tls: authority.server() });
    write('ca.crt', authority.cert);
    write('token', 'one\n');
    const follower = closeAfter(await Follower.start({ kubeconfig: kubeconfig(server) }));
    await agrees(follower, server);
    const second = makeAuthority('second');
    await server.rotate(second.server());
    churn(server);
    await until('it mistrusts', () =>
      follower.troubles.some(({ error }) => /UNABLE_TO_VERIFY|SELF_SIGNED|CERT/.test(error.code)),
    );
    assert.ok(follower.objects.has('Service demo/a'));
    write('ca.crt', second.cert);
    await agrees(follower, server);
  });
});
