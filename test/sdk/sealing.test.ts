/** The client opens sealed keys: with both implementations of the KEMs, and refuses what does not fit. */
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import {
  isUnsupported,
  newRecipient as newByPlatform,
  open,
  type SealHeader,
  seal,
} from '#sealing';
import {
  formatRecipient,
  formatRecipientKey,
  newRecipient,
  openSealedKey,
  parseRecipient,
  parseRecipientKey,
  type RecipientKey,
  SEAL_SUITES,
  SealedKeyError,
  sealTo,
  thumbprintOf,
  verifyReceipt,
} from '../../sdk/src/index.ts';
import { statedRecipients } from '../../sdk/src/receipt/tlog.ts';
import { loadNobleKems, withKems } from '../../sdk/src/sealing/kems.ts';
import { LOG_ED25519, NOW, POLICY, policyOf } from './receipts.ts';
import { HASH_PROOF, sealedAnswer, severalAnswer } from './sealed-keys.ts';

const CHECKED = { policy: POLICY, now: NOW };

type Facts = Pick<SealHeader, 'service' | 'key_id' | 'security_level' | 'time' | 'key_commitment'>;

/** What the header of a sealed key states of its key. */
function factsOf({ service, key_id, security_level, time, key_commitment }: Facts): Facts {
  return { service, key_id, security_level, time, key_commitment };
}

/** Rejects with a `SealedKeyError` of this one sentence. */
async function refuses(promise: Promise<unknown>, message: RegExp): Promise<SealedKeyError> {
  const error = await promise.then(
    () => assert.fail('it was opened'),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof SealedKeyError, String(error));
  assert.match(error.message, message);
  assert.match(error.message, /^[A-Z][^\n]*\.$/);
  return error;
}

