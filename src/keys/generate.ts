/**
 * The generation path, as one reads it:
 *
 *   entropy source → health tests → DRBG → statistical evidence → modulation → proof
 *
 * and then the ledger (`service/threads/key-worker.ts`) and the response (`http/`). The suite tests a sample;
 * four quick tests look at it again after modulation. `docs/architecture.md` follows a request through it.
 */
import { concatBytes, wipe } from '../bytes.ts';
import { monotonicMs } from '../clock.ts';
import { creditOfKey } from '../entropy/index.ts';
import type { AppError } from '../errors.ts';
import { type ModulationType, Modulator, PHASES_BYTES } from '../modulation/index.ts';
import type { Keyring } from '../proof/index.ts';
import { entropyCheck, REPEATED_BLOCK, repeatsBlock } from './entropy-check.ts';
import { gatherEvidence, type StreamEvidence } from './evidence.ts';
import { type Credit, type Generator, latchedError } from './generator.ts';
import { type Defect, gateDefect } from './latch.ts';
import type {
  Evidence,
  GeneratedKey,
  KeyOrder,
  SecurityLevel,
  StreamReport,
  StreamTally,
} from './order.ts';
import { SAMPLE_BITS } from './sample.ts';

const SAMPLE_WORDS = SAMPLE_BITS / 64;

/** A 384-bit key is cut in two halves, each after its own reseed: the DRBG's strength is 256 bits. */
const HALF_BITS = 192;

/** Level of the keys whose streams are assessed from outside. */
const SAMPLED_LEVEL = 256;

/** Streams tried before the process latches: the first failure of the gate may be chance. */
const MAX_STREAMS = 2;

/** A key as it was cut. */
interface CutKey {
  readonly key: Buffer;
  readonly creditBits: number;
  /** The hardware job that fed it; two of them joined by a comma when its halves had different ones. */
  readonly jobId: string | null;
}

/** What a key is cut from, before its modulation. */
type KeyCarrier = Omit<CutKey, 'key'> & { readonly carrier: Buffer };

/** A freshly seeded stream whose key words come next. */
interface Stream {
  readonly modulator: Modulator;
  readonly credit: Credit;
  /** Index t of the next word. */
  readonly nextWord: number;
  /** Min-entropy a bit by which the claim is scaled. */
  readonly screen: number;
  readonly evidence: Evidence | null;
  readonly report: StreamReport | null;
}

/**
 * Makes one key and its proof. Throws `AppError('entropy_unavailable')` when a source fails, when
 * two streams in a row fail the gate, or when the generator is latched. `tally` counts the streams
 * that were judged, also when it throws.
 */
export function generateKey(
  generator: Generator,
  keyring: Keyring,
  order: KeyOrder,
  tally: StreamTally,
): GeneratedKey {
  const stream = order.withEvidence
    ? openStreamWithEvidence(generator, order, tally)
    : openStream(generator, order);
  const { key, creditBits, jobId } = cutKey(generator, order, stream);
  return {
    key,
    securityStrengthBits: Math.min(order.securityLevel, generator.strengthBits),
    entropyBits: roundDown(stream.screen * creditBits),
    entropyJobId: jobId,
    evidence: stream.evidence,
    report: stream.report,
    hashProof: keyring.makeProof(key),
    commitment: keyring.commit(key),
    latencyMs: monotonicMs() - order.acceptedMs,
  };
}

/**
 * The first 2^20 bits of a stream of its own, for assessment from outside: with `none` those that the
 * suite judges. No key is cut from that stream. The caller MUST wipe them.
 */
export function sampleStream(generator: Generator, modulation: ModulationType): Buffer {
  const { modulator } = openStream(generator, { modulation, source: 'os' });
  let carrier: Buffer | undefined;
  try {
    carrier = generator.requestSample(requestBytes(SAMPLED_LEVEL));
    return modulator.modulate(carrier, 0);
  } finally {
    if (carrier) wipe(carrier);
    modulator.destroy();
  }
}

/** Entropy source → health tests → DRBG → phases of the modulation. */
function openStream(generator: Generator, order: Pick<KeyOrder, 'modulation' | 'source'>): Stream {
  const credit = generator.reseed(order.source);
  const phases = generator.request(PHASES_BYTES);
  const modulator = new Modulator(order.modulation, phases);
  wipe(phases);
  const { screen } = generator;
  return { modulator, credit, nextWord: 0, screen, evidence: null, report: null };
}

/**
 * The same, and the stream's first 2^20 bits through the statistical suite before they are modulated.
 * The sample is not the key: a failing stream is dropped whole, and two in a row latch the process. Each verdict counts at
 * once, so that a failure is not forgotten when no second stream can be drawn.
 */
