/** Checks that an account's metrics count every response that preceded the question. */
import assert from 'node:assert/strict';
import type { Server } from '../servers/server.ts';

const CLIENTS = 6;
const ROUNDS = 8;

/**
 * Lets several clients of one account generate keys, validate and read metrics at once, on each server in turn.
 * Each response must count every request that was answered before the question was sent. No other client uses
 * the account.
 */
export async function assertCountsOwnRequests(
  servers: readonly Server[],
  apiKey: string,
): Promise<void> {
  const serverOf = (turn: number) => servers[turn % servers.length] as Server;
  const sums = async (turn: number) => {
    const { status, body } = await serverOf(turn).metrics('', apiKey);
    assert.equal(status, 200);
    const { performance, usage } = body.metrics;
    return { keys: performance.total_keys_generated, requests: usage.total_usage };
  };
  const before = await sums(0);
  const answered = { keys: before.keys, requests: before.requests };
  const assertCounted = async (turn: number) => {
    const { keys, requests } = answered;
    const told = await sums(turn);
    assert.ok(told.keys >= keys, `${told.keys} of ${keys} keys`);
    assert.ok(told.requests >= requests, `${told.requests} of ${requests} requests`);
  };
  const use = async (client: number) => {
    for (let round = 0; round < ROUNDS; round++) {
      const turn = client + round;
      const made = await serverOf(turn).generate({ security_level: 128 }, apiKey);
      assert.equal(made.status, 200);
      answered.keys += 1;
      answered.requests += 1;
      await assertCounted(turn + 1);
      assert.equal((await serverOf(turn).validate({ key: made.body.key }, apiKey)).status, 200);
      answered.requests += 1;
      await assertCounted(turn);
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, (_, client) => use(client)));
  assert.deepEqual(await sums(1), answered);
  assert.equal(answered.keys - before.keys, CLIENTS * ROUNDS);
}
