/** A rotation of the master secret through both steps, on two servers under load. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Load } from '../support/clients/load.ts';
import { noPostgres } from '../support/ledgers/postgres.ts';
import { sharedPostgres } from '../support/ledgers/shared-postgres.ts';
import { masterKey, Replicas, versionOf } from '../support/servers/replicas.ts';

describe('a rotation of the master secret', { skip: noPostgres }, () => {
  let replicas: Replicas;
  before(async () => {
    replicas = await Replicas.start({ PHM_MASTER_KEY: masterKey(1) }, await sharedPostgres());
  });
  after(() => replicas?.remove());

  it('keeps every key valid on either server at any time, and loses no request', async () => {
    const { balancer, apiKey } = replicas;
    const load = new Load({ port: balancer.port, apiKey, clients: 8 });
    for (const step of [
      { PHM_MASTER_KEY: masterKey(2), PHM_MASTER_KEY_VERSION: '1' },
      { PHM_MASTER_KEY: masterKey(2), PHM_MASTER_KEY_VERSION: '2' },
      // Back and forth again: an activated version stays known to all servers.
      { PHM_MASTER_KEY: masterKey(2), PHM_MASTER_KEY_VERSION: '1' },
      { PHM_MASTER_KEY: masterKey(2) },
    ]) {
      await replicas.roll(load, step);
      assert.deepEqual(await replicas.doubted(load.issued), []);
    }
    await load.stop();
    assert.deepEqual(
      { wrong: load.wrong, failures: balancer.failures },
      { wrong: [], failures: [] },
    );
    assert.deepEqual(new Set(load.issued.map(versionOf)), new Set([1, 2]));
    assert.equal(await replicas.recorded(load.issued), load.issued.length);
  });
});
