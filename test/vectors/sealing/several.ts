/**
 * Makes several.json: sealed copies of keys for several recipients, and one for a delivery, which Go's crypto/hpke seals
 * (test/interop/sealing). Needs Go.
 *
 * Run: npx node test/vectors/sealing/several.ts > test/vectors/sealing/several.json
 */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { formatRecipientKey, newRecipient, type RecipientKey, type SealSuiteName } from '#sealing';
import { contentOf } from '../../sealing/order.ts';
import { buildGo, run, SEALING } from '../../support/programs/go.ts';
import { makeDataDir, removeDataDir } from '../../support/servers/server.ts';

const MIXED: readonly SealSuiteName[] = ['MLKEM768-X25519', 'ML-KEM-1024'];

const GROUPS = [
  { suites: MIXED, bits: 256, delivery: null },
  { suites: [...MIXED, ...MIXED, ...MIXED, ...MIXED], bits: 384, delivery: null },
  {
    suites: MIXED.slice(0, 1),
    bits: 128,
    delivery: { context: null, id: '00000000-0000-0000-0000-000000000001' },
  },
  {
    suites: MIXED.toReversed(),
    bits: 256,
    delivery: {
      context: Buffer.alloc(32, 0xc0).toString('base64'),
      id: '6f1c2f0e-7a55-4c7e-9d1b-0a3a5e2d4f60',
    },
  },
] as const;

const sha256 = (...parts: Uint8Array[]) =>
  createHash('sha256').update(Buffer.concat(parts)).digest('base64');

const parsed = (recipient: RecipientKey) => JSON.parse(formatRecipientKey(recipient));

const folder = makeDataDir();
try {
  const skip = await buildGo(folder, ['.'], SEALING);
  if (skip !== undefined) throw new Error(skip);
  const vectors = [];
  for (const { suites, bits, delivery } of GROUPS) {
    const { key, opening, hashProof, header } = contentOf(bits);
    const keys = await Promise.all(suites.map((suite) => newRecipient(suite)));
    const recipients = keys.map(({ publicKey }) => sha256(publicKey));
    const content = {
      hash_proof: hashProof,
      key: Buffer.from(key).toString('hex'),
      opening: Buffer.from(opening).toString('base64'),
    };
    const lines = keys.map((recipient) => {
      const { private_key: _, ...file } = parsed(recipient);
      const to = { ...file, type: 'phm-recipient/v1' };
      return JSON.stringify({ recipient: to, header: { ...header, recipients, delivery }, content });
    });
    const { code, output } = await run(join(folder, 'sealing'), ['seal'], {
      input: lines.join('\n'),
    });
    if (code !== 0) throw new Error(output);
    const sealed = output.trimEnd().split('\n').map((line) => JSON.parse(line));
    vectors.push({
      content,
      recipients,
      delivery,
      copies: sealed.map((sealed_key, i) => ({
        recipient_key: parsed(keys[i] as RecipientKey),
        sealed_key,
        sealed_digest: sha256(
          Buffer.from(sealed_key.enc, 'base64url'),
          Buffer.from(sealed_key.ciphertext, 'base64url'),
        ),
      })),
    });
  }
  process.stdout.write(`${JSON.stringify(vectors, null, 2)}\n`);
} finally {
  removeDataDir(folder);
}
