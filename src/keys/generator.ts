/**
 * One generator: entropy sources and the DRBG that they seed. Each worker thread has its own.
 *
 * It fails closed. A defect that fresh entropy cannot cure latches the process: every later request to any
 * generator is `entropy_unavailable` until an operator restarts the process.
 */
import { randomBytes } from 'node:crypto';
import { mostCommonValueMinEntropy } from '#sp800-90b/health';
import { concatBytes, countOnes, newBytes, wipe } from '../bytes.ts';
import { CtrDrbg, drbgSelfTest, SECURITY_STRENGTH_BITS } from '../drbg/index.ts';
import {
  type EntropySource,
  gatherSeed,
  isBackground,
  OS_STRENGTH_BITS,
  openSource,
  type Pool,
  PooledSource,
  type SeedCredit,
  type SourceCredit,
  type SourceName,
  type SourceStatus,
} from '../entropy/index.ts';
import { AppError } from '../errors.ts';
import { modulationSelfTest } from '../modulation/index.ts';
import { AccumulatedEvidence } from './accumulated-evidence.ts';
import type { SampleVerdict } from './evidence-suite.ts';
import { FailureTally } from './failure-tally.ts';
import {
  accumulatedDefect,
  type Defect,
  describeDefect,
  type EvidenceWarning,
  failedVerdict,
  type Judged,
  Latch,
  tallyDefect,
} from './latch.ts';
import { RecentWords } from './recent-words.ts';
import { SAMPLE_BITS, SAMPLE_BYTES, sampleOfKeys, sampleStreamInto } from './sample.ts';
import { type BitGenerator, SeededDrbg } from './seeded-drbg.ts';
import type { SelfTestResult } from './suite-self-test.ts';

/** Reseeds after which a sample of a suite worker's generator is due. */
const SAMPLE_INTERVAL = 4_096;

/**
 * Lowest min-entropy per bit that a screened sample may have. A sound sample falls below it with a
 * probability under 2^-90, at a bias of 11 standard deviations.
 */
const MIN_SCREEN = 0.98;

/** `Retry-After` in seconds while no key can be generated. */
const RETRY_AFTER_SECONDS = 5;

/** Returns the error of a generator that generates no keys. `reason` is for the log only. */
export function entropyUnavailable(reason: string): AppError {
  return new AppError('entropy_unavailable', {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
    cause: new Error(reason),
  });
}

/** Returns the error of every request for a key after a latch. */
export function latchedError(defect: Defect): AppError {
  return entropyUnavailable(`key generation has stopped: ${describeDefect(defect)}`);
}

export interface GeneratorStatus {
  /** Reseeds of its DRBG since startup. */
  readonly reseeds: number;
  readonly sources: readonly SourceStatus[];
}

/** The sources of one generator, without `os`, which is part of every reseed. */
export interface GeneratorSources {
  /** Sources that a reseed may name. */
  readonly names: readonly SourceName[];
  /** Sources that are mixed into every reseed while they deliver. */
  readonly mix: readonly SourceName[];
  /** Pools of background sources. */
  readonly pools: readonly Pool[];
}

/** Entropy credited to a reseed, the sources that were drawn, and the hardware job behind it, if any. */
export interface Credit extends SeedCredit {
  readonly sources: readonly SourceCredit[];
  readonly jobId: string | null;
}

/**
 * A sample of a stream, and the credit of the reseed that its key follows. The next sample takes the same memory: between the
 * draw and the wipe nothing may wait, and nothing may transfer it.
 */
interface StreamSample {
  readonly sample: Buffer;
  readonly credit: Credit;
}

/** What a thread adds to its generator. */
interface GeneratorAdditions extends Pick<GeneratorParts, 'onWarning'> {
  /** Further known-answer tests. */
  readonly knownAnswers?: () => readonly SelfTestResult[];
}

export interface GeneratorParts {
  readonly os: EntropySource;
  /** Sources that a reseed may name. */
  readonly extras: ReadonlyMap<SourceName, EntropySource>;
  /** Extras that are mixed into every reseed. */
  readonly mix: readonly EntropySource[];
  readonly drbg: BitGenerator;
  /** Security strength the DRBG was instantiated with, in bits (SP 800-90A §8.4). */
  readonly strengthBits: number;
  /** 16 random bytes. */
  readonly instanceId: Buffer;
  /** Runs the known-answer tests of DRBG and modulation, and of the suite in threads that use it. */
  readonly knownAnswers: () => readonly SelfTestResult[];
  /** Called for each failure of the gate, and when samples begin to add up to a defect, for the log. */
  readonly onWarning?: (warning: EvidenceWarning) => void;
  /** Shared by all generators of the process. */
  readonly latch: Latch;
}

