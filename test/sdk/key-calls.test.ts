/** Calls for sealed keys and for batches, and calls that may be repeated by their Idempotency-Key. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { newUuid } from '../../sdk/src/idempotency.ts';
import {
  PhmApiError,
  type PhmClient,
  PhmConnectionError,
  PhmKeyLostError,
  PhmResponseError,
} from '../../sdk/src/index.ts';
import { SEALED_KEY } from '../../src/http/openapi/sealed-example.ts';
import { answers, breaks, fails, page, type Step } from '../support/scripted-server.ts';
import { another, GENERATED, makes, RECEIPTED, rejection, VERDICT, withClient } from './support.ts';

const LEVEL = { security_level: 256 } as const;
const SEALED = { ...LEVEL, seal_to: { recipient: 'build-server' } } as const;
const NO_WAIT = { 'retry-after': '0' };
const UUID7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

const { success: _, receipt: __, receipt_url: ___, ...SEALED_ANSWER } = SEALED_KEY;

/** Answers a batch of `count` new keys. */
const batch =
  (count: number, key: object = GENERATED): Step =>
  (response) => {
    const keys = Array.from({ length: count }, () => another(key));
    answers({ timestamp: GENERATED.timestamp, count, keys })(response);
  };

async function all<T>(keys: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const key of keys) list.push(key);
  return list;
}

describe('generateSealed', () => {
  it('sends seal_to and a new UUIDv7, and returns the sealed key', async () => {
    await withClient([answers(SEALED_ANSWER), makes(SEALED_ANSWER)], async (phm, server) => {
      const answer = await phm.generateSealed(SEALED);
      const enc: string = answer.sealed_key.enc;
      assert.equal(enc, SEALED_KEY.sealed_key.enc);
      // @ts-expect-error: it was not requested.
      assert.equal(answer.receipt_url, undefined);
      await phm.generateSealed(SEALED, { requestId: 'r-1' });
      const [first, second] = server.received;
      assert.equal(`${first?.method} ${first?.url}`, 'POST /api/v2/generate/sealed');
      assert.deepEqual(JSON.parse(first?.body ?? ''), SEALED);
      const keys = [first, second].map((one) => String(one?.headers['idempotency-key']));
      for (const key of keys) assert.match(key, UUID7);
      assert.notEqual(keys[0], keys[1]);
    });
  });

  it('has the members that were requested, in its type too', async () => {
    const { opening: ____, ...receipted } = RECEIPTED;
    await withClient([makes({ ...SEALED_ANSWER, ...VERDICT, ...receipted })], async (phm) => {
      const asked = { ...SEALED, enable_nist_validation: true, include: ['receipt'] } as const;
      const answer = await phm.generateSealed(asked);
      const shown: [number, string] = [answer.nist_score, answer.receipt_url];
      assert.deepEqual(shown, [100, `/api/v2/keys/${answer.key_id}/receipt`]);
    });
  });

  it('rejects a response without a sealed key', async () => {
    await withClient([answers(GENERATED)], async (phm) => {
      const error = await rejection(phm.generateSealed(SEALED));
      assert.ok(error instanceof PhmResponseError);
      assert.match(error.message, /\/sealed_key is missing/);
    });
  });

  it('sends no private key', async () => {
    await withClient([answers(SEALED_ANSWER)], async (phm, server) => {
      for (const more of [{ private_key: 'x' }, { privateKey: new Uint8Array(32) }]) {
        const seal_to = { public_key: 'x', ...more };
        const error = await rejection(phm.generateSealed({ ...LEVEL, seal_to }));
        assert.ok(error instanceof TypeError);
        assert.match(error.message, /^seal_to has a private key, which must stay with you/);
        assert.throws(() => phm.generateSealedBatch({ ...LEVEL, seal_to, count: 1 }), TypeError);
      }
      const seal_to = '{"type":"phm-recipient-key/v1"}' as unknown as { recipient: string };
      const error = await rejection(phm.generateSealed({ ...LEVEL, seal_to }));
      assert.ok(error instanceof TypeError);
      assert.equal(
        error.message,
        'seal_to must be sealTo(recipient) or { recipient: name }, got a string',
      );
      assert.equal(server.received.length, 0);
    });
  });
});

