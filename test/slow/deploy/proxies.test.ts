/** The examples for nginx, HAProxy and Caddy, in front of a server that admits demo keys in direct requests. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { makeAccount, sqliteIn } from '../../support/clients/unknown-keys.ts';
import { PROXIES, RunningProxy } from '../../support/programs/proxies.ts';
import { freePort } from '../../support/run/free-port.ts';
import { makeCertificate } from '../../support/servers/certificate.ts';
import { DEMO_KEY, Server } from '../../support/servers/server.ts';

for (const example of PROXIES) {
  const { name, program } = example;
  describe(`the example of ${name}`, { skip: !program && `${name} is not installed here` }, () => {
    const folder = mkdtempSync(join(tmpdir(), 'proxy-'));
    const certificate = join(folder, 'tls.crt');
    let server: Server;
    let proxy: RunningProxy;
    let port: number;

    /** A GET through the proxy from a client that claims to be on the server's machine. */
    const ask = async (apiKey: string) => {
      const headers = {
        'X-API-Key': apiKey,
        Host: 'localhost',
        Forwarded: 'for=127.0.0.1',
        'X-Forwarded-For': '127.0.0.1, 192.0.2.66',
      };
      const path = '/api/v2/metrics';
      const ca = readFileSync(certificate);
      const sent = request({ host: '127.0.0.1', port, path, headers, ca, agent: false }).end();
      const [answer] = await once(sent, 'response');
      let text = '';
      for await (const chunk of answer) text += chunk;
      return { status: answer.statusCode, body: JSON.parse(text) };
    };

    before(async () => {
      makeCertificate(certificate, `${certificate}.key`);
      server = await Server.start(join(folder, 'data'), { PHM_TRUST_PROXY: 'loopback' });
      port = await freePort();
      const { host } = new URL(server.address);
      const setting = { folder: join(folder, 'proxy'), port, server: host, certificate };
      proxy = await RunningProxy.start(example, setting);
    });
    after(async () => {
      await proxy?.stop();
      await server?.stop('SIGKILL');
      rmSync(folder, { recursive: true, force: true });
    });

    it('does not open demo keys to its clients', async () => {
      assert.equal((await server.metrics('', DEMO_KEY)).status, 200);
      const { status, body } = await ask(DEMO_KEY);
      assert.deepEqual([status, body.code], [401, 'invalid_api_key']);
      assert.match(body.detail, /no proxy forwarded/);
    });

    it('passes on an API key and the address of the client, but no forged address', async () => {
      assert.equal((await ask((await makeAccount(sqliteIn(server.dataDir))).seen)).status, 200);
      await server.stop();
      const lines = server.log.split('\n').filter((line) => line.includes('/api/v2/metrics'));
      for (const line of lines) assert.equal(JSON.parse(line).client, '127.0.0.1', line);
    });
  });
}