export class Generator {
  readonly #os: EntropySource;
  readonly #extras: ReadonlyMap<SourceName, EntropySource>;
  readonly #mix: readonly EntropySource[];
  readonly #drbg: SeededDrbg;
  /** Security strength of the DRBG in bits: no key is stronger. */
  readonly strengthBits: number;
  readonly #knownAnswers: GeneratorParts['knownAnswers'];
  readonly #latch: Latch;
  readonly #onWarning: GeneratorParts['onWarning'];
  /** Failures of this generator: passes of other generators must not make it forget them. */
  readonly #tally = new FailureTally();
  readonly #accumulated = new AccumulatedEvidence();
  /** Null before the first key. */
  #words: { readonly ofKeys: RecentWords; readonly ofCarriers: RecentWords } | null = null;
  /**
   * Memory of the samples of streams, from the first on. New memory for each made V8 look for garbage in the whole heap every
   * second.
   */
  #streamSample: Buffer | null = null;
  #reseedsSinceScreen = 0;
  #screen = 0;

  constructor(parts: GeneratorParts) {
    this.#os = parts.os;
    this.#extras = parts.extras;
    this.#mix = parts.mix;
    this.#drbg = new SeededDrbg(parts.drbg, parts.instanceId);
    this.strengthBits = parts.strengthBits;
    this.#knownAnswers = parts.knownAnswers;
    this.#latch = parts.latch;
    this.#onWarning = parts.onWarning;
    // An idle generator must also drop its state when another thread latches.
    void this.#latch.whenSet().then(() => this.#drbg.destroy());
  }

  /**
   * Opens the sources, instantiates the DRBG (SP 800-90A §10.2.1.3.2) and screens a first sample.
   * Throws `AppError('entropy_unavailable')` if a source cannot deliver. A generator outside the service has
   * a latch of its own.
   */
  static start(
    { names, mix, pools }: GeneratorSources,
    latch = Latch.forThreads(1),
    { knownAnswers, onWarning }: GeneratorAdditions = {},
  ): Generator {
    const os = openSource('os');
    const extras = new Map<SourceName, EntropySource>();
    for (const name of new Set([...names, ...mix])) {
      if (name !== 'os') extras.set(name, openExtra(name, pools));
    }
    const mixed = [...extras.values()].filter(({ name }) => mix.includes(name));
    const instanceId = concatBytes(randomBytes(16));
    const generator = new Generator({
      os,
      extras,
      mix: mixed,
      ...instantiate(os, instanceId),
      instanceId,
      knownAnswers: () => [...drbgSelfTest(), ...modulationSelfTest(), ...(knownAnswers?.() ?? [])],
      latch,
      ...(onWarning && { onWarning }),
    });
    generator.takeScreen();
    return generator;
  }

  /** Min-entropy per bit of the last screened sample (SP 800-90B §6.3.1). It only screens for defects. */
  get screen(): number {
    return this.#screen;
  }

  /** Reason why no generator of this process generates keys any more; null while in service. */
  get latched(): Defect | null {
    return this.#latch.read();
  }

  /**
   * Reseeds with entropy drawn now (SP 800-90A §10.2.1.4.2): always from the operating system, also from the
   * named source, and from those sources of the mix that deliver. The additional input distinguishes
   * processes, threads and restored copies even if their entropy were the same. Throws `RangeError` if the
   * source is not open, `AppError('entropy_unavailable')` if a required source fails or after a latch.
   */
  reseed(source: SourceName): Credit {
    const named = this.#extras.get(source);
    if (source !== 'os' && !named) {
      throw new RangeError(`"source" expected one of the opened sources, got ${source}`);
    }
    const mixed = this.#mix.filter(({ name }) => name !== source);
    this.#reseedsSinceScreen += 1;
    return this.#mixIn(named ? [named] : [], mixed);
  }

  /** Returns the output of one DRBG request, in separate memory. The caller MUST wipe it. */
  request(lengthBytes: number): Buffer {
    this.#refuseWhenLatched();
    return this.#drbg.generate(lengthBytes);
  }

  /**
   * Returns `SAMPLE_BITS` bits of a stream for keys of `keyBytes`, drawn in segments after a reseed each. Only the last
   * reseed, which is that of the key, draws from `source` and from the mix, so that a sample does not empty their pools.
   * Throws like `reseed`. The caller MUST wipe the sample, whose memory the next call uses again.
   */
  requestSample(keyBytes: number, source: SourceName): StreamSample {
    let credit: Credit | undefined;
    this.#streamSample ??= newBytes(SAMPLE_BYTES);
    const sample = this.#streamSample;
    sampleStreamInto(sample, this, keyBytes, (segment) => {
      credit = segment === 'last' ? this.reseed(source) : this.#mixIn([], []);
    });
    if (credit) return { sample, credit };
    wipe(sample);
    throw new Error('a sample was drawn without a reseed');
  }

  /**
   * Reports whether a word of a new key repeats one of this generator's last keys, or a word of its carrier one of their
   * carriers, and remembers all of them. `phase` and `amplitude` hide the repetition in one of the two.
   */
  repeatsWord(key: Uint8Array, carrier: Uint8Array): boolean {
    this.#words ??= { ofKeys: new RecentWords(), ofCarriers: new RecentWords() };
    const { ofKeys, ofCarriers } = this.#words;
    return [ofKeys.sees(key), ofCarriers.sees(carrier)].includes(true);
  }