describe('a call with an Idempotency-Key', { concurrency: true }, () => {
  const half: Step = (response) => {
    response.writeHead(200, { 'content-length': 100 });
    response.write('{"success": true', () => response.destroy());
  };
  const calls: [string, (phm: PhmClient) => Promise<unknown>, Step][] = [
    ['generate', (phm) => phm.generate(LEVEL, { idempotencyKey: true }), answers(GENERATED)],
    ['generateSealed', (phm) => phm.generateSealed(SEALED), answers(SEALED_ANSWER)],
    ['generateBatch', (phm) => all(phm.generateBatch({ ...LEVEL, count: 2 })), batch(2)],
  ];
  for (const [name, call, answer] of calls) {
    it(`is repeated with the same key after a lost answer or any 5xx: ${name}`, async () => {
      const losses = [
        breaks,
        half,
        page(500),
        page(502),
        page(520),
        fails('internal_error', NO_WAIT),
        fails('ledger_unavailable', NO_WAIT),
        fails('idempotency_in_progress', NO_WAIT),
      ];
      const repeated = async (lost: Step) => {
        await withClient([lost, answer], async (phm, server) => {
          await call(phm);
          const [first, second] = server.received;
          assert.equal(server.received.length, 2);
          assert.match(String(first?.headers['idempotency-key']), UUID7);
          assert.equal(second?.headers['idempotency-key'], first?.headers['idempotency-key']);
          assert.equal(second?.body, first?.body);
        });
      };
      await Promise.all(losses.map(repeated));
    });
  }

  it('is not repeated after a refusal', async () => {
    for (const code of ['invalid_request', 'idempotency_key_reused', 'quota_exceeded'] as const) {
      await withClient([fails(code, NO_WAIT)], async (phm, server) => {
        const error = await rejection(phm.generateSealed(SEALED));
        assert.ok(error instanceof PhmApiError && error.code === code);
        assert.equal(server.received.length, 1);
      });
    }
  });

  it('says which key was generated and lost', async () => {
    const { key_id } = GENERATED;
    const steps = [breaks, fails('key_already_made', {}, { key_id })];
    await withClient(steps, async (phm, server) => {
      const error = await rejection(phm.generate(LEVEL, { idempotencyKey: 'my-1' }));
      assert.ok(error instanceof PhmKeyLostError && error instanceof PhmApiError);
      assert.equal(error.name, 'PhmKeyLostError');
      assert.deepEqual([error.code, error.keyIds], ['key_already_made', [key_id]]);
      assert.match(error.message, /discard the key_id and generate a new key/);
      assert.deepEqual(
        server.received.map(({ headers }) => headers['idempotency-key']),
        ['my-1', 'my-1'],
      );
    });
    const key_ids = ['phm_1', 'phm_2'];
    await withClient([fails('key_already_made', {}, { key_ids })], async (phm) => {
      const error = await rejection(all(phm.generateBatch({ ...LEVEL, count: 2 })));
      assert.ok(error instanceof PhmKeyLostError);
      assert.deepEqual(error.keyIds, key_ids);
    });
  });

  it('has an unknown outcome as long as one of its answers is lost, and names its key', async () => {
    const steps = [breaks, fails('quota_exceeded', NO_WAIT)];
    await withClient(steps, async (phm, server) => {
      const error = await rejection(phm.generateSealed(SEALED));
      assert.ok(error instanceof PhmApiError && error.code === 'quota_exceeded');
      assert.equal(error.outcomeUnknown, true);
      assert.equal(error.idempotencyKey, server.received[0]?.headers['idempotency-key']);
    });
    const lost = [breaks, fails('key_already_made', {}, { key_id: 'phm_1' })];
    await withClient(lost, async (phm) => {
      const error = await rejection(phm.generate(LEVEL, { idempotencyKey: 'mine' }));
      assert.ok(error instanceof PhmKeyLostError);
      assert.deepEqual([error.outcomeUnknown, error.idempotencyKey], [false, 'mine']);
    });
    await withClient([fails('quota_exceeded', NO_WAIT)], async (phm) => {
      const error = await rejection(phm.generate(LEVEL));
      assert.ok(error instanceof PhmApiError);
      assert.deepEqual([error.outcomeUnknown, error.idempotencyKey], [false, null]);
    });
  });

  it('is not sent with the header, and not repeated, where the caller turns it off', async () => {
    for (const call of [
      (phm: PhmClient) => phm.generate(LEVEL),
      (phm: PhmClient) => phm.generateSealed(SEALED, { idempotencyKey: false }),
      (phm: PhmClient) => all(phm.generateBatch({ ...LEVEL, count: 1 }, { idempotencyKey: false })),
    ]) {
      await withClient([breaks], async (phm, server) => {
        const error = await rejection(call(phm));
        assert.ok(error instanceof PhmConnectionError && error.outcomeUnknown);
        assert.equal(server.received.length, 1);
        assert.ok(!('idempotency-key' in (server.received[0]?.headers ?? {})));
      });
    }
  });

  it('accepts only what the service accepts', async () => {
    await withClient([answers(GENERATED)], async (phm, server) => {
      for (const idempotencyKey of ['', ' ', 'a b', '"a"', 'é', 'x'.repeat(256), 7]) {
        const options = { idempotencyKey: idempotencyKey as string };
        assert.ok((await rejection(phm.generate(LEVEL, options))) instanceof TypeError);
      }
      assert.equal(server.received.length, 0);
    });
  });
});

