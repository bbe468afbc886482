/** docs/sealing.md: its steps are enough to open a sealed key, in any language, and they refuse every other one. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { newRecipient, SEAL_SUITES, type SealOrder, type SealSuiteName, seal } from '#sealing';
import { contentOf } from './sealing/order.ts';
import { ROOT } from './support/texts/imports.ts';
import { codeBlocks, readPage } from './support/texts/markdown.ts';
import { type Json, verifyByThePage } from './support/texts/receipt-by-the-page.ts';
import { isOfByThePage, openByThePage } from './support/texts/sealed-key-by-the-page.ts';

const PAGE = readPage('docs/sealing.md');
const SEVERAL = JSON.parse(
  readFileSync(join(ROOT, 'test/vectors/sealing/several.json'), 'utf8'),
) as Json;
const SERVED = JSON.parse(
  readFileSync(join(ROOT, 'test/vectors/sealing/served.json'), 'utf8'),
) as Json;

/** Returns a key that was sealed to a new recipient, with the recipient's seed. */
async function sealed(
  suite: SealSuiteName,
  change: Partial<SealOrder> = {},
): Promise<{ sealedKey: Json; seed: Buffer; thumbprint: Uint8Array; digest: Uint8Array }> {
  const { publicKey, privateKey } = await newRecipient(suite);
  const made = await seal({ suite, publicKey, ...contentOf(256), ...change });
  return { ...made, seed: Buffer.from(privateKey) };
}

/** Returns base64url text with one bit of its byte `at` flipped. */
function flipped(text: string, at: number): string {
  const bytes = Buffer.from(text, 'base64url');
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  return bytes.toString('base64url');
}

/** Returns the sealed key with other members of its header. */
function withHeader(sealedKey: Json, change: Json): Json {
  const header = JSON.parse(Buffer.from(sealedKey.header, 'base64url').toString());
  const text = JSON.stringify({ ...header, ...change });
  return { ...sealedKey, header: Buffer.from(text).toString('base64url') };
}

describe('"How to open" of docs/sealing.md', () => {
  for (const { name } of SEAL_SUITES) {
    it(`opens what the service seals with ${name}, at every level`, async () => {
      for (const bits of [128, 256, 384] as const) {
        const content = contentOf(bits);
        const { sealedKey, seed, thumbprint, digest } = await sealed(name, content);
        const opened = openByThePage(sealedKey, seed);
        assert.deepEqual(opened.key, Buffer.from(content.key));
        assert.deepEqual(opened.opening, Buffer.from(content.opening));
        assert.equal(opened.hashProof, content.hashProof);
        assert.equal(opened.header.key_id, content.header.key_id);
        assert.equal(opened.sealedTo, Buffer.from(thumbprint).toString('base64'));
        assert.equal(opened.sealedDigest, Buffer.from(digest).toString('base64'));
      }
    });

    it(`refuses every other sealed key of ${name}, at the step that the page names`, async () => {
      const { sealedKey, seed } = await sealed(name);
      const refused = (changed: Json, step: RegExp, privateKey = seed) =>
        assert.throws(() => openByThePage(changed, privateKey), step);
      refused({ ...sealedKey, kdf_id: 2 }, /^Error: 1/);
      refused({ ...sealedKey, more: 1 }, /^Error: 1/);
      refused({ ...sealedKey, enc: `${sealedKey.enc}==` }, /^Error: 1/);
      refused({ ...sealedKey, enc: sealedKey.enc.slice(4) }, /^Error: 1/);
      refused(withHeader(sealedKey, { more: 1 }), /^Error: 2/);
      refused(withHeader(sealedKey, { type: 'phm-sealed-key/v2' }), /^Error: 2: members/);
      refused(withHeader(sealedKey, { type: 'phm-sealed-key/v3' }), /^Error: 2: type/);
      refused(withHeader(sealedKey, { kem_id: 32 }), /^Error: 2/);
      refused(sealedKey, /^Error: 3/, Buffer.alloc(seed.length, 7));
      refused({ ...sealedKey, enc: flipped(sealedKey.enc, 0) }, /^Error: 4/);
      refused({ ...sealedKey, ciphertext: flipped(sealedKey.ciphertext, 0) }, /^Error: 4/);
      for (const change of [{ security_level: 128 }, { key_id: 'phm_1' }, { service: null }]) {
        refused(withHeader(sealedKey, change), /^Error: 4/);
      }
    });
  }

  it('opens the copies for several recipients, and those of a delivery', () => {
    for (const { content, recipients, copies } of SEVERAL) {
      for (const { recipient_key, sealed_key, sealed_digest } of copies) {
        const opened = openByThePage(
          sealed_key,
          Buffer.from(recipient_key.private_key, 'base64url'),
        );
        assert.equal(opened.key.toString('hex'), content.key);
        assert.deepEqual(opened.recipients, recipients);
        assert.equal(opened.sealedDigest, sealed_digest);
      }
    }
  });

  it('refuses copies whose headers name other recipients', () => {
    const [{ recipient_key, sealed_key }] = SEVERAL[0].copies;
    const seed = Buffer.from(recipient_key.private_key, 'base64url');
    const [own, other] = SEVERAL[0].recipients;
    const third = Buffer.alloc(32).toString('base64');
    for (const [change, step] of [
      [{ recipients: [own] }, /^Error: 2/],
      [{ recipients: [own, own] }, /^Error: 2/],
      [{ recipients: [other, third] }, /^Error: 2/],
      [{ delivery: {} }, /^Error: 2/],
      [{ recipients: [other, own] }, /^Error: 4/],
      [{ recipients: [own, third] }, /^Error: 4/],
    ] as const) {
      assert.throws(() => openByThePage(withHeader(sealed_key, change), seed), step);
    }
  });

  it('refuses another key than the one that the header commits to', async () => {
    const { sealedKey, seed } = await sealed('MLKEM768-X25519', { key: new Uint8Array(32) });
    assert.throws(() => openByThePage(sealedKey, seed), /^Error: 6/);
  });
});

