/** Output of the DRBG between two reseeds, counted on every path that draws from it (SP 800-90C §5.2.3). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { newRecipient } from '#sealing';
import { sampleStream } from '../../../src/keys/generate.ts';
import { Generator } from '../../../src/keys/generator.ts';
import { MAX_BITS_PER_RESEED, SeededDrbg } from '../../../src/keys/seeded-drbg.ts';
import { screenLiveCarrier } from '../../../src/keys/self-test.ts';
import { MODULATION_TYPES } from '../../../src/modulation/index.ts';
import type { SuiteJob } from '../../../src/service/suite/messages.ts';
import { SuiteKeys } from '../../../src/service/threads/suite-keys.ts';
import { keyring, order, parts, RecordingDrbg } from '../../support/servers/fakes.ts';

/** Notes the bits after each reseed. */
class CountingDrbg extends RecordingDrbg {
  readonly bits: number[] = [];

  override reseed(entropyInput: Uint8Array, additionalInput?: Uint8Array): void {
    super.reseed(entropyInput, additionalInput);
    this.bits.push(0);
  }

  override generate(lengthBytes: number): Buffer {
    // Nothing is drawn before the first reseed.
    assert.ok(this.bits.length > 0);
    this.bits[this.bits.length - 1] += 8 * lengthBytes;
    return super.generate(lengthBytes);
  }
}

/** Returns the bits after each reseed while `draw` runs. */
async function bitsOf(draw: (generator: Generator) => unknown): Promise<number[]> {
  const drbg = new CountingDrbg();
  await draw(new Generator(parts({ drbg })));
  return drbg.bits;
}

async function runJob(generator: Generator, changes: Partial<SuiteJob>): Promise<void> {
  const keys = new SuiteKeys(generator, keyring, null);
  const requester = { accountId: 'a', apiKeyId: 'k', atMs: 0 };
  const job = { id: 1, requester, order: order(), count: 1, recipients: [], delivery: null };
  const { result } = await keys.run({ ...job, ...changes });
  assert.equal(result.kind, 'made');
}

const LEVELS = [128, 256, 384] as const;

describe('between two reseeds', () => {
  it('a sample between keys takes 2^17 bits at most', async () => {
    const bits = await bitsOf((generator) => generator.takeScreen());
    assert.equal(Math.max(...bits), 2 ** 17);
    const judged = await bitsOf(screenLiveCarrier);
    assert.deepEqual(judged, bits);
  });

  it('a sampled stream takes a segment and the phases', async () => {
    for (const modulation of MODULATION_TYPES) {
      const bits = await bitsOf((generator) => sampleStream(generator, modulation));
      assert.deepEqual(bits, [...Array.from({ length: 7 }, () => 2 ** 17), 2 ** 16, 2 ** 16 + 512]);
    }
  });

  for (const withEvidence of [false, true]) {
    it(`keys ${withEvidence ? 'with evidence' : 'without'} take 2^17 bits at most: one, a batch, sealed, of each level`, async () => {
      const recipients = [await newRecipient()];
      for (const securityLevel of LEVELS) {
        for (const changes of [{}, { count: 3 }, { recipients }, { count: 2, recipients }]) {
          const ordered = { order: order({ securityLevel, withEvidence }), ...changes };
          const bits = await bitsOf((generator) => runJob(generator, ordered));
          assert.ok(bits.every((some) => some > 0));
          assert.ok(Math.max(...bits) <= 2 ** 17, `${Math.max(...bits)}`);
        }
      }
    });
  }
});

describe('a seeded DRBG', () => {
  const seedMaterial = () => ({
    entropyInput: Buffer.alloc(58, 1),
    uncredited: Buffer.alloc(0),
    credit: { osBits: 256, sharedBits: 0, separateBits: 0 },
    sources: [],
    jobId: null,
  });

  it('gives 2^17 bits after a reseed, and not one byte more', () => {
    const recording = new RecordingDrbg();
    const drbg = new SeededDrbg(recording, Buffer.alloc(16));
    for (let reseeds = 1; reseeds <= 2; reseeds++) {
      drbg.reseed(seedMaterial());
      drbg.generate(MAX_BITS_PER_RESEED / 8 - 32);
      assert.throws(() => drbg.generate(33), {
        name: 'RangeError',
        message: '"lengthBytes" expected at most 32 before the next reseed, got 33',
      });
      drbg.generate(32);
      const { length } = recording.requests;
      assert.throws(() => drbg.generate(1), RangeError);
      assert.equal(recording.requests.length, length, 'nothing was asked of the DRBG');
    }
    assert.equal(drbg.reseeds, 2);
  });

  it('has draws without credit behind its own additional input, and wipes all of them', () => {
    const recording = new RecordingDrbg();
    const drbg = new SeededDrbg(recording, Buffer.alloc(16, 9));
    const material = { ...seedMaterial(), uncredited: Buffer.from('b1b2', 'hex') };
    drbg.reseed(material);
    assert.match(recording.additionalInputs[0] ?? '', /^(09){16}[0-9a-f]{64}b1b2$/);
    for (const bytes of [material.entropyInput, material.uncredited]) {
      assert.ok(bytes.every((byte) => byte === 0));
    }
  });
});
