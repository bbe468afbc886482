/**
 * Drafts: metered tasks that the key worker has prepared for their transaction. It has generated a key and its row, or
 * examined a key, and has recorded nothing yet.
 */
import { wipe } from '../../bytes.ts';
import { AppError } from '../../errors.ts';
import { generateKey } from '../../keys/generate.ts';
import { wipeKey } from '../../keys/key-receipt.ts';
import { type KeyOrder, type KeyToRecord, releasedKey } from '../../keys/order.ts';
import type { PlainGenerator } from '../../keys/plain-generator.ts';
import {
  concludeExamination,
  type Examination,
  examineKey,
  openQuestions,
  type Retirements,
  type ValidationVerdict,
} from '../../keys/validate.ts';
import type { CommitOutcome, LedgerRow, MeteredRequest, StreamCounts } from '../../ledger/index.ts';
import type { Keyring } from '../../proof/index.ts';
import {
  type KeyTask,
  type KeyTaskResult,
  type LogBinding,
  NO_STREAMS,
  type Requester,
} from '../messages.ts';
import type { BatchLookup } from './batch-lookup.ts';
import type { KnownRetirements } from './known-retirements.ts';
import { RowReceipts } from './row-receipts.ts';

/** A metered task before and during its transaction. */
export interface Draft {
  /** True for a key of this worker's generator. */
  readonly isPlainKey: boolean;
  readonly request: MeteredRequest;
  /** Returns the result of the task after the commit. */
  readonly finish: (outcome: CommitOutcome & { kind: 'committed' }) => KeyTaskResult;
  /** Wipes the key and its opening, if any. */
  readonly discard: () => void;
}

/** Seconds after which a client should retry: another server may answer, or this one after a restart with the whole secret. */
const LACKED_RETRY_SECONDS = 5;

export class Drafts {
  readonly #plain: PlainGenerator;
  readonly #keyring: Keyring;
  readonly #retirements: KnownRetirements;
  /** Null without a log. */
  readonly #receipts: RowReceipts | null;

  constructor(
    plain: PlainGenerator,
    keyring: Keyring,
    retirements: KnownRetirements,
    log: LogBinding | null,
  ) {
    this.#plain = plain;
    this.#keyring = keyring;
    this.#retirements = retirements;
    this.#receipts = log && new RowReceipts(log, keyring);
  }

  /** Generates a plain key. Returns undefined while its generator waits for a verdict. */
  generate({ requester, order }: KeyTask & { kind: 'generate' }): Draft | undefined {
    const made = this.#plain.make((generator) =>
      generateKey(generator, this.#keyring, order, { ...NO_STREAMS }, this.#receipts !== null),
    );
    if (!made) return undefined;
    const { key: generated, number } = made;
    const released = releasedKey(generated);
    return {
      isPlainKey: true,
      request: this.#recording(requester, order, generated, NO_STREAMS),
      finish: ({ usage }) => {
        this.#plain.keyReleased(number, released.keyId);
        return { kind: 'generated', createdMs: requester.atMs, keys: [released], usage };
      },
      discard: () => wipeKey(released),
    };
  }

  /** Prepares the row of a key from a suite worker. */
  record({ requester, order, generated, counts }: KeyTask & { kind: 'record' }): Draft {
    return {
      isPlainKey: false,
      request: this.#recording(requester, order, generated, counts),
      finish: ({ usage }) => ({ kind: 'recorded', usage }),
      discard: () => {},
    };
  }

  #recording(
    requester: Requester,
    order: KeyOrder,
    generated: KeyToRecord,
    counts: StreamCounts,
  ): MeteredRequest {
    const columns = rowColumns(requester, order, generated);
    const receipt = this.#receipts?.receiptOf(requester, columns, generated) ?? null;
    return metered(requester, [{ ...columns, receipt }], counts);
  }

  /** Examines a key, and wipes it. */
  async validate(
    { requester, key, proof }: KeyTask & { kind: 'validate' },
    lookups: BatchLookup,
  ): Promise<Draft> {
    let examination: Examination;
    try {
      examination = examineKey(this.#keyring, key, proof);
    } finally {
      if (key) wipe(key);
    }
    const verdict = await this.#conclude(examination, lookups);
    if (verdict.proofVerification === 'failed') await requireWholeSecret(lookups);
    return {
      isPlainKey: false,
      request: metered(requester, [], NO_STREAMS),
      finish: ({ usage }) => ({ kind: 'validated', verdict, usage }),
      discard: () => {},
    };
  }

  /** Reads what the verdict needs from the ledger, and returns the verdict. */
  async #conclude(examination: Examination, lookups: BatchLookup): Promise<ValidationVerdict> {
    let retirements: Retirements = new Map();
    if (examination.commitments.length > 0) {
      retirements = await lookups.retirements();
      this.#retirements.note(retirements);
    }
    const questions = openQuestions(examination, retirements);
    const rowsMadeMs = await lookups.find(questions);
    return concludeExamination(examination, retirements, questions, rowsMadeMs);
  }
}

/** Throws unless this server holds every version in use: otherwise it cannot say that a key was not generated here. */
async function requireWholeSecret(lookups: BatchLookup): Promise<void> {
  const lacked = await lookups.lackedVersions();
  if (lacked.length === 0) return;
  throw new AppError('ledger_unavailable', {
    cause: new Error(`the master secret lacks version ${lacked.join(', ')}`),
    retryAfterSeconds: LACKED_RETRY_SECONDS,
  });
}

function metered(
  requester: Requester,
  keys: readonly LedgerRow[],
  counts: StreamCounts,
): MeteredRequest {
  return { ...requester, keys, counts, idempotency: null };
}

/** Returns the columns of a key's row that do not depend on a log. */
function rowColumns(
  { atMs }: Requester,
  order: KeyOrder,
  generated: KeyToRecord,
): Omit<LedgerRow, 'receipt'> {
  return {
    keyId: generated.keyId,
    commitment: generated.commitment,
    securityLevel: order.securityLevel,
    modulation: order.modulation,
    source: order.source,
    createdMs: atMs,
    latencyUs: Math.round(generated.latencyMs * 1000),
    entropyBits: generated.entropyBits,
    entropyJobId: generated.entropyJobId,
    evidence: generated.evidence,
    sealed: null,
  };
}
