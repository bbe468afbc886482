/** Fakes of a generator's parts, for tests that need a defect. */
import { randomBytes } from 'node:crypto';
import { type Gate, LAGS } from '#sp800-22';
import { CtrDrbg } from '../../../src/drbg/index.ts';
import type { EntropySource, SourceName } from '../../../src/entropy/index.ts';
import { type AnsweredKey, answerDigest } from '../../../src/keys/answer-digest.ts';
import type { SampleVerdict } from '../../../src/keys/evidence-suite.ts';
import { Generator, type GeneratorParts } from '../../../src/keys/generator.ts';
import { newKeyId } from '../../../src/keys/key-id.ts';
import { type Defect, Latch } from '../../../src/keys/latch.ts';
import type { KeyOrder, KeyRequest, ReleasedKey } from '../../../src/keys/order.ts';
import { PlainGenerator } from '../../../src/keys/plain-generator.ts';
import type { BitGenerator } from '../../../src/keys/seeded-drbg.ts';
import type { LedgerRow, SecretCheck } from '../../../src/ledger/index.ts';
import { rowOf } from '../../../src/ledger/key-columns.ts';
import { Keyring } from '../../../src/proof/index.ts';
import type { ServiceSources } from '../../../src/service/index.ts';

/** A source that returns fixed bytes and claims the entropy it is given. */
export function fakeSource(
  name: SourceName,
  creditBits: number,
  jobId: string | null = null,
): EntropySource & { draws: number } {
  return {
    name,
    kind: name === 'os' ? 'system' : 'quantum-simulator',
    draws: 0,
    draw() {
      this.draws += 1;
      const isSeparate = name === 'device' || name === 'qrng' || name === 'ibm-quantum';
      return { bytes: Buffer.alloc(48, this.draws), creditBits, isSeparate, jobId };
    },
    status() {
      return {
        name,
        kind: this.kind,
        state: 'delivering',
        healthy: true,
        creditBitsPerDraw: creditBits,
        draws: this.draws,
        failures: 0,
      };
    },
    probe() {},
    close() {},
  };
}

/**
 * Records requests and outputs; `alter` can break the output. Output is the same in every run, and so are the
 * suite's results: the additional input, which contains the time, is left out.
 */
export class RecordingDrbg implements BitGenerator {
  readonly requests: number[] = [];
  readonly outputs: Buffer[] = [];
  readonly copies: Buffer[] = [];
  readonly seeds: Uint8Array[] = [];
  readonly additionalInputs: string[] = [];
  reseeds = 0;
  destroyed = false;
  readonly #drbg = CtrDrbg.instantiate({
    entropyInput: Buffer.alloc(32, 1),
    nonce: Buffer.alloc(16),
  });
  readonly #alter: (output: Buffer, reseeds: number) => void;

  constructor(alter: (output: Buffer, reseeds: number) => void = () => {}) {
    this.#alter = alter;
  }

  reseed(entropyInput: Uint8Array, additionalInput?: Uint8Array): void {
    if (this.destroyed) throw new Error('the generator was destroyed');
    this.reseeds += 1;
    this.seeds.push(entropyInput);
    this.additionalInputs.push(Buffer.from(additionalInput ?? []).toString('hex'));
    this.#drbg.reseed(entropyInput);
  }

  generate(lengthBytes: number): Buffer {
    if (this.destroyed) throw new Error('the generator was destroyed');
    const output = this.#drbg.generate(lengthBytes);
    this.#alter(output, this.reseeds);
    this.requests.push(lengthBytes);
    this.outputs.push(output);
    this.copies.push(Buffer.from(output));
    return output;
  }

  destroy(): void {
    this.destroyed = true;
  }
}

/** A reason to latch. */
export const STAGED: Defect = { cause: 'gate', test: 'rank', detail: 'staged' };

/** Returns the parts of a generator; each one that is not given is sound. */
export function parts(given: Partial<GeneratorParts>): GeneratorParts {
  return {
    os: fakeSource('os', 256),
    extras: new Map(),
    mix: [],
    drbg: new RecordingDrbg(),
    strengthBits: 256,
    instanceId: Buffer.alloc(16, 7),
    knownAnswers: () => [{ name: 'staged', passed: true }],
    latch: Latch.forThreads(2),
    ...given,
  };
}

/** Longest request for a sample: a segment. */
export const SEGMENT_BYTES = 16_384;

/** Requests to a DRBG for a sample between keys, and the number of its reseeds. */
export const SCREEN_RESEEDS = 64 + 8;
export const SCREEN_REQUESTS = [
  ...Array.from({ length: 16 }, () => [64, 16, 32, 24, 64, 32, 16, 24]).flat(),
  ...Array.from({ length: 7 }, () => SEGMENT_BYTES),
  SEGMENT_BYTES - 32 * (16 + 32 + 24),
];

