/**
 * Self-test of sealing, at startup and on demand (FIPS 140-3 IG 10.3.A asks for one before a mechanism is used). Published vectors pin the
 * mechanisms in the tests; this shows that they work on this machine. The Web Crypto API opens what `node:crypto` sealed.
 */
import {
  isUnsupported,
  type Kems,
  newRecipient,
  open,
  type Primitives,
  SEAL_SUITES,
  Sealer,
  type SealSuite,
} from '#sealing';
import { encodeBase64 } from '#tlog';
import { NODE_PRIMITIVES } from './hpke-node.ts';
import { keyCommitment } from './key-receipt.ts';
import type { SelfTestResult } from './suite-self-test.ts';

const KEY_ID = 'phm_1';
const CONTENT = {
  key: Buffer.alloc(32, 1),
  opening: Buffer.alloc(32, 2),
  hashProof: 'self-test',
} as const;
const HEADER = {
  service: null,
  key_id: KEY_ID,
  security_level: 256,
  time: '2026-01-01T00:00:00.000+00:00',
  key_commitment: encodeBase64(keyCommitment(CONTENT.opening, KEY_ID, CONTENT.key)),
} as const;

interface SealTestResult extends SelfTestResult {
  /** Why it failed; undefined if it did not. */
  readonly error: unknown;
}

/**
 * Tests, in each suite, that what is sealed to a new recipient, alone and among others, opens again, and that two encapsulations
 * differ: a repeated one means that the platform lacks randomness. A suite that the platform lacks is skipped.
 */
export async function sealSelfTest(
  primitives = NODE_PRIMITIVES,
  kems?: Kems,
): Promise<SealTestResult[]> {
  const results: SealTestResult[] = [];
  for (const { name: suite } of SEAL_SUITES) {
    const name = `sealing with ${suite}`;
    try {
      await requireSealed(suite, primitives, kems);
      results.push({ name, passed: true, skipped: false, error: undefined });
    } catch (error) {
      const skipped = isUnsupported(error);
      results.push({ name, passed: false, skipped, error: skipped ? undefined : error });
    }
  }
  return results;
}

async function requireSealed(suite: SealSuite['name'], primitives: Primitives, kems?: Kems) {
  const recipientKey = await newRecipient(suite, kems);
  const sealer = await Sealer.to(recipientKey, primitives);
  const encs = new Set<string>();
  const recipients = [encodeBase64(sealer.thumbprint), encodeBase64(new Uint8Array(32))];
  for (const copies of [undefined, { recipients, delivery: null }]) {
    const { sealedKey } = await sealer.seal({ ...CONTENT, header: HEADER, copies });
    const { key } = await open({ sealedKey, recipientKey }, kems);
    if (Buffer.compare(key, CONTENT.key) !== 0) throw new Error('another key came out');
    encs.add(sealedKey.enc);
  }
  if (encs.size < 2) throw new Error('an encapsulation was repeated');
}

/** Rejects if a suite fails its test. */
export async function requireSealSelfTest(
  primitives = NODE_PRIMITIVES,
  kems?: Kems,
): Promise<void> {
  const failed = (await sealSelfTest(primitives, kems)).find(
    ({ passed, skipped }) => !passed && !skipped,
  );
  if (failed === undefined) return;
  const { name, error } = failed;
  const reason = error instanceof Error ? error.message : String(error);
  throw new Error(`self-test failed: ${name}: ${reason}`, { cause: error });
}
