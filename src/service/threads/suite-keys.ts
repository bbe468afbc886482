/**
 * Makes the keys of jobs in a suite worker: validated keys, keys of batches and sealed keys, with their rows. Plain keys
 * obey the same rule of evidence as those of the key worker. This worker judges their samples itself.
 */

import type { Sealer } from '#sealing';
import { wipe } from '../../bytes.ts';
import { monotonicMs } from '../../clock.ts';
import { alteredKey } from '../../keys/altered-key.ts';
import type { SampleVerdict } from '../../keys/evidence-suite.ts';
import { generateKey } from '../../keys/generate.ts';
import { entropyUnavailable, type Generator, latchedError } from '../../keys/generator.ts';
import { wipeKey } from '../../keys/key-receipt.ts';
import {
  type GeneratedKey,
  keyFacts,
  type Recipient,
  type ReleasedKey,
  releasedKey,
  type SealedResponseKey,
  type StreamTally,
} from '../../keys/order.ts';
import {
  type JudgeSample,
  PlainGenerator,
  type PlainGeneratorOptions,
} from '../../keys/plain-generator.ts';
import { AlteredKeyError, RefusedRecipientError, sealerTo, sealKey } from '../../keys/seal.ts';
import { judgeSample, screenLiveCarrier } from '../../keys/self-test.ts';
import type { LedgerRow } from '../../ledger/index.ts';
import { NO_DELIVERY } from '../../ledger/row-seals.ts';
import type { Keyring } from '../../proof/index.ts';
import type {
  JobSettled,
  MadeKeys,
  OwnVerdicts,
  SuiteJob,
  SuiteReply,
  SuiteResult,
} from '../suite/messages.ts';
import { toFailure } from './failures.ts';
import { KeyRows } from './key-rows.ts';
import type { LogBinding, UnvouchedKeys } from './messages.ts';
import { packKeys } from './packed-keys.ts';
import { packRows } from './packed-rows.ts';

const FAILED_MEANWHILE = 'a sample of the generator of plain keys failed between these keys';
const SAMPLE_FAILED =
  'a sample of the generator of plain keys failed, and no second one could be drawn';

/** A plain key whose row is not known to be durable. */
interface PlainKey {
  readonly number: number;
  readonly keyId: string;
  /** Failed samples of the generator before it. */
  readonly failures: number;
}

export interface SuiteKeysOptions extends PlainGeneratorOptions {
  /** Judges a sample by the suite, and wipes it. */
  readonly judge?: (sample: Uint8Array) => SampleVerdict;
  readonly seal?: typeof sealKey;
}

export class SuiteKeys {
  readonly #generator: Generator;
  readonly #keyring: Keyring;
  readonly #rows: KeyRows;
  readonly #plain: PlainGenerator;
  readonly #seal: typeof sealKey;
  #lastSealers: readonly Sealer[] = [];
  /** Verdicts on samples since the last message to the main thread. */
  #samples: boolean[] = [];
  /** Plain keys by job, until the main thread reports the end of the job. */
  readonly #unsettled = new Map<number, PlainKey[]>();

  /** `log` is null without a log. */
  constructor(
    generator: Generator,
    keyring: Keyring,
    log: LogBinding | null,
    { judge = judgeSample, seal = sealKey, ...options }: SuiteKeysOptions = {},
  ) {
    this.#generator = generator;
    this.#keyring = keyring;
    this.#rows = new KeyRows(log, keyring);
    this.#seal = seal;
    const judgeHere: JudgeSample = (sample, answer) => {
      const verdict = judge(sample);
      this.#samples.push(verdict.gate.verdict === 'PASS');
      answer(verdict);
    };
    this.#plain = new PlainGenerator(generator, judgeHere, options);
  }

  /** Makes the keys of a job: all of them, or none. Never rejects. */
  async run(job: SuiteJob): Promise<SuiteReply> {
    const startMs = monotonicMs();
    const counts: StreamTally = { streams: 0, streamsPassed: 0 };
    const result = await this.#result(job, counts);
    if (result.kind !== 'made') this.#unsettled.delete(job.id);
    return {
      jobId: job.id,
      result,
      counts,
      ...this.#takeVerdicts(),
      ms: monotonicMs() - startMs,
      status: this.#generator.status(),
    };
  }

  /** Notes that the keys of a job are in the ledger, or have been dropped. */
  settled({ settled: id, recorded }: JobSettled): void {
    const keys = this.#unsettled.get(id) ?? [];
    this.#unsettled.delete(id);
    if (!recorded) return;
    for (const { number, keyId } of keys) this.#plain.keyReleased(number, keyId);
  }

