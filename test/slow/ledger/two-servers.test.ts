/**
 * Two servers behind a proxy: their database fails, and a rotation of the master secret is done wrongly. 10 s.
 * It repeats with whole servers what test/service/ledger/readiness.test.ts and
 * test/service/threads/retired-secret.test.ts show for their parts.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { noPostgres, Postgres } from '../../support/ledgers/postgres.ts';
import { until } from '../../support/run/until.ts';
import { masterKey, Replicas } from '../../support/servers/replicas.ts';

describe('two servers behind a proxy', { skip: noPostgres }, () => {
  /** Of their own, because a test stops it. */
  let postgres: Postgres;
  let replicas: Replicas;
  before(async () => {
    postgres = await Postgres.start();
    const env = { PHM_MASTER_KEY: masterKey(2), PHM_MASTER_KEY_VERSION: '1' };
    replicas = await Replicas.start(env, postgres);
  });
  after(() => replicas?.remove());

  it('are not ready while the database is unavailable, and recover by themselves', async () => {
    const { balancer, servers } = replicas;
    await postgres.stop('QUIT');
    await until('no server is used', () => balancer.readyServers === 0);
    for (const server of servers) {
      const { status, body } = await server.request('/readyz');
      assert.deepEqual([status, body.status], [503, 'unavailable']);
      assert.deepEqual([body.checks.ledger, body.checks.entropy], ['unavailable', 'ok']);
      assert.equal((await server.request('/livez')).status, 200);
      await until('the log says why', () => server.log.includes('the ledger cannot be used'));
    }
    await postgres.restart();
    await until('both servers are used', () => balancer.readyServers === 2);
  });

  it('reject no good key when one lacks a version that the other uses', async () => {
    const { apiKey } = replicas;
    const [, lacking] = replicas.servers;
    const order = { security_level: 256, include: ['hash_proof'] };
    const old = (await lacking.generate(order, apiKey)).body;
    await replicas.servers[0].stop('SIGINT');
    // Without the first step and without PHM_MASTER_KEY_VERSION, version 3 is current at once.
    const whole = { PHM_MASTER_KEY: masterKey(3), PHM_MASTER_KEY_VERSION: '' };
    const ahead = await replicas.launch(0, whole);
    const { key, hash_proof } = (await ahead.generate(order, apiKey)).body;
    for (const asked of [{ key }, { key, hash_proof }, { key: 'ab'.repeat(32) }]) {
      const { status, body } = await lacking.validate(asked, apiKey);
      assert.equal(status, 503);
      assert.equal(body.code, 'ledger_unavailable');
    }
    await until('the server that lacks a version is not ready', async () => {
      const { status, body } = await lacking.request('/readyz');
      return status === 503 && body.checks.master_secret === 'incomplete';
    });
    await until('it is said in the log', () => /"lackedVersions":\[3\]/.test(lacking.log));
    // It still confirms the keys that it can judge, and its own keys are valid on all servers.
    const made = (await lacking.generate(order, apiKey)).body;
    for (const one of [old, made]) {
      for (const server of [lacking, ahead]) {
        const asked = { key: one.key, hash_proof: one.hash_proof };
        assert.equal((await server.validate(asked, apiKey)).body.valid, true);
        assert.equal((await server.validate({ key: one.key }, apiKey)).body.valid, true);
      }
    }
  });
});
