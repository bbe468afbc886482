/**
 * The expiry of keys under a wall clock that the test sets, over HTTP with the whole service. If the clock is set back, an
 * expiry no longer holds, but a revocation does, also one of a key that had expired.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { FastifyInstance } from 'fastify';
import { newRecipient } from '#sealing';
import { hashApiKey, newApiKey } from '../../src/accounts/index.ts';
import type { KeyService } from '../../src/service/index.ts';
import { buildTestApp } from '../support/servers/app.ts';
import { startKeyService } from '../support/servers/key-service.ts';
import { makeDataDir, removeDataDir } from '../support/servers/server.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** A key that was generated. */
interface Made {
  readonly key_id: string;
  readonly key: string;
  readonly hash_proof: string;
}

describe('keys that expire', () => {
  const dataDir = makeDataDir();
  const apiKey = newApiKey('live');
  let aheadMs = 0;
  const clock = { nowMs: () => Date.now() + aheadMs };
  let service: KeyService;
  let app: FastifyInstance;

  before(async () => {
    const record = { apiKeyId: 'key_http', accountId: 'acct_test', hint: '', createdMs: 0 };
    ({ service } = await startKeyService(dataDir, {
      clock,
      prepare: (store) => store.addApiKey({ ...record, revokedMs: null }, hashApiKey(apiKey)),
    }));
    app = await buildTestApp({ service, clock, rateLimits: false });
  });
  after(async () => {
    await app?.close();
    await service?.close();
    removeDataDir(dataDir);
  });

  const send = (path: string, payload?: object, headers: Record<string, string> = {}) =>
    app.inject({
      method: payload ? 'POST' : 'GET',
      url: `/api/v2/${path}`,
      headers: { host: 'localhost', 'x-api-key': apiKey, ...headers },
      ...(payload && { payload }),
    });

  const ask = async (path: string, payload?: object) => {
    const answer = await send(path, payload);
    assert.equal(answer.statusCode, 200, answer.body);
    return answer.json();
  };

  const make = (): Promise<Made> => {
    const expires_at = new Date(clock.nowMs() + HOUR_MS).toISOString();
    return ask('generate', { security_level: 256, expires_at });
  };

  const revoke = async ({ key_id }: Made, reason: string) =>
    (await ask(`keys/${key_id}/revoke`, { reason })).key;

  /** Asserts the status of a key in its record, in the lists by status, and for validate with and without its proof. */
  async function assertStatus({ key_id, key, hash_proof }: Made, expected: string) {
    assert.equal((await ask(`keys/${key_id}`)).key.status, expected);
    for (const status of ['active', 'deactivated', 'compromised']) {
      const { keys } = await ask(`keys?status=${status}`);
      const isListed = keys.some((one: Made) => one.key_id === key_id);
      assert.equal(isListed, status === expected, status);
    }
    for (const asked of [{ key }, { key, hash_proof }]) {
      const { valid, validation_details: details } = await ask('validate', asked);
      assert.deepEqual(
        [valid, details.key_status, details.proof_verification],
        [expected === 'active', expected, 'passed'],
      );
    }
  }

  it('are invalid then, and a repeated request for one is still answered', async () => {
    // The suite's verdict on the generator is younger than the ten minutes for which it counts.
    const expires_at = new Date(clock.nowMs() + 2 * MINUTE_MS).toISOString();
    const order = { security_level: 256, expires_at };
    const { suite, publicKey } = await newRecipient();
    const seal_to = { suite, public_key: Buffer.from(publicKey).toString('base64url') };
    const repeatable = async (path: string, payload: object) =>
      (await send(path, payload, { 'idempotency-key': `"${path}"` })).json();
    const plain = () => repeatable('generate', order);
    const sealed = () => repeatable('generate/sealed', { ...order, seal_to });
    const [made, first] = [await plain(), await sealed()];
    await assertStatus(made, 'active');
    aheadMs = 2 * MINUTE_MS;
    await assertStatus(made, 'deactivated');
    const again = await plain();
    assert.deepEqual([again.code, again.key_id], ['key_already_made', made.key_id]);
    assert.ok(first.sealed_key);
    assert.deepEqual(await sealed(), first);
    aheadMs = 0;
  });

  it('stay revoked if they had expired when they were revoked, and are active again otherwise', async () => {
    const [left, superseded, compromised] = [await make(), await make(), await make()];
    for (const one of [left, superseded, compromised]) await assertStatus(one, 'active');
    aheadMs = 2 * HOUR_MS;
    for (const one of [left, superseded, compromised]) await assertStatus(one, 'deactivated');
    const records = [
      await revoke(superseded, 'superseded'),
      await revoke(compromised, 'key_compromise'),
    ];
    aheadMs = 0;
    await assertStatus(left, 'active');
    await assertStatus(superseded, 'deactivated');
    await assertStatus(compromised, 'compromised');
    // A repetition keeps the time of the first revocation, which the clock has yet to reach.
    assert.deepEqual(await revoke(superseded, 'cessation_of_use'), records[0]);
    assert.deepEqual(await revoke(compromised, 'superseded'), records[1]);
    assert.ok(Date.parse(records[0].revoked_at) > clock.nowMs() + HOUR_MS);
  });
});
