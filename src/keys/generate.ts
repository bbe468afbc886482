/**
 * The path of a key, in the order of its stages:
 *
 *   entropy source → health tests → DRBG → statistical evidence → modulation → proof → inverse (→ seal)
 *
 * `seal.ts` seals a key that is for a recipient, in the same thread (`service/threads/suite-keys.ts`). The ledger
 * (`service/threads/key-worker.ts`) and the response (`http/`) follow. The suite judges a sample, and four quick tests
 * judge it again after modulation. `docs/architecture.md` follows a request.
 */
import { timingSafeEqual } from 'node:crypto';
import { concatBytes, newBytes, wipe } from '../bytes.ts';
import { monotonicMs } from '../clock.ts';
import { creditOfKey, type SourceCredit, sourcesOfKey } from '../entropy/index.ts';
import type { AppError } from '../errors.ts';
import { type ModulationType, Modulator, PHASES_BYTES } from '../modulation/index.ts';
import type { Keyring } from '../proof/index.ts';
import { alteredKey } from './altered-key.ts';
import { answerDigest } from './answer-digest.ts';
import { failedKeyTest, REPEATED_BLOCK, repeatsBlock } from './entropy-check.ts';
import { gatherEvidence, type StreamEvidence } from './evidence.ts';
import { FailuresInARow } from './failures-in-a-row.ts';
import { type Credit, type Generator, latchedError } from './generator.ts';
import { formatKeyId, newKeyId } from './key-id.ts';
import { commitToKey, wipeKey } from './key-receipt.ts';
import { type Defect, gateDefect } from './latch.ts';
import type {
  Evidence,
  GeneratedKey,
  KeyOrder,
  SecurityLevel,
  StreamReport,
  StreamTally,
} from './order.ts';
import { REPEATED_WORD } from './recent-words.ts';
import { SAMPLE_BYTES } from './sample.ts';

const SAMPLE_WORDS = SAMPLE_BYTES / 8;

const MAX_KEY_BYTES = 48;

/** A 384-bit key has two halves, each after its own reseed, because the DRBG's strength is 256 bits. */
const HALF_BITS = 192;

/** Security level that `sampleStream` assumes for the length of its requests. */
const SAMPLED_LEVEL = 256;

/** A key with its credit. Before modulation `key` holds its carrier, the output of the DRBG. */
interface CutKey {
  readonly key: Buffer;
  readonly creditBits: number;
  /** The hardware job behind it; if the halves had different jobs, both, joined by a comma. */
  readonly jobId: string | null;
  /** Draws of each reseed for the key. */
  readonly seeds: readonly (readonly SourceCredit[])[];
}

/** A freshly seeded stream; the words of the key come next. */
interface Stream {
  readonly modulator: Modulator;
  readonly credit: Credit;
  /** Index t of the next word. */
  readonly nextWord: number;
  /** Most-common-value bound per bit, a screen for defects. It scales the credited entropy. */
  readonly screen: number;
  readonly evidence: Evidence | null;
  readonly report: StreamReport | null;
}

/**
 * Generates one key and its proof. Throws `AppError('entropy_unavailable')` if a source fails, if two
 * streams in a row fail the gate, or if the process has latched. `tally` counts judged streams, even if
 * the function throws. With `commits`, the key also gets a commitment and what its receipt needs: for the log, and to be
 * sealed.
 */
export function generateKey(
  generator: Generator,
  keyring: Keyring,
  order: KeyOrder,
  tally: StreamTally,
  commits = false,
): GeneratedKey {
  const stream = order.withEvidence
    ? openStreamWithEvidence(generator, order, tally)
    : openStream(generator, order);
  const { key, creditBits, jobId, seeds } = cutKey(generator, order, stream);
  let opening: Buffer | null = null;
  try {
    const hashProof = keyring.makeProof(key);
    const commitment = keyring.commit(key);
    const otherCommitments = keyring.commitOthers(key);
    const keyId = newKeyId();
    const keyIdText = formatKeyId(keyId);
    const committed = commits
      ? commitToKey(key, keyIdText, sourcesOfKey(seeds), order.receipt)
      : null;
    opening = committed?.opening ?? null;
    const answered = { key, keyId: keyIdText, hashProof, opening };
    const digest = answerDigest(answered, order);
    // After all that is computed from the key: what was altered before or between is found here.
    requireSoundKey(generator, stream, key);
    return {
      keyId,
      keyIdText,
      key,
      opening,
      receipt: committed?.receipt ?? null,
      securityStrengthBits: Math.min(order.securityLevel, generator.strengthBits),
      entropyBits: roundDown(stream.screen * creditBits),
      entropyJobId: jobId,
      evidence: stream.evidence,
      report: stream.report,
      hashProof,
      commitment,
      otherCommitments,
      answerDigest: digest,
      latencyMs: monotonicMs() - order.acceptedMs,
    };
  } catch (error) {
    wipeKey({ key, opening });
    throw error;
  } finally {
    endStream(stream);
  }
}

