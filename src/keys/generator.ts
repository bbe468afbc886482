/**
 * One generator: entropy sources and the DRBG they seed. Each worker thread has its own.
 *
 * It fails closed. A defect that fresh entropy cannot explain away latches the process: every later request to
 * any generator is `entropy_unavailable` until an operator restarts the process.
 */
import { randomBytes } from 'node:crypto';
import { threadId } from 'node:worker_threads';
import type { Gate } from '#sp800-22';
import { mostCommonValueMinEntropy } from '#sp800-90b';
import { concatBytes, countOnes, wipe } from '../bytes.ts';
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
  type SourceName,
  type SourceStatus,
} from '../entropy/index.ts';
import { AppError } from '../errors.ts';
import { modulationSelfTest } from '../modulation/index.ts';
import { FailureTally } from './failure-tally.ts';
import {
  type Defect,
  describeDefect,
  type FailedVerdict,
  failedVerdict,
  type Judged,
  Latch,
  tallyDefect,
} from './latch.ts';
import { SAMPLE_BITS, sampleOfKeys, sampleOfStream } from './sample.ts';
import type { SelfTestResult } from './suite-self-test.ts';

/** Reseeds after which a sample of a suite worker's generator is due. */
const SAMPLE_INTERVAL = 4_096;

/**
 * Least min-entropy a bit that a screened sample may show. An honest sample falls below with a
 * probability under 2^-90: the estimate would need a bias of 11 standard deviations.
 */
const MIN_SCREEN = 0.98;

/** Seconds a client should wait when no key can be made. */
const RETRY_AFTER_SECONDS = 5;

/** The error of a generator that makes no keys. `reason` stays inside. */
export function entropyUnavailable(reason: string): AppError {
  return new AppError('entropy_unavailable', {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
    cause: new Error(reason),
  });
}

/** The error of every request for a key once the process has latched. */
export function latchedError(defect: Defect): AppError {
  return entropyUnavailable(`key generation has stopped: ${describeDefect(defect)}`);
}

/** The part of a DRBG that generation uses; tests put a broken one in its place. */
export interface BitGenerator {
  reseed(entropyInput: Uint8Array, additionalInput?: Uint8Array): void;
  generate(lengthBytes: number, additionalInput?: Uint8Array): Buffer;
  destroy(): void;
}

export interface GeneratorStatus {
  /** Of its DRBG, since the start. */
  readonly reseeds: number;
  readonly sources: readonly SourceStatus[];
}

/** The sources of one generator. `os` takes part in every reseed and is never named here. */
export interface GeneratorSources {
  /** That a reseed may name. */
  readonly names: readonly SourceName[];
  /** Mixed into every reseed while they deliver. */
  readonly mix: readonly SourceName[];
  /** Pools of those that are read in the background. */
  readonly pools: readonly Pool[];
}

/** Entropy credited to a reseed, and the hardware job that fed it, if any. */
export interface Credit extends SeedCredit {
  readonly jobId: string | null;
}

/** What a thread adds to its generator. */
export interface GeneratorAdditions extends Pick<GeneratorParts, 'onFailedVerdict'> {
  /** Further known-answer tests. */
  readonly knownAnswers?: () => readonly SelfTestResult[];
}

/** What a generator is made of. */
export interface GeneratorParts {
  readonly os: EntropySource;
  /** That a reseed may name. */
  readonly extras: ReadonlyMap<SourceName, EntropySource>;
  /** Those of them that are mixed into every reseed. */
  readonly mix: readonly EntropySource[];
  readonly drbg: BitGenerator;
  /** Security strength the DRBG was instantiated with, in bits (SP 800-90A §8.4). */
  readonly strengthBits: number;
  /** 16 random bytes. */
  readonly instanceId: Buffer;
  /** The known-answer tests of the DRBG and of the modulation, and of the suite where this thread runs it. */
  readonly knownAnswers: () => readonly SelfTestResult[];
  /** Told of each failure of the gate, for the log. */
  readonly onFailedVerdict?: (verdict: FailedVerdict) => void;
  /** Shared by all generators of the process. */
  readonly latch: Latch;
}