describe('a batch', () => {
  it('is split, each part with a key of its own', async () => {
    await withClient([batch(100), batch(100), batch(50)], async (phm, server) => {
      const keys = await all(phm.generateBatch({ ...LEVEL, count: 250 }));
      assert.equal(keys.length, 250);
      const key: string = keys[0]?.key ?? '';
      assert.equal(key.length, GENERATED.key.length);
      const counts = server.received.map(({ body }) => JSON.parse(body).count);
      assert.deepEqual(counts, [100, 100, 50]);
      const ids = server.received.map(({ headers }) => headers['idempotency-key']);
      assert.equal(new Set(ids).size, 3);
      assert.equal(server.received[0]?.url, '/api/v2/generate/batch');
    });
  });

  it('is generated while its keys are read', async () => {
    await withClient([batch(2)], async (phm, server) => {
      for await (const _key of phm.generateBatch({ ...LEVEL, count: 10 }, { chunk: 2 })) {
        if (server.received.length === 2) break;
      }
      assert.equal(server.received.length, 2);
    });
  });

  it('becomes smaller if the service says so, unless the caller gave its key', async () => {
    const tooLarge = fails('batch_too_large', {}, { max_count: 2 });
    await withClient([tooLarge, batch(2), batch(2), batch(1)], async (phm, server) => {
      assert.equal((await all(phm.generateBatch({ ...LEVEL, count: 5 }))).length, 5);
      assert.deepEqual(
        server.received.map(({ body }) => JSON.parse(body).count),
        [5, 2, 2, 1],
      );
    });
    await withClient([tooLarge], async (phm, server) => {
      const given = { idempotencyKey: 'mine' };
      const error = await rejection(all(phm.generateBatch({ ...LEVEL, count: 5 }, given)));
      assert.ok(error instanceof PhmApiError);
      assert.deepEqual([error.code, error.maxCount], ['batch_too_large', 2]);
      assert.equal(server.received.length, 1);
    });
    const senseless = fails('batch_too_large', {}, { max_count: 5 });
    await withClient([senseless], async (phm) => {
      const error = await rejection(all(phm.generateBatch({ ...LEVEL, count: 5 })));
      assert.ok(error instanceof PhmApiError);
    });
  });

  it('with a key of the caller is exactly one request', async () => {
    await withClient([batch(3, SEALED_ANSWER)], async (phm, server) => {
      const given = { idempotencyKey: 'batch-7' };
      const keys = await all(phm.generateSealedBatch({ ...SEALED, count: 3 }, given));
      assert.equal(keys[2]?.sealed_key.suite, 'MLKEM768-X25519');
      assert.equal(server.received.length, 1);
      assert.equal(server.received[0]?.headers['idempotency-key'], 'batch-7');
      assert.equal(server.received[0]?.url, '/api/v2/generate/sealed/batch');
      const many = { ...LEVEL, count: 101 };
      assert.throws(() => phm.generateBatch(many, given), {
        name: 'TypeError',
        message: /belongs to one batch, and 101 keys are more than one batch of 100: set chunk/,
      });
    });
  });

  it('rejects a wrong number of keys, and arguments that make no sense', async () => {
    await withClient([batch(2)], async (phm) => {
      const error = await rejection(all(phm.generateBatch({ ...LEVEL, count: 3 })));
      assert.ok(error instanceof PhmResponseError);
      assert.match(error.message, /\/count must be 3, got a number/);
      for (const count of [0, -1, 1.5, Number.NaN, '3' as unknown as number]) {
        assert.throws(() => phm.generateBatch({ ...LEVEL, count }), RangeError);
      }
      for (const chunk of [0, 1_001]) {
        assert.throws(() => phm.generateBatch({ ...LEVEL, count: 1 }, { chunk }), RangeError);
      }
    });
    const short = answers({ timestamp: GENERATED.timestamp, count: 3, keys: [GENERATED] });
    await withClient([short], async (phm) => {
      const error = await rejection(all(phm.generateBatch({ ...LEVEL, count: 3 })));
      assert.match((error as Error).message, /\/keys must be a list of 3, got a list/);
    });
  });
});

describe('a new UUID', () => {
  it('has the layout of RFC 9562 §5.7, with the time first', () => {
    // The example of Appendix A.6.
    const random = Buffer.from('0000000000000cc318c4dc0c0c07398f', 'hex');
    assert.equal(newUuid(0x017f22e279b0, random), '017f22e2-79b0-7cc3-98c4-dc0c0c07398f');
    const at = (ms: number) => newUuid(ms, Buffer.alloc(16, 0xff));
    assert.match(at(2 ** 48 - 1), UUID7);
    assert.ok(at(1_700_000_000_000) < at(1_700_000_000_001));
  });
});
