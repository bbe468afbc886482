/**
 * Agents that reach the key service through the examples for nginx, HAProxy and Caddy: clients by others get equal keys at
 * both ends, lists wait their whole time, and a body of 32 KiB arrives.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { formatRecipient, newRecipient } from '#sealing';
import { idsOf } from '../support/agents/agent-site.ts';
import { AgentSites } from '../support/agents/agent-sites.ts';
import { PROXIES, RunningProxy } from '../support/programs/proxies.ts';
import { sharedPython } from '../support/programs/python.ts';
import { freePort } from '../support/run/free-port.ts';
import { makeCertificate } from '../support/servers/certificate.ts';

const { python, skip } = await sharedPython('agent');

/** Its arguments are, for the master and then the slave: name, KME, key provider, certificate, key, authority. */
const BOTH_ENDS = `
import json, sys, types
sys.modules["sslpsk3"] = types.SimpleNamespace(SSLPSKContext=None)
from etsi_qkd_014_client import QKD014Client
from skip_qkd import MTLSConfig, SkipQKDClient
master, slave = sys.argv[1:7], sys.argv[7:13]

def etsi(end):
    return QKD014Client(end[1], *end[3:])

def skip(end):
    return SkipQKDClient(end[2], end[0], mtls_config=MTLSConfig(end[5], end[3], end[4]))

def keys_of(answer):
    code, container = answer
    assert code == 200, (code, container)
    return [(key.key_id, key.key) for key in container.keys]

taken = keys_of(etsi(master).get_key(slave[0], number=5))
assert keys_of(etsi(slave).get_key_with_key_IDs(master[0], [key_id for key_id, _ in taken])) == taken
one = skip(master).request_key(slave[0], None)
assert skip(slave).fetch_key_by_id(one["keyId"], master[0]) == one
print(json.dumps(len(taken) + 1))
`;

/** The limit of the service. */
const MOST_BYTES = 32_768;

for (const example of PROXIES) {
  const { name, program } = example;
  const reason = !program && `${name} is not installed here`;
  describe(`agents of a service behind ${name}`, { skip: reason }, () => {
    const sites = new AgentSites();
    const { paris, lyon, folder } = sites;
    const certificate = join(folder, 'tls.crt');
    let proxy: RunningProxy;
    let port: number;

    before(async () => {
      makeCertificate(certificate, `${certificate}.key`);
      await sites.startServices({ PHM_TRUST_PROXY: 'loopback' });
      port = await freePort();
      const { host } = new URL(sites.service.server.address);
      const setting = { folder: join(folder, 'proxy'), port, server: host, certificate };
      proxy = await RunningProxy.start(example, setting);
      for (const site of sites.both) site.env = { NODE_EXTRA_CA_CERTS: certificate };
      await sites.startAgents(`https://localhost:${port}`);
    });
    after(async () => {
      await sites.stop();
      await proxy?.stop();
    });

    /** Sends a request through the proxy with the API key of the account. */
    async function send(method: string, path: string, body?: string) {
      const headers = {
        'X-API-Key': sites.service.site.apiKey,
        'Content-Type': 'application/json',
      };
      const ca = readFileSync(certificate);
      const sent = request({ host: 'localhost', port, method, path, headers, ca, agent: false });
      sent.end(body);
      const [answer] = await once(sent, 'response');
      let text = '';
      for await (const chunk of answer) text += chunk;
      return { status: answer.statusCode, body: JSON.parse(text) };
    }

    it('get equal keys to both ends, in both directions', async () => {
      for (const [master, slave] of sites.ways) {
        const taken = await master.keys(slave, 'enc_keys', { number: 100 }, 'tls');
        const read = await slave.keys(master, 'dec_keys', idsOf(taken), 'tls');
        assert.deepEqual(read, taken);
      }
    });

    it('serve clients by others', { skip }, async () => {
      await paris.filled(lyon, 8);
      const ends = [paris, lyon].flatMap((site) => {
        const [kme, provider] = (['tls', 'skip'] as const).map(
          (leg) => new URL(site.leg(leg).address).host,
        );
        const { cert, key, ca } = site.client;
        return [site.system, kme ?? '', provider ?? '', cert, key, ca];
      });
      const env = { ...process.env, NO_PROXY: '127.0.0.1' };
      const args = ['-I', '-c', BOTH_ENDS, ...ends];
      const { stdout } = await promisify(execFile)(python, args, { env });
      assert.equal(Number(stdout), 6);
    });

    it('wait for copies as long as they ask for', async () => {
      const file = join(folder, 'eve.recipient');
      writeFileSync(file, formatRecipient(await newRecipient()));
      await sites.service.register('eve', file);
      const waited = await send('GET', '/api/v2/deliveries?recipient=eve&wait=30');
      assert.deepEqual([waited.status, waited.body.deliveries], [200, []]);
    });

    it('can send 32 KiB, and no more', async () => {
      const order = JSON.stringify({ security_level: 128, count: 2 });
      const path = '/api/v2/generate/batch';
      const whole = await send('POST', path, order.padEnd(MOST_BYTES));
      assert.deepEqual([whole.status, whole.body.keys?.length], [200, 2]);
      const over = await send('POST', path, order.padEnd(MOST_BYTES + 1));
      assert.deepEqual([over.status, over.body.code], [413, 'payload_too_large']);
      assert.match(over.body.detail, /at most 32,768 bytes/);
    });
  });
}