export class Generator {
  readonly #os: EntropySource;
  readonly #extras: ReadonlyMap<SourceName, EntropySource>;
  readonly #mix: readonly EntropySource[];
  readonly #drbg: BitGenerator;
  readonly #instanceId: Buffer;
  /** Security strength of the DRBG in bits: no key is stronger. */
  readonly strengthBits: number;
  readonly #knownAnswers: GeneratorParts['knownAnswers'];
  readonly #latch: Latch;
  readonly #onFailedVerdict: GeneratorParts['onFailedVerdict'];
  /** Its own failures of the gate: passes of other generators must not make it forget them. */
  readonly #tally = new FailureTally();
  #reseeds = 0;
  #reseedsSinceScreen = 0;
  #screen = 0;

  constructor(parts: GeneratorParts) {
    this.#os = parts.os;
    this.#extras = parts.extras;
    this.#mix = parts.mix;
    this.#drbg = parts.drbg;
    this.strengthBits = parts.strengthBits;
    this.#instanceId = parts.instanceId;
    this.#knownAnswers = parts.knownAnswers;
    this.#latch = parts.latch;
    this.#onFailedVerdict = parts.onFailedVerdict;
    // An idle generator must not keep its state either when another thread latches.
    void this.#latch.whenSet().then(() => this.#drbg.destroy());
  }

