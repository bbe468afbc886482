/** Whether the metrics of an account count what it was answered before it asks. */
import assert from 'node:assert/strict';
import type { Server } from './server.ts';

const CLIENTS = 6;
const ROUNDS = 8;

/**
 * Has several clients of one account make keys, validate and ask for metrics, all at once and at each of the servers in
 * turn. Each answer has to count every request that was answered before the question was sent. No one else uses the account.
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