/** Reseeds for the sample of a stream, and the requests for one whose keys are cut by requests of this length. */
export const SAMPLE_RESEEDS = 9;
export const sampleRequests = (keyBytes: number) =>
  Array.from({ length: SAMPLE_RESEEDS }, (_, i) => [
    ...[keyBytes, keyBytes, keyBytes, keyBytes, keyBytes],
    (i < 7 ? SEGMENT_BYTES : SEGMENT_BYTES / 2) - 5 * keyBytes,
  ]).flat();

export function fakeGenerator(drbg: BitGenerator, osCredit = 256, extraCredit = 0): Generator {
  const remote = fakeSource('ibm-quantum', extraCredit, 'job-1');
  const extras = new Map([[remote.name, remote]]);
  const instanceId = Buffer.alloc(16, 7);
  const os = fakeSource('os', osCredit);
  const generator = new Generator(parts({ os, extras, drbg, instanceId }));
  generator.takeScreen();
  return generator;
}

/** A verdict of the suite. */
export function verdict(passed: boolean): Gate {
  const weakest = { report: 0, test: 'rank' } as const;
  return { p: passed ? 0.5 : 0, verdict: passed ? 'PASS' : 'FAIL', tests: 13, weakest };
}

/** A verdict of the suite on a sample with as many ones, and as many pairs that differ, as a sound one has on average. */
export function sampleVerdict(passed: boolean): SampleVerdict {
  const bits = 2 ** 20;
  const differences = LAGS.map((lag) => (bits - lag) / 2);
  return { gate: verdict(passed), counts: { bits, ones: bits / 2, differences } };
}

/** Returns the generator of a key worker whose samples all pass. */
export function fakePlainGenerator(generator: Generator): PlainGenerator {
  return new PlainGenerator(generator, (_, answer) => answer(sampleVerdict(true)));
}

/** Options of a service that uses the operating system's source alone. */
export const OS_ALONE: ServiceSources = {
  names: ['os'],
  default: 'os',
  mix: [],
  settings: {
    jitterCredit: false,
    remoteCredit: false,
    device: null,
    ibmQuantum: null,
    qrng: null,
  },
};

export const keyring = new Keyring([{ version: 1, secret: Buffer.alloc(32, 9) }]);

/** What a ledger has registered of a keyring whose versions are all in use. */
export function ownChecks(ring: Keyring): Map<number, SecretCheck> {
  return new Map(
    ring.versions.map((version) => [
      version,
      { checkValue: ring.checkValue(version), activated: true, retirement: null },
    ]),
  );
}

export function order(changes: Partial<KeyOrder> = {}): KeyOrder {
  return {
    securityLevel: 256,
    modulation: 'phase',
    source: 'os',
    withEvidence: false,
    report: false,
    receipt: false,
    labels: null,
    expiresMs: null,
    acceptedMs: 0,
    ...changes,
  };
}

/** A request for one plaintext key, without `Idempotency-Key`. */
export function keyRequest(
  ordered: Partial<KeyOrder> = {},
  changes: Partial<KeyRequest> = {},
): KeyRequest {
  return {
    order: order(ordered),
    count: 1,
    isBatch: false,
    sealTo: null,
    delivery: null,
    idempotency: null,
    ...changes,
  };
}

/** Options of a request whose client waits. */
export const PRESENT = { abandoned: () => false };

/** A plain key as it leaves the generating thread, which no generator made. */
export function plainKey(changes: Partial<ReleasedKey> = {}): ReleasedKey {
  return {
    keyId: 'phm_1',
    hashProof: 'proof_1',
    securityStrengthBits: 256,
    entropyBits: 256,
    entropyJobId: null,
    evidence: null,
    report: null,
    latencyMs: 1,
    key: Buffer.alloc(32, 7),
    opening: null,
    answerDigest: Buffer.alloc(16, 8),
    ...changes,
  };
}

/** Adds the digest of the answer to an order. */
export function withDigest<Key extends AnsweredKey>(
  key: Key,
  { acceptedMs }: Pick<KeyOrder, 'acceptedMs'>,
): Key & Pick<ReleasedKey, 'answerDigest'> {
  return { ...key, answerDigest: answerDigest(key, { acceptedMs }) };
}

/** A row as the ledger gets it, of a plain key that no generator made, without values that a row may lack. */
export function plainRow(): LedgerRow {
  return {
    ...rowOf(() => null),
    keyId: newKeyId(),
    commitment: keyring.commit(randomBytes(32)),
    securityLevel: 256,
    modulation: 'phase',
    source: 'os',
    createdMs: Date.UTC(2026, 10, 21),
    latencyUs: 1_000,
    entropyBits: 256,
    evidence: null,
    sealed: null,
    receipt: null,
  };
}