  /** Draws from failed sources again, so that a recovered one is noticed. */
  probe(): void {
    for (const source of [this.#os, ...this.#extras.values()]) source.probe();
  }

  /** Ends generation in the whole process until restart. */
  latch(defect: Defect): void {
    this.#latch.set(defect);
    this.#drbg.destroy();
  }

  /**
   * Counts a verdict of the gate on this generator's output, and adds the sample to those before it. The process latches on
   * the third failure within about 1,000 verdicts, of this generator or of all generators, and if the samples of this
   * generator add up to a defect.
   */
  judged({ gate, counts }: SampleVerdict, judged: Judged): void {
    const passed = gate.verdict === 'PASS';
    const full = [this.#tally, this.#latch.tally].map((tally) => tally.count(passed));
    const added = this.#accumulated.add(counts);
    if (full.includes(true)) this.latch(tallyDefect(gate, judged));
    for (const one of added) if (one.isDefect) this.latch(accumulatedDefect(one));
    // Last: what fails here changes no count.
    if (!passed) this.#onWarning?.({ failedVerdict: failedVerdict(gate, judged) });
    for (const accumulated of added) if (!accumulated.isDefect) this.#onWarning?.({ accumulated });
  }

  status(): GeneratorStatus {
    const sources = [this.#os, ...this.#extras.values()].map((source) => source.status());
    return { reseeds: this.#drbg.reseeds, sources };
  }

  close(): void {
    this.#drbg.destroy();
    for (const source of [this.#os, ...this.#extras.values()]) source.close();
  }

  /**
   * Runs the known-answer tests of DRBG (SP 800-90A §11.3) and modulation, and screens a sample that begins with
   * the bits of 96 keys, drawn like plain keys. A failed test or a plainly biased sample latches the process.
   * Returns the sample, or null after a latch. The caller MUST wipe the sample.
   */
  takeSample(): Buffer<ArrayBuffer> | null {
    const failed = this.#knownAnswers().filter(({ passed }) => !passed);
    if (failed.length > 0) {
      const names = failed.map(({ name }) => name);
      this.latch({ cause: 'self_test', test: names[0], detail: `failed: ${names.join(', ')}` });
    }
    if (this.latched) return null;
    const sample = this.#sampleUnlessLatched();
    if (!sample) return null;
    this.#screen = mostCommonValueMinEntropy(countOnes(sample), SAMPLE_BITS);
    // Reset only after the draw, so that a failed draw is tried again.
    this.#reseedsSinceScreen = 0;
    if (this.#screen >= MIN_SCREEN) return sample;
    wipe(sample);
    this.latch({ cause: 'screen', test: 'min_entropy', detail: 'a screened sample is biased' });
    return null;
  }

  /** Runs `takeSample` and wipes the sample. */
  takeScreen(): void {
    const sample = this.takeSample();
    if (sample) wipe(sample);
  }

  /** True after 4,096 reseeds since the last sample. A suite worker then takes one between keys. */
  get isSampleDue(): boolean {
    return this.#reseedsSinceScreen >= SAMPLE_INTERVAL;
  }

  /** Returns null if another thread latches while the sample is being drawn. */
  #sampleUnlessLatched(): Buffer<ArrayBuffer> | null {
    try {
      return sampleOfKeys(this, () => this.#mixIn([], []));
    } catch (error) {
      if (this.latched) return null;
      throw error;
    }
  }

  #mixIn(required: readonly EntropySource[], optional: readonly EntropySource[]): Credit {
    this.#refuseWhenLatched();
    const seed = gatherSeed(this.#os, required, optional);
    this.#drbg.reseed(seed);
    return { ...seed.credit, sources: seed.sources, jobId: seed.jobId };
  }

  #refuseWhenLatched(): void {
    const { latched } = this;
    if (!latched) return;
    this.#drbg.destroy();
    throw latchedError(latched);
  }
}

/**
 * Instantiates the DRBG (SP 800-90A §10.2.1.3.2) from two draws of the system source. Its strength is the lower
 * of the mechanism's and the source's. Credits do not affect it.
 */
function instantiate(
  os: EntropySource,
  personalization: Buffer,
): Pick<GeneratorParts, 'drbg' | 'strengthBits'> {
  const seed = gatherSeed(os, []);
  const nonce = newBytes(16);
  try {
    const draw = os.draw();
    // §8.6.7: a nonce of at least half the security strength, here fresh random bits.
    nonce.set(draw.bytes.subarray(0, 16));
    wipe(draw.bytes);
    const drbg = CtrDrbg.instantiate({ entropyInput: seed.entropyInput, nonce, personalization });
    return { drbg, strengthBits: Math.min(SECURITY_STRENGTH_BITS, OS_STRENGTH_BITS) };
  } finally {
    wipe(seed.entropyInput, nonce);
  }
}

function openExtra(name: Exclude<SourceName, 'os'>, pools: readonly Pool[]): EntropySource {
  if (!isBackground(name)) return openSource(name);
  const pool = pools.find((one) => one.name === name);
  if (!pool) throw new TypeError(`"pools" expected the pool of ${name}`);
  return new PooledSource(pool);
}