  /**
   * Draws a sample if one is due for keys already released. Returns its verdict, or null. The caller MUST send it to the main
   * thread at once, because keys of jobs may still wait there for their commit.
   */
  refresh(): OwnVerdicts | null {
    if (this.#plain.unvouchedKeys().length > 0) this.#plain.refresh();
    return this.#samples.length > 0 ? this.#takeVerdicts() : null;
  }

  /** Returns the released plain keys without a good sample after them. */
  unvouched(): UnvouchedKeys {
    return { unvouchedKeys: this.#plain.unvouchedKeys(), lastGoodMs: this.#plain.lastGoodMs };
  }

  /**
   * Ends generation of plain keys with a last sample, if released keys need one. Returns the reason why it does not vouch
   * for them, or null.
   */
  vouchForLast(): string | null {
    if (this.#plain.unvouchedKeys().length === 0) return null;
    this.#plain.end();
    try {
      // After a failure and a pass, which is no evidence for earlier keys, one more sample is due.
      return this.#plain.hasEvidence() || this.#plain.hasEvidence() ? null : SAMPLE_FAILED;
    } catch (error) {
      return toFailure(error).reason;
    }
  }

  #takeVerdicts(): OwnVerdicts {
    return { samples: this.#samples.splice(0), evidence: this.#plain.evidence };
  }

  async #result(job: SuiteJob, counts: StreamTally): Promise<SuiteResult> {
    try {
      const made =
        job.recipients.length > 0
          ? await this.#sealed(job, counts)
          : this.#inPlaintext(job, counts);
      // A sample may be drawn while a key is sealed, also after the last key.
      if (this.#hasFailedSince(job.id)) {
        wipe(new Uint8Array(made.keys.secrets));
        throw entropyUnavailable(FAILED_MEANWHILE);
      }
      return { kind: 'made', ...made };
    } catch (error) {
      if (error instanceof RefusedRecipientError) {
        return { kind: 'invalid_public_key', index: error.index, problem: error.message };
      }
      if (error instanceof AlteredKeyError) {
        const defect = alteredKey('seal');
        this.#generator.latch(defect);
        return { kind: 'failed', failure: toFailure(latchedError(defect)) };
      }
      return { kind: 'failed', failure: toFailure(error) };
    }
  }

  #inPlaintext(job: SuiteJob, counts: StreamTally): MadeKeys {
    const { requester, order } = job;
    const keys: ReleasedKey[] = [];
    const rows: LedgerRow[] = [];
    try {
      for (let i = 0; i < job.count; i++) {
        const generated = this.#generate(job, counts, this.#rows.hasLog);
        keys.push(releasedKey(generated));
        rows.push(this.#rows.rowOf(requester, order, generated));
      }
      return { rows: packRows(rows), keys: packKeys(keys), sealed: [] };
    } finally {
      for (const key of keys) wipeKey(key);
    }
  }

  /** Generates keys and seals each at once, so that one key at a time exists here in plaintext. */
  async #sealed(job: SuiteJob, counts: StreamTally): Promise<MadeKeys> {
    const sealers = await this.#sealersTo(job.recipients);
    const { requester, order, delivery } = job;
    const { atMs: createdMs } = requester;
    const facts = { service: this.#rows.origin, createdMs, securityLevel: order.securityLevel };
    const rows: LedgerRow[] = [];
    const sealed: SealedResponseKey[] = [];
    // The opening is sealed with the key, with a log and without.
    const opened: SuiteJob = { ...job, order: { ...order, receipt: true } };
    for (let i = 0; i < job.count; i++) {
      const generated = this.#generate(opened, counts, true);
      const of = delivery
        ? { deliveryId: delivery.ids[i], deliveryContext: delivery.context }
        : NO_DELIVERY;
      const { sealedKeys, seal, ...rest } = await this.#seal(generated, sealers, {
        ...facts,
        delivery: of,
      });
      rows.push(this.#rows.rowOf(requester, order, rest, seal));
      sealed.push({ ...keyFacts(rest), sealedKeys });
    }
    return { rows: packRows(rows), keys: packKeys([]), sealed };
  }

  /** Returns the sealers of recipients. The last ones are kept, because the jobs of a batch have the same recipients. */
  async #sealersTo(recipients: readonly Recipient[]): Promise<readonly Sealer[]> {
    const last = this.#lastSealers;
    const sealers = recipients.map(
      (one, i) => last.find(({ recipient }) => isSameRecipient(recipient, one)) ?? sealerTo(one, i),
    );
    this.#lastSealers = await Promise.all(sealers);
    return this.#lastSealers;
  }

  /** Generates the next key of a job. `commits` is true if the key needs a commitment and its opening. */
  #generate({ id, order }: SuiteJob, counts: StreamTally, commits: boolean): GeneratedKey {
    const generate = () => generateKey(this.#generator, this.#keyring, order, counts, commits);
    if (order.withEvidence) {
      if (this.#generator.isSampleDue) screenLiveCarrier(this.#generator);
      return generate();
    }
    const made = this.#plain.make(generate);
    if (!made) throw entropyUnavailable(SAMPLE_FAILED);
    const { key, number, failures } = made;
    this.#noteUnsettled(id, { number, keyId: key.keyIdText, failures });
    if (!this.#hasFailedSince(id)) return key;
    wipeKey(key);
    throw entropyUnavailable(FAILED_MEANWHILE);
  }

  /**
   * Reports whether a sample has failed since the first plain key of a job. Keys before a failed sample are never released,
   * although a second sample passed.
   */
  #hasFailedSince(id: number): boolean {
    const first = this.#unsettled.get(id)?.[0];
    return first !== undefined && first.failures !== this.#plain.evidence.failures;
  }

  #noteUnsettled(id: number, key: PlainKey): void {
    const keys = this.#unsettled.get(id);
    if (keys) keys.push(key);
    else this.#unsettled.set(id, [key]);
  }
}

function isSameRecipient(one: Recipient, other: Recipient): boolean {
  return one.suite === other.suite && Buffer.compare(one.publicKey, other.publicKey) === 0;
}