describe('openSealedKey', () => {
  let recipient: RecipientKey;

  before(async () => {
    recipient = await newRecipient();
  });

  for (const { name } of SEAL_SUITES) {
    for (const bits of [128, 256, 384]) {
      it(`opens an answer, and verifies its receipt: ${name}, ${bits} bits`, async () => {
        const recipientKey = await newRecipient(name);
        const { answer, key, opening } = await sealedAnswer(recipientKey, { bits });
        const opened = await openSealedKey(answer, recipientKey, CHECKED);
        assert.deepEqual(Buffer.from(opened.key), key);
        assert.deepEqual(Buffer.from(opened.opening), opening);
        assert.equal(opened.hashProof, HASH_PROOF);
        assert.equal(opened.header.key_id, answer.key_id);
        assert.equal(opened.verdict?.valid, true);
      });
    }

    it(`has two implementations of the KEM that agree: ${name}`, async () => {
      const noble = await loadNobleKems();
      const { answer, key, opening } = await sealedAnswer(await newByPlatform(name));
      const header = factsOf(answer.receipt.statement);
      for (const [generating, sealing, opening_] of [
        [noble, undefined, noble],
        [undefined, noble, undefined],
        [noble, noble, undefined],
        [undefined, undefined, noble],
      ]) {
        const recipientKey = await newByPlatform(name, generating);
        const order = { ...recipientKey, header, key, opening, hashProof: HASH_PROOF };
        const { sealedKey } = await seal(order, sealing);
        const opened = await open({ sealedKey, recipientKey }, opening_);
        assert.deepEqual(Buffer.from(opened.key), key);
      }
    });
  }

  /** What browsers without the KEMs throw: most know no such algorithm; Firefox stops at the format of a key. */
  const lacks = {
    'the algorithms': (names: readonly string[]) =>
      names.some((name) => /ML-?KEM/.test(name)) ? 'NotSupportedError' : undefined,
    'the formats': (names: readonly string[]) =>
      names.some((name) => /^raw-/.test(name)) ? 'SyntaxError' : lacks['the algorithms'](names),
  } as const;

  for (const [what, problemOf] of Object.entries(lacks)) {
    for (const { name: suite } of SEAL_SUITES) {
      it(`uses noble where the platform lacks ${what}: ${suite}`, async (t) => {
        const { answer, key } = await sealedAnswer(recipient);
        const subtle = Object.getPrototypeOf(crypto.subtle);
        for (const method of ['importKey', 'generateKey']) {
          const original = subtle[method];
          t.mock.method(subtle, method, function (this: unknown, ...args: unknown[]) {
            const names = args.map((arg) => String((arg as { name?: string })?.name ?? arg));
            const problem = problemOf(names);
            if (problem !== undefined) throw new DOMException('Refused.', problem);
            return Reflect.apply(original, this, args);
          });
        }
        await assert.rejects(newByPlatform(suite), isUnsupported);
        const opened = await openSealedKey(answer, recipient);
        assert.deepEqual(Buffer.from(opened.key), key);
        const other = await newRecipient(suite);
        const { sealedKey } = await withKems((kems) =>
          seal({ ...other, ...opened, header: factsOf(opened.header) }, kems),
        );
        t.mock.restoreAll();
        assert.deepEqual(Buffer.from((await openSealedKey(sealedKey, other)).key), key);
      });
    }
  }

  it('takes the answer or the sealed key, as object or text, and the text of the recipient key', async () => {
    const { answer, key } = await sealedAnswer(recipient);
    for (const sealed of [
      answer,
      answer.sealed_key,
      JSON.stringify(answer, null, 2),
      JSON.stringify(answer.sealed_key),
    ]) {
      for (const own of [recipient, formatRecipientKey(recipient)]) {
        const opened = await openSealedKey(sealed, own);
        assert.deepEqual(Buffer.from(opened.key), key);
        assert.equal(opened.verdict, null);
      }
    }
    const opened = await openSealedKey(answer.sealed_key, recipient, {
      ...CHECKED,
      receipt: JSON.stringify(answer.receipt),
    });
    assert.equal(opened.verdict?.valid, true);
  });

  it('refuses what cannot be read, and another recipient', async () => {
    const { answer } = await sealedAnswer(recipient);
    const other = await newRecipient();
    await refuses(openSealedKey('{', recipient), /^This is not a sealed key: it is not JSON/);
    await refuses(openSealedKey({ key: '00' }, recipient), /^This is not a sealed key: .*unknown/);
    await refuses(openSealedKey(undefined, recipient), /^This is not a sealed key: .*undefined/);
    const twice = JSON.stringify(answer.sealed_key).replace('{', '{"enc":"",');
    await refuses(openSealedKey(twice, recipient), /has the member "enc" twice/);
    await refuses(openSealedKey(answer, '{}'), /^This is not the key of a recipient: /);
    await refuses(openSealedKey(answer, other), /^The key is sealed to another recipient/);
    await refuses(
      openSealedKey(answer, await newRecipient('ML-KEM-1024')),
      /^The key is sealed with MLKEM768-X25519/,
    );
  });

  it('refuses an answer that names another key', async () => {
    const { answer } = await sealedAnswer(recipient);
    await refuses(
      openSealedKey({ ...answer, key_id: 'phm_1' }, recipient),
      /^The answer states the key_id "phm_1", but the sealed key is of phm_\d+\.$/,
    );
    await refuses(
      openSealedKey({ ...answer, security_level: 128 }, recipient),
      /^The answer states the security_level 128, but the sealed key is of 256\.$/,
    );
  });

  it('refuses a receipt of another key, recipient or ciphertext', async () => {
    const { answer } = await sealedAnswer(recipient);
    const { answer: other } = await sealedAnswer(recipient);
    const zeros = Buffer.alloc(32).toString('base64');
    for (const [statement, message] of [
      [{ sealed_to: null, sealed_digest: null }, /^The receipt is of a key that was not sealed\.$/],
      [
        { sealed_to: zeros },
        /^The receipt names another recipient: its sealed_to is A+=, and your/,
      ],
      [{ sealed_digest: zeros }, /^The receipt is of another ciphertext/],
      [{ sealed_digest: null }, /^The receipt is of another ciphertext/],
      [{ time: '2027-01-15T07:59:59.124+00:00' }, /^The receipt is of another key: its time is/],
    ] as const) {
      const { answer } = await sealedAnswer(recipient, { statement });
      const error = await refuses(openSealedKey(answer, recipient, CHECKED), message);
      assert.equal(error.verdict?.valid, true, 'the receipt itself is right');
    }
    const options = { ...CHECKED, receipt: other.receipt };
    await refuses(openSealedKey(answer, recipient, options), /its key_commitment is/);
  });

  it('refuses a receipt that does not verify, and one without a policy', async () => {
    const { answer } = await sealedAnswer(recipient);
    const { receipt } = answer;
    const policy = policyOf([LOG_ED25519]).replace(
      /^log \S+/,
      `log ${LOG_ED25519.vkey.replace('keys', 'key2')}`,
    );
    for (const [options, message] of [
      [{ receipt }, /^Without a pinned policy/],
      [{ ...CHECKED, policy }, /^The policy does not list the log/],
      [{ ...CHECKED, now: new Date(0) }, /in the future/],
    ] as const) {
      const error = await refuses(openSealedKey(answer, recipient, options), message);
      assert.equal(error.verdict?.valid, false);
    }
    for (const [options, message] of [
      [{ ...CHECKED, receipt: '{' }, /^This is not a receipt: it is not JSON, or it was cut\.$/],
      [{ ...CHECKED, policy: 'log' }, /^The policy cannot be read: /],
    ] as const) {
      const error = await refuses(openSealedKey(answer, recipient, options), message);
      assert.equal(error.verdict, null);
    }
  });

  it('refuses an answer whose receipt is still missing, if a policy asks for it', async () => {
    const { answer } = await sealedAnswer(recipient);
    const early = { ...answer, receipt: null };
    await refuses(openSealedKey(early, recipient, CHECKED), /^The answer has no receipt yet/);
    assert.equal((await openSealedKey(early, recipient)).verdict, null);
    const options = { ...CHECKED, receipt: answer.receipt };
    assert.equal((await openSealedKey(early, recipient, options)).verdict?.valid, true);
  });

  it('takes the files of any editor, and names UTF-16', async () => {
    const { answer, key } = await sealedAnswer(recipient);
    const windows = (text: string) => `\ufeff${text.trim()}\r\n`;
    const texts = [JSON.stringify(answer, undefined, 2), formatRecipientKey(recipient)] as const;
    const [sealed, secret] = [windows(texts[0].replaceAll('\n', '\r\n')), windows(texts[1])];
    const opened = await openSealedKey(sealed, secret, { ...CHECKED, policy: windows(POLICY) });
    assert.deepEqual(Buffer.from(opened.key), key);
    assert.deepEqual(
      parseRecipient(windows(formatRecipient(recipient))).publicKey,
      recipient.publicKey,
    );
    assert.deepEqual(parseRecipientKey(secret), recipient);
    const utf16 = (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le').toString();
    const named = /it is not UTF-8 text, perhaps UTF-16: save it as UTF-8/;
    await refuses(openSealedKey(utf16(texts[0]), secret), named);
    await refuses(openSealedKey(sealed, utf16(texts[1])), named);
    assert.throws(() => parseRecipient(utf16(formatRecipient(recipient))), named);
  });

  it('rejects arguments of a wrong type', async () => {
    const { answer } = await sealedAnswer(recipient);
    for (const call of [
      () => openSealedKey(answer.sealed_key, recipient, { policy: POLICY }),
      () => openSealedKey(answer, recipient, { policy: 1 as unknown as string }),
      () => openSealedKey(answer, 1 as unknown as string),
      () => openSealedKey(answer, recipient, 1 as unknown as object),
      () => openSealedKey(answer, sealTo(recipient) as unknown as typeof recipient),
    ]) {
      await assert.rejects(call, { name: 'TypeError', message: /must|without a receipt/ });
    }
  });
});

describe('sealTo', () => {
  it('is what a request names, without a secret', async () => {
    const recipient = await newRecipient();
    const named = sealTo(recipient);
    assert.deepEqual(Object.keys(named), ['suite', 'public_key']);
    const file = JSON.stringify({ type: 'phm-recipient/v1', ...named });
    assert.deepEqual(parseRecipient(file).publicKey, recipient.publicKey);
  });

  it('refuses what is no recipient, and says what is one', async () => {
    const recipient = await newRecipient();
    for (const wrong of [undefined, 'text of a file', {}, sealTo(recipient)]) {
      assert.throws(
        () => sealTo(wrong as unknown as typeof recipient),
        /^TypeError: the recipient must .*parseRecipient/,
      );
    }
  });
});

describe('openSealedKey of a key for several recipients', () => {
  let first: RecipientKey;
  let second: RecipientKey;
  let third: RecipientKey;
  let both: Awaited<ReturnType<typeof severalAnswer>>;
  const nameOf = async ({ publicKey }: RecipientKey) =>
    Buffer.from(await thumbprintOf(publicKey)).toString('base64');

  before(async () => {
    [first, second] = [await newRecipient(), await newRecipient('ML-KEM-1024')];
    third = await newRecipient();
    both = await severalAnswer([first, second]);
  });

  it('opens the copy of each, and names all', async () => {
    const recipients = [await nameOf(first), await nameOf(second)];
    for (const own of [first, second]) {
      const opened = await openSealedKey(JSON.stringify(both.answer), own, CHECKED);
      assert.deepEqual(Buffer.from(opened.key), both.key);
      assert.deepEqual(opened.recipients, recipients);
      assert.equal(opened.verdict?.valid, true);
    }
    await refuses(openSealedKey(both.answer, third), /^The key is sealed to another recipient: /);
  });

  it('demands the recipients that its caller expects, and no further one', async () => {
    const { answer } = both;
    const others = [first, formatRecipient(first), await nameOf(first)];
    for (const other of others) {
      const expectRecipients = [other];
      await openSealedKey(answer, second, { ...CHECKED, expectRecipients });
      await openSealedKey(answer, second, { expectRecipients: [...expectRecipients, second] });
    }
    await refuses(
      openSealedKey(answer, second, { expectRecipients: [] }),
      /^The key is sealed to a further recipient, whom you did not expect: its thumbprint is \S+\.$/,
    );
    await refuses(
      openSealedKey(answer, second, { expectRecipients: [first, third] }),
      /^The key is not sealed to a recipient whom you expected: its thumbprint is \S+\.$/,
    );
    const alone = await sealedAnswer(second);
    await openSealedKey(alone.answer, second, { expectRecipients: [] });
    await refuses(
      openSealedKey(alone.answer, second, { expectRecipients: [first] }),
      /^The key is not sealed to a recipient whom you expected/,
    );
    for (const wrong of ['x', [7], ['x'], [{}], [formatRecipientKey(first)]]) {
      const expectRecipients = wrong as unknown as [string];
      await assert.rejects(openSealedKey(answer, second, { expectRecipients }), {
        name: 'TypeError',
        message: /^expectRecipients must /,
      });
    }
  });

  it('refuses a receipt with other recipients, another digest or a delivery', async () => {
    const { sealed } = both.answer.receipt.statement;
    const zeros = Buffer.alloc(32).toString('base64');
    const further = { to: await nameOf(third), digest: zeros };
    for (const [changes, message] of [
      [
        { sealed: [...sealed, further] },
        /^The receipt names other recipients: \S+, \S+ and \S+\. The sealed key names/,
      ],
      [{ sealed: sealed.toReversed() }, /^The receipt names other recipients: /],
      [
        { sealed: sealed.map(({ to }) => ({ to, digest: zeros })) },
        /^The receipt is of another ciphertext: its digest for you /,
      ],
      [
        { delivery: { id: '6f1c2f0e-7a55-4c7e-9d1b-0a3a5e2d4f60', context: null } },
        /^The receipt names another delivery: 6f1c2f0e-\S+\. The sealed key names none\.$/,
      ],
    ] as const) {
      const { answer } = await severalAnswer([first, second], { changes });
      await refuses(openSealedKey(answer, second, CHECKED), message);
    }
    const { answer: plain } = await sealedAnswer(second);
    const { sealed_keys: copies, receipt } = both.answer;
    const mixed = { ...both.answer, receipt: plain.receipt };
    await refuses(openSealedKey(mixed, second, CHECKED), /^The receipt is of another key: /);
    assert.equal(
      (await openSealedKey(copies[1], second, { ...CHECKED, receipt })).verdict?.valid,
      true,
    );
  });
});

describe('verifyReceipt', () => {
  it('accepts the receipt of a sealed key, and says to whom', async () => {
    const { answer, key, opening } = await sealedAnswer(await newRecipient());
    const verdict = await verifyReceipt(answer.receipt, { ...CHECKED, key, opening });
    assert.deepEqual(verdict.problems, []);
    const [to] = statedRecipients(answer.receipt.statement);
    assert.ok(to);
    assert.ok(verdict.shown.some((sentence) => sentence.endsWith(`the thumbprint ${to}.`)));
  });

  it('accepts the receipt of a key for several, and names all', async () => {
    const keys = [await newRecipient(), await newRecipient('ML-KEM-1024'), await newRecipient()];
    const { answer, key, opening } = await severalAnswer(keys);
    const verdict = await verifyReceipt(answer.receipt, { ...CHECKED, key, opening });
    assert.deepEqual(verdict.problems, []);
    const [a, b, c] = statedRecipients(answer.receipt.statement);
    const all = `3 recipients, with the thumbprints ${a}, ${b} and ${c}.`;
    assert.ok(verdict.shown.some((sentence) => sentence.endsWith(all)));
    const said = { receipt: answer.receipt, sealed_to: a };
    assert.deepEqual((await verifyReceipt(said, CHECKED)).problems, []);
    const { problems } = await verifyReceipt({ ...said, sealed_to: b }, CHECKED);
    assert.match(String(problems), /^The file has another sealed_to than its receipt/);
  });
});