/**
 * Returns the first 2^20 bits of a separate stream, drawn after nine reseeds, for assessment with other tools. With modulation
 * `none`, these are the bits that the suite judges. No key is cut from this stream. The caller MUST wipe the bits.
 */
export function sampleStream(generator: Generator, modulation: ModulationType): Buffer {
  const { sample } = generator.requestSample(requestBytes(SAMPLED_LEVEL), 'os');
  let modulator: Modulator | undefined;
  try {
    modulator = drawPhases(generator, modulation);
    return modulator.modulate(sample, 0);
  } finally {
    wipe(sample);
    modulator?.destroy();
  }
}

/** Opens a stream: entropy source → health tests → DRBG → phases of the modulation. */
function openStream(generator: Generator, { source, modulation }: KeyOrder): Stream {
  const credit = generator.reseed(source);
  const modulator = drawPhases(generator, modulation);
  const { screen } = generator;
  return { modulator, credit, nextWord: 0, screen, evidence: null, report: null };
}

function drawPhases(generator: Generator, modulation: ModulationType): Modulator {
  return new Modulator(modulation, generator.request(PHASES_BYTES));
}

/**
 * Opens a stream and judges its first 2^20 bits, which are not part of the key: drawn after nine reseeds, of which the
 * last is that of the key. The phases follow, then the key. A failing stream is dropped whole. Two in a row latch the
 * process. The generator counts each verdict at once, so that a failure is not lost if no second stream can be drawn.
 */
function openStreamWithEvidence(generator: Generator, order: KeyOrder, tally: StreamTally): Stream {
  const failures = new FailuresInARow();
  for (;;) {
    const stream = judgedStream(generator, order, tally, failures);
    if (stream) return stream;
  }
}

/** Returns a stream whose sample passed the gate, or null after a first failure. */
function judgedStream(
  generator: Generator,
  order: KeyOrder,
  tally: StreamTally,
  failures: FailuresInARow,
): Stream | null {
  const { sample, credit } = generator.requestSample(
    requestBytes(order.securityLevel),
    order.source,
  );
  let modulator: Modulator | undefined;
  let passed = false;
  try {
    modulator = drawPhases(generator, order.modulation);
    const found = testSample(sample, modulator, order.modulation);
    const { summary: evidence, screen, carrier, modulated, gate } = found;
    tally.streams += 1;
    generator.judged(found, 'streams of validated keys');
    if (!found.passed) {
      if (!failures.add(false)) return null;
      throw latched(generator, gateDefect(gate, 'streams of validated keys'));
    }
    tally.streamsPassed += 1;
    const { definition } = evidence;
    const report = order.report
      ? { carrier, modulated, gate, definition, streamsJudged: failures.count + 1 }
      : null;
    passed = true;
    return { modulator, credit, nextWord: SAMPLE_WORDS, screen, evidence, report };
  } finally {
    wipe(sample);
    if (!passed) modulator?.destroy();
  }
}

/** Memory of the modulated samples of a thread, which generates one key at a time. As for samples, nothing may wait before the wipe. */
let modulatedSample: Buffer | undefined;

/** Gathers evidence on a stream's first 2^20 bits. */
function testSample(
  carrier: Buffer,
  modulator: Modulator,
  modulation: ModulationType,
): StreamEvidence {
  if (modulation === 'none') return gatherEvidence(carrier, null);
  modulatedSample ??= newBytes(SAMPLE_BYTES);
  try {
    modulatedSample.set(carrier);
    modulator.modulateInPlace(modulatedSample, 0);
    return gatherEvidence(carrier, modulatedSample);
  } finally {
    wipe(modulatedSample);
  }
}