describe('"Check the receipt" of docs/sealing.md', () => {
  for (const { recipient_key, answer, key } of SERVED.sealed) {
    const seed = Buffer.from(recipient_key.private_key, 'base64url');

    it(`shows that the service sealed this key to this recipient, with ${recipient_key.suite}`, () => {
      const opened = openByThePage(answer.sealed_key, seed);
      assert.equal(opened.key.toString('hex'), key);
      const { receipt } = answer;
      verifyByThePage({ receipt, policy: SERVED.policy, ...opened });
      const { statement } = receipt;
      assert.ok(isOfByThePage(statement, opened));
      for (const name of ['sealed_to', 'sealed_digest', 'time', 'key_commitment']) {
        assert.ok(!isOfByThePage({ ...statement, [name]: '' }, opened), name);
      }
    });
  }

  it('shows it to each of several recipients, and only if recipients and delivery are the same', () => {
    for (const { recipients, delivery, copies } of SEVERAL) {
      const all = copies.map(({ recipient_key, sealed_key }: Json) =>
        openByThePage(sealed_key, Buffer.from(recipient_key.private_key, 'base64url')),
      );
      const sealed = recipients.map((to: string, i: number) => ({
        to,
        digest: copies[i].sealed_digest,
      }));
      for (const opened of all) {
        const { type: _, ...facts } = opened.header;
        const statement = { ...facts, type: 'phm-key-receipt/v2', sealed, delivery };
        assert.ok(isOfByThePage(statement, opened));
        const other = { to: Buffer.alloc(32).toString('base64'), digest: sealed[0].digest };
        for (const change of [
          { sealed: [...sealed, other] },
          { sealed: sealed.map(({ to }: Json) => ({ to, digest: '' })) },
          { delivery: { context: null, id: '00000000-0000-0000-0000-000000000002' } },
        ]) {
          assert.ok(!isOfByThePage({ ...statement, ...change }, opened));
        }
      }
    }
  });
});

describe('docs/sealing.md', () => {
  it('gives the numbers and lengths of every suite', () => {
    for (const suite of SEAL_SUITES) {
      const row =
        PAGE.text.split('\n').find((line) => line.startsWith(`| \`${suite.name}\``)) ?? '';
      const hex = suite.kemId.toString(16).padStart(4, '0');
      for (const words of [
        `${suite.kemId} (0x${hex})`,
        `| ${suite.kdfId}, `,
        `| ${suite.aeadId}, `,
        `${suite.publicKeyBytes.toLocaleString('en')} bytes`,
        `${suite.privateKeyBytes} bytes`,
        `${suite.encBytes.toLocaleString('en')} bytes |`,
      ]) {
        assert.ok(row.includes(words), `${suite.name}: no "${words}" in ${row}`);
      }
    }
  });

  it('shows a sealed key that a server answered, with its header', () => {
    const { sealed_key } = SERVED.sealed[0].answer;
    const samples = codeBlocks(PAGE).filter(({ language }) => language === 'json');
    const [shown, header] = samples.map(({ code }) => code);
    const members = Object.entries<Json>(JSON.parse(shown ?? ''));
    assert.deepEqual(
      members.map(([name]) => name),
      Object.keys(sealed_key),
    );
    for (const [name, value] of members) {
      const [start, end = ''] = String(value).split('…');
      const whole = String(sealed_key[name]);
      assert.ok(whole.startsWith(start ?? '') && whole.endsWith(end), name);
    }
    assert.equal(header?.trim(), Buffer.from(sealed_key.header, 'base64url').toString());
  });
});
