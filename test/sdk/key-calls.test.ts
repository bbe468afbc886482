/** Types of sealed keys, and what is not sent with them. sdk/exchanges/keys.json has the calls. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { newUuid } from '../../sdk/src/idempotency.ts';
import { SEALED_KEY } from '../../src/http/openapi/sealed-example.ts';
import { answers } from '../support/clients/scripted-server.ts';
import { makes, RECEIPTED, rejection, VERDICT, withClient } from './support.ts';

const LEVEL = { security_level: 256 } as const;
const SEALED = { ...LEVEL, seal_to: { recipient: 'build-server' } } as const;
const UUID7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

const { success: _, receipt: __, receipt_url: ___, ...SEALED_ANSWER } = SEALED_KEY;

describe('generateSealed', () => {
  it('has a type without what was not requested', async () => {
    await withClient([answers(SEALED_ANSWER)], async (phm) => {
      const answer = await phm.generateSealed(SEALED);
      const enc: string = answer.sealed_key.enc;
      assert.equal(enc, SEALED_KEY.sealed_key.enc);
      // @ts-expect-error: it was not requested.
      assert.equal(answer.receipt_url, undefined);
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

  it('sends no private key', async () => {
    await withClient([answers(SEALED_ANSWER)], async (phm, server) => {
      for (const more of [{ private_key: 'x' }, { privateKey: new Uint8Array(32) }]) {
        const seal_to = { public_key: 'x', ...more };
        const error = await rejection(phm.generateSealed({ ...LEVEL, seal_to }));
        assert.ok(error instanceof TypeError);
        assert.match(error.message, /^seal_to has a private key, which must stay with you/);
        assert.throws(() => phm.generateSealedBatch({ ...LEVEL, seal_to, count: 1 }), TypeError);
      }
      assert.equal(server.received.length, 0);
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
