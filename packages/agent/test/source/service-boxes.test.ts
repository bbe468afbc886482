/** Copies that whoever writes to the service's database has changed: each is refused alone, and stands for no other. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { beforeEach, describe, it } from 'node:test';
import { newRecipient } from '../../../../sdk/src/index.ts';
import { ServiceBoxes } from '../../src/source/service-boxes.ts';
import { SimulatedClock } from '../support/simulated-clock.ts';

const { signal } = new AbortController();

describe('copies of a box', () => {
  /** IDs whose copies are not what their delivery states. */
  let changed: Set<string>;
  let isPage: boolean;
  let calls: number;
  let boxes: ServiceBoxes;

  /** A service whose other copies have expired. */
  const serve: typeof fetch = async (_, init = {}) => {
    calls += 1;
    const headers = {
      'X-Request-Id': new Headers(init.headers).get('X-Request-Id') ?? '',
      'Content-Type': 'application/json',
    };
    if (isPage) return new Response('<p>Log in to the network', { headers });
    const { ids = [] } = init.body ? JSON.parse(String(init.body)) : {};
    const deliveries = (ids as string[]).map((id) => ({
      delivery_id: id,
      state: changed.has(id) ? 'received' : 'expired',
    }));
    const body = {
      success: true,
      deliveries,
      next_cursor: null,
      timestamp: '2026-01-01T00:00:00Z',
    };
    return new Response(JSON.stringify(body), { headers });
  };

  beforeEach(async () => {
    [changed, isPage, calls] = [new Set(), false, 0];
    boxes = new ServiceBoxes({
      url: 'https://keys.example',
      apiKey: 'phmsk_x',
      policy: '',
      origin: 'keys.example/log',
      recipient: 'paris',
      recipientKey: await newRecipient(),
      lifeMs: 3_600_000,
      clock: new SimulatedClock(),
      fetch: serve,
    });
  });

  const kindsOf = async (ids: readonly string[]) =>
    (await boxes.fetch(ids, signal)).map(({ kind }) => kind);

  it('are fetched together', async () => {
    const ids = Array.from({ length: 100 }, () => randomUUID());
    assert.deepEqual(new Set(await kindsOf(ids)), new Set(['gone']));
    assert.equal(calls, 1);
  });

  it('are had beside some that do not fit', async () => {
    const ids = Array.from({ length: 100 }, () => randomUUID());
    for (const i of [0, 41, 42, 99]) changed.add(ids[i] ?? '');
    const kinds = await kindsOf(ids);
    assert.deepEqual(
      kinds,
      ids.map((id) => (changed.has(id) ? 'refused' : 'gone')),
    );
    assert.ok(calls < 70, `${calls} calls`);
  });

  it('are refused alone, with the reason', async () => {
    const id = randomUUID();
    changed.add(id);
    const [one] = await boxes.fetch([id], signal);
    assert.ok(one?.kind === 'refused' && one.id === id);
    assert.match(one.reason, /sealed_key does not fit the state/);
  });

  it('are not refused for what another server answers', async () => {
    isPage = true;
    const ids = [randomUUID(), randomUUID()];
    await assert.rejects(boxes.fetch(ids, signal), { name: 'SourceError' });
    await assert.rejects(boxes.fetch(ids.slice(1), signal), { name: 'SourceError' });
  });
});