/**
 * Cuts the key from the stream, and ends the stream if that fails. No block of the carrier may repeat.
 * Carrier and key each pass six exact binomial tests, because `phase` and `amplitude` hide a broken carrier. A sound
 * generator fails with a probability below 2^-49. A defect is likelier, so a failure latches the process.
 */
function cutKey(generator: Generator, order: KeyOrder, stream: Stream): CutKey {
  let drawn: Buffer | undefined;
  try {
    const cut = drawCarrier(generator, order, stream.credit);
    drawn = cut.key;
    carrierCopy.set(drawn);
    modulateTested(generator, stream.modulator, drawn, stream.nextWord);
    return cut;
  } catch (error) {
    if (drawn) wipe(drawn);
    endStream(stream);
    throw error;
  }
}

/** The carrier of the key that is being generated, until its stream ends. A thread generates one key at a time. */
const carrierCopy: Buffer = newBytes(MAX_KEY_BYTES);

/** The key whose modulation is undone. */
const undone: Buffer = newBytes(MAX_KEY_BYTES);

/** Wipes the phases and the carrier. */
function endStream({ modulator }: Stream): void {
  modulator.destroy();
  wipe(carrierCopy);
}

/**
 * Latches the process unless the key, with its modulation undone, is its carrier (compared in constant time), and no word of
 * key or carrier is one of the last.
 */
function requireSoundKey(generator: Generator, { modulator, nextWord }: Stream, key: Buffer): void {
  const carrier = undone.subarray(0, key.length);
  try {
    carrier.set(key);
    modulator.demodulateInPlace(carrier, nextWord);
    if (!timingSafeEqual(carrier, carrierCopy.subarray(0, key.length))) {
      throw latched(generator, alteredKey('inverse'));
    }
    if (!generator.repeatsWord(key, carrier)) return;
  } finally {
    wipe(carrier);
  }
  const detail = 'a word of a key or its carrier is one of the last of its generator';
  throw latched(generator, { cause: 'repeated_key', test: REPEATED_WORD, detail });
}

/** Replaces a carrier by the key, after the tests of the one and before those of the other. */
function modulateTested(
  generator: Generator,
  modulator: Modulator,
  bytes: Buffer,
  firstWord: number,
): void {
  let test = failedCarrierTest(bytes);
  modulator.modulateInPlace(bytes, firstWord);
  test ??= failedKeyTest(bytes);
  if (!test) return;
  const detail = 'a key failed one of the exact tests that every key must pass';
  throw latched(generator, { cause: 'key_test', test, detail });
}

/**
 * Returns the name of the first test that a carrier fails. Only carriers are searched for repeated blocks, because
 * modulated blocks may repeat.
 */
function failedCarrierTest(carrier: Uint8Array): string | undefined {
  return failedKeyTest(carrier) ?? (repeatsBlock(carrier) ? REPEATED_BLOCK : undefined);
}

/** Length in bytes of the DRBG requests for a key of this level. */
function requestBytes(level: SecurityLevel): number {
  return (level === 384 ? HALF_BITS : level) / 8;
}

/** Draws the carrier of a key. */
function drawCarrier(generator: Generator, order: KeyOrder, credit: Credit): CutKey {
  const { securityLevel } = order;
  if (securityLevel === 384) return drawHalves(generator, order, credit);
  const key = generator.request(requestBytes(securityLevel));
  const creditBits = creditOfKey([{ lengthBits: securityLevel, credit }]);
  return { key, creditBits, jobId: credit.jobId, seeds: [credit.sources] };
}

/** Draws two halves of 192 bits, each after its own reseed. */
function drawHalves(generator: Generator, order: KeyOrder, credit: Credit): CutKey {
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
  const key = concatBytes(first, rest);
  wipe(first, rest);
  const jobIds = new Set([credit.jobId, second.jobId].filter((id) => id !== null));
  return {
    key,
    creditBits: creditOfKey([
      { lengthBits: HALF_BITS, credit },
      { lengthBits: HALF_BITS, credit: second },
    ]),
    jobId: jobIds.size > 0 ? [...jobIds].join(',') : null,
    seeds: [credit.sources, second.sources],
  };
}

/** Latches the process and returns the error for the request. */
function latched(generator: Generator, defect: Defect): AppError {
  generator.latch(defect);
  return latchedError(defect);
}

/** Rounds down to two decimals, so that no credit grows when it is printed. */
function roundDown(bits: number): number {
  return Math.floor(bits * 100) / 100;
}