function openStreamWithEvidence(generator: Generator, order: KeyOrder, tally: StreamTally): Stream {
  for (let attempt = 1; ; attempt++) {
    const stream = openStream(generator, order);
    let passed = false;
    try {
      const found = testSample(generator, stream, order);
      const { summary: evidence, screen, carrier, modulated, gate } = found;
      passed = found.passed;
      tally.streams += 1;
      generator.judged(gate, 'streams of validated keys');
      if (!passed) {
        if (attempt < MAX_STREAMS) continue;
        throw latched(generator, gateDefect(gate, 'streams of validated keys'));
      }
      tally.streamsPassed += 1;
      const streamsJudged = attempt;
      const report = order.report ? { carrier, modulated, gate, streamsJudged } : null;
      return { ...stream, nextWord: SAMPLE_WORDS, screen, evidence, report };
    } finally {
      if (!passed) stream.modulator.destroy();
    }
  }
}

/** Gathers evidence on the stream's first 2^20 bits, which are wiped whatever happens. */
function testSample(
  generator: Generator,
  { modulator }: Stream,
  { modulation, securityLevel }: KeyOrder,
): StreamEvidence {
  const carrier = generator.requestSample(requestBytes(securityLevel));
  let modulated: Buffer | null = null;
  try {
    if (modulation !== 'none') modulated = modulator.modulate(carrier, 0);
    return gatherEvidence(carrier, modulated);
  } finally {
    wipe(carrier, ...(modulated ? [modulated] : []));
  }
}

/**
 * Cuts the key from the stream. No block of its carrier may return. The carrier and the key itself go through
 * six exact binomial tests each, since modulation hides a broken carrier. A sound generator fails with a probability below 2^-49: a
 * defect is likelier, so a failure latches. The stream ends here, also when its generator fails half way.
 */
function cutKey(generator: Generator, order: KeyOrder, stream: Stream): CutKey {
  const { modulator, nextWord, credit } = stream;
  let carrier: Buffer | undefined;
  try {
    const { carrier: drawn, ...cut } = drawCarrier(generator, order, credit);
    carrier = drawn;
    const key = modulator.modulate(carrier, nextWord);
    const test = failedCarrierTest(carrier) ?? failedKeyTest(key);
    if (test) {
      wipe(key);
      const detail = 'a key failed one of the exact tests that every key must pass';
      throw latched(generator, { cause: 'key_test', test, detail });
    }
    return { key, ...cut };
  } finally {
    if (carrier) wipe(carrier);
    modulator.destroy();
  }
}

/** The name of the first exact test that a carrier fails, or of the look at its blocks, which is for carriers alone: modulated ones may return. */
function failedCarrierTest(carrier: Uint8Array): string | undefined {
  return failedKeyTest(carrier) ?? (repeatsBlock(carrier) ? REPEATED_BLOCK : undefined);
}

/** The name of the first exact test that the bytes fail. */
function failedKeyTest(bytes: Uint8Array): string | undefined {
  return entropyCheck(bytes).statistics.find(({ passed }) => !passed)?.name;
}

/** Length of the requests that a key of this level is cut by. */
function requestBytes(level: SecurityLevel): number {
  return (level === 384 ? HALF_BITS : level) / 8;
}

function drawCarrier(generator: Generator, order: KeyOrder, credit: Credit): KeyCarrier {
  const { securityLevel } = order;
  if (securityLevel === 384) return drawHalves(generator, order, credit);
  const carrier = generator.request(requestBytes(securityLevel));
  const creditBits = creditOfKey([{ lengthBits: securityLevel, credit }]);
  return { carrier, creditBits, jobId: credit.jobId };
}

/** Two 192-bit requests, each after its own reseed. */
function drawHalves(generator: Generator, order: KeyOrder, credit: Credit): KeyCarrier {
  const halfBytes = requestBytes(order.securityLevel);
  const first = generator.request(halfBytes);
  let second: Credit;
  let rest: Buffer;
  try {
    second = generator.reseed(order.source);
    rest = generator.request(halfBytes);
  } catch (error) {
    wipe(first);
    throw error;
  }
  const carrier = concatBytes(first, rest);
  wipe(first, rest);
  const jobIds = new Set([credit.jobId, second.jobId].filter((id) => id !== null));
  return {
    carrier,
    creditBits: creditOfKey([
      { lengthBits: HALF_BITS, credit },
      { lengthBits: HALF_BITS, credit: second },
    ]),
    jobId: jobIds.size > 0 ? [...jobIds].join(',') : null,
  };
}

/** Latches the process and gives the error that the request is answered with. */
function latched(generator: Generator, defect: Defect): AppError {
  generator.latch(defect);
  return latchedError(defect);
}

/** Two decimals, never rounded up: a claim is not improved by its printing. */
function roundDown(bits: number): number {
  return Math.floor(bits * 100) / 100;
}
