/** Deliveries over HTTP: what the routes give to other threads. A message takes along the whole memory behind a view. */
import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import type { FastifyInstance } from 'fastify';
import { newApiKey } from '../../../src/accounts/index.ts';
import { readDelivery } from '../../../src/http/wire/deliver.ts';
import type { OrderBody } from '../../../src/http/wire/sealed-schemas.ts';
import { buildTestApp, standInService } from '../../support/servers/app.ts';

function assertOwn(bytes: Uint8Array | null | undefined, length: number): void {
  assert.equal(bytes?.length, length);
  assert.equal(bytes?.buffer.byteLength, length, 'a message to a worker copies nothing else');
}

describe('memory that requests give to other threads', () => {
  const given: (Uint8Array | null)[] = [];
  let app: FastifyInstance;
  before(async () => {
    const list = async ({ afterKeyId }: { afterKeyId: Uint8Array | null }) => {
      given.push(afterKeyId);
      return { copies: [], next: null };
    };
    const take = async ({ deliveryIds }: { deliveryIds: readonly Uint8Array[] }) => {
      given.push(...deliveryIds);
      return deliveryIds.map(() => null);
    };
    const page = async ({ after: cursor }: { after: Uint8Array | null }) => {
      given.push(cursor);
      return { keys: [], next: null };
    };
    const parts = { deliveries: { list, take }, records: { list: page } };
    app = await buildTestApp({ service: standInService('research', parts as never) });
  });
  after(() => app.close());

  it('holds the delivery of a request alone', () => {
    const context = randomBytes(32);
    const ids = [randomUUID(), randomUUID()];
    const body = {
      ...{ security_level: 256, count: 2, seal_to: { recipient: 'paris' } },
      deliver: { ids, context: context.toString('base64') },
    };
    const delivery = readDelivery(body as OrderBody, 2, true);
    assert.deepEqual(delivery?.context, new Uint8Array(context));
    assertOwn(delivery?.context, 32);
    assert.equal(delivery?.ids.length, 2);
    for (const id of delivery?.ids ?? []) assertOwn(id, 16);
  });

  it('holds the IDs and the cursor of a box alone', async () => {
    given.length = 0;
    const headers = { 'x-api-key': newApiKey('live') };
    const url = '/api/v2/deliveries';
    const payload = { recipient: 'paris', ids: [randomUUID()] };
    const taken = await app.inject({ method: 'POST', url: `${url}/fetch`, payload, headers });
    assert.equal(taken.statusCode, 404);
    const cursor = randomBytes(16).toString('base64url');
    for (const path of [
      `${url}?recipient=paris&cursor=${cursor}`,
      `/api/v2/keys?cursor=${cursor}`,
    ]) {
      const { statusCode } = await app.inject({ url: path, headers });
      assert.equal(statusCode, 200);
    }
    assert.equal(given.length, 3);
    for (const bytes of given) assertOwn(bytes, 16);
  });
});