  /**
   * Opens the sources, instantiates the DRBG (SP 800-90A §10.2.1.3.2) and screens a first sample.
   * A source that cannot deliver at start is an `AppError('entropy_unavailable')`. A generator outside the
   * service has a latch of its own.
   */
  static start(
    { names, mix, pools }: GeneratorSources,
    latch = Latch.forThreads(1),
    { knownAnswers, onFailedVerdict }: GeneratorAdditions = {},
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
      ...(onFailedVerdict && { onFailedVerdict }),
    });
    generator.takeScreen();
    return generator;
  }

  /** Min-entropy a bit (SP 800-90B §6.3.1) of the latest screened sample: a screen for defects. */
  get screen(): number {
    return this.#screen;
  }

  /** Why no generator of this process makes a key any more; null while they are in service. */
  get latched(): Defect | null {
    return this.#latch.read();
  }

  /**
   * Mixes in entropy drawn now (SP 800-90A §10.2.1.4.2): the operating system always, the named
   * source as well when it is another, and those of the mix that deliver. The additional input sets
   * apart processes, threads and restored copies even if their entropy were the same.
   */
  reseed(source: SourceName): Credit {
    this.#refuseWhenLatched();
    const named = this.#extras.get(source);
    if (source !== 'os' && !named) {
      throw new RangeError(`"source" expected one of the opened sources, got ${source}`);
    }
    const mixed = this.#mix.filter(({ name }) => name !== source);
    return this.#mixIn(named ? [named] : [], mixed);
  }

  /** The output of one DRBG request, in memory of its own. The caller MUST wipe it. */
  request(lengthBytes: number): Buffer {
    this.#refuseWhenLatched();
    return this.#drbg.generate(lengthBytes);
  }

  /** `SAMPLE_BITS` bits of one stream, from which keys of `keyBytes` are cut. The caller MUST wipe them. */
  requestSample(keyBytes: number): Buffer<ArrayBuffer> {
    return sampleOfStream(this, keyBytes);
  }

  /** Lets sources that failed show that they work again. */
  probe(): void {
    for (const source of [this.#os, ...this.#extras.values()]) source.probe();
  }

  /** Ends generation in the whole process for good. */
  latch(defect: Defect): void {
    this.#latch.set(defect);
    this.#drbg.destroy();
  }

  /**
   * Counts a verdict of the gate on its output. The process latches on the third failure within some 1,000 verdicts,
   * those of this generator or those of all.
   */
  judged(gate: Gate, judged: Judged): void {
    const passed = gate.verdict === 'PASS';
    if (!passed) this.#onFailedVerdict?.(failedVerdict(gate, judged));
    const full = [this.#tally, this.#latch.tally].map((tally) => tally.count(passed));
    if (full.includes(true)) this.latch(tallyDefect(gate, judged));
  }

  status(): GeneratorStatus {
    const sources = [this.#os, ...this.#extras.values()].map((source) => source.status());
    return { reseeds: this.#reseeds, sources };
  }

  close(): void {
    this.#drbg.destroy();
    for (const source of [this.#os, ...this.#extras.values()]) source.close();
  }

  /**
   * Runs the known-answer tests of the DRBG (SP 800-90A §11.3) and of the modulation, and screens a sample that begins
   * with the bits of 96 keys, drawn as plain keys are. A test that fails, or a sample that is plainly
   * biased, latches the process. Returns the sample, or null once the process has latched. The caller MUST wipe it.
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
    // Not before: what could not be taken is tried again.
    this.#reseedsSinceScreen = 0;
    if (this.#screen >= MIN_SCREEN) return sample;
    wipe(sample);
    this.latch({ cause: 'screen', test: 'min_entropy', detail: 'a screened sample is biased' });
    return null;
  }

  /** The same, with a sample that is dropped. */
  takeScreen(): void {
    const sample = this.takeSample();
    if (sample) wipe(sample);
  }

  /** Whether there were 4,096 reseeds since the last sample: a generator whose streams are all judged is due for one. */
  get isSampleDue(): boolean {
    return this.#reseedsSinceScreen >= SAMPLE_INTERVAL;
  }

  /** Another thread may latch while the sample is being drawn. */
  #sampleUnlessLatched(): Buffer<ArrayBuffer> | null {
    try {
      return sampleOfKeys(this, () => this.#mixIn([], []));
    } catch (error) {
      if (this.latched) return null;
      throw error;
    }
  }

  #mixIn(required: readonly EntropySource[], optional: readonly EntropySource[]): Credit {
    const seed = gatherSeed(this.#os, required, optional);
    try {
      this.#drbg.reseed(seed.bytes, this.#additionalInput());
    } finally {
      wipe(seed.bytes);
    }
    this.#reseedsSinceScreen += 1;
    return { ...seed.credit, jobId: seed.jobId };
  }

  #refuseWhenLatched(): void {
    const { latched } = this;
    if (!latched) return;
    this.#drbg.destroy();
    throw latchedError(latched);
  }

  /** Instance, thread, counter and clock: distinct for every reseed of every copy of the state. */
  #additionalInput(): Buffer {
    this.#reseeds += 1;
    const input = Buffer.alloc(48);
    input.set(this.#instanceId, 0);
    input.writeUInt32BE(process.pid, 16);
    input.writeUInt32BE(threadId, 20);
    input.writeBigUInt64BE(BigInt(this.#reseeds), 24);
    input.writeBigUInt64BE(process.hrtime.bigint(), 32);
    input.writeBigUInt64BE(BigInt(Date.now()), 40);
    return input;
  }
}

/**
 * SP 800-90A §10.2.1.3.2, from two draws of the system source. The strength is that of the mechanism,
 * or the source's if that is less; what a draw is credited with does not matter to it.
 */
function instantiate(
  os: EntropySource,
  personalization: Buffer,
): Pick<GeneratorParts, 'drbg' | 'strengthBits'> {
  const seed = gatherSeed(os, []);
  const nonce = Buffer.alloc(16);
  try {
    const draw = os.draw();
    // §8.6.7: a nonce of at least half the security strength, here fresh random bits.
    nonce.set(draw.bytes.subarray(0, 16));
    wipe(draw.bytes);
    const drbg = CtrDrbg.instantiate({ entropyInput: seed.bytes, nonce, personalization });
    return { drbg, strengthBits: Math.min(SECURITY_STRENGTH_BITS, OS_STRENGTH_BITS) };
  } finally {
    wipe(seed.bytes, nonce);
  }
}

function openExtra(name: Exclude<SourceName, 'os'>, pools: readonly Pool[]): EntropySource {
  if (!isBackground(name)) return openSource(name);
  const pool = pools.find((one) => one.name === name);
  if (!pool) throw new TypeError(`"pools" expected the pool of ${name}`);
  return new PooledSource(pool);
}
