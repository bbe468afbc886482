/**
 * Drafts: metered tasks that the key worker has prepared for their transaction. It has generated a key and its row, or
 * examined a key, and has recorded nothing yet.
 */
import { wipe } from '../../bytes.ts';
import { AppError } from '../../errors.ts';
import { generateKey } from '../../keys/generate.ts';
import { wipeKey } from '../../keys/key-receipt.ts';
import { type ReleasedKey, releasedKey } from '../../keys/order.ts';
import type { Numbered, PlainGenerator } from '../../keys/plain-generator.ts';
import {
  concludeExamination,
  type Examination,
  examineKey,
  openQuestions,
  type Retirements,
  type ValidationVerdict,
} from '../../keys/validate.ts';
import type {
  CommitOutcome,
  DeliveryOrder,
  KeyState,
  LedgerRow,
  MeteredRequest,
} from '../../ledger/index.ts';
import type { Keyring } from '../../proof/index.ts';
import type { BatchLookup } from './batch-lookup.ts';
import { KeyRows } from './key-rows.ts';
import type { KnownRetirements } from './known-retirements.ts';
import { type KeyTask, type KeyTaskResult, type LogBinding, NO_STREAMS } from './messages.ts';
import { unpackRows } from './packed-rows.ts';

/** A metered task before and during its transaction. */
export interface Draft {
  /** Failed samples of this worker's generator before its key; null without such a key. */
  readonly failures: number | null;
  readonly request: MeteredRequest;
  /** What to send if the account is locked, in the place of the task; absent if the task itself. */
  readonly again?: KeyTask;
  /** Returns the result of the task after the commit. */
  finish(outcome: Committed): KeyTaskResult;
  /** Wipes the key and its opening, if any. */
  discard(): void;
}

type Committed = CommitOutcome & { readonly kind: 'committed' };

/** A plain key and its row. A class: two closures for each key would cost more than its methods. */
class PlainKeyDraft implements Draft {
  readonly request: MeteredRequest;
  readonly failures: number;
  readonly #key: ReleasedKey;
  readonly #number: number;
  readonly #plain: PlainGenerator;

  constructor(
    request: MeteredRequest,
    key: ReleasedKey,
    { number, failures }: Pick<Numbered<unknown>, 'number' | 'failures'>,
    plain: PlainGenerator,
  ) {
    this.request = request;
    this.failures = failures;
    this.#key = key;
    this.#number = number;
    this.#plain = plain;
  }

  finish({ usage }: Committed): KeyTaskResult {
    this.#plain.keyReleased(this.#number, this.#key.keyId);
    const { request, failures } = this;
    return { kind: 'generated', createdMs: request.atMs, keys: [this.#key], usage, failures };
  }

  discard(): void {
    wipeKey(this.#key);
  }
}

/** Seconds after which a client should retry: another server may answer, or this one after a restart with the whole secret. */
const LACKED_RETRY_SECONDS = 5;

export class Drafts {
  readonly #plain: PlainGenerator;
  readonly #keyring: Keyring;
  readonly #retirements: KnownRetirements;
  readonly #rows: KeyRows;

  constructor(
    plain: PlainGenerator,
    keyring: Keyring,
    retirements: KnownRetirements,
    log: LogBinding | null,
  ) {
    this.#plain = plain;
    this.#keyring = keyring;
    this.#retirements = retirements;
    this.#rows = new KeyRows(log, keyring);
  }

  /** Generates a plain key. Returns undefined while its generator waits for a verdict. */
  generate({ requester, order, idempotency }: KeyTask & { kind: 'generate' }): Draft | undefined {
    const made = this.#plain.make((generator) =>
      generateKey(generator, this.#keyring, order, { ...NO_STREAMS }, this.#rows.hasLog),
    );
    if (!made) return undefined;
    const { key: generated } = made;
    const request: MeteredRequest = {
      accountId: requester.accountId,
      apiKeyId: requester.apiKeyId,
      atMs: requester.atMs,
      keys: [this.#rows.rowOf(requester, order, generated)],
      counts: NO_STREAMS,
      // A key in plaintext is not kept.
      idempotency: idempotency && { ...idempotency, body: null },
      apiKeyLimit: requester.apiKeyLimit,
    };
    return new PlainKeyDraft(request, releasedKey(generated), made, this.#plain);
  }

  /** Prepares keys of suite workers, whose rows are complete. */
  record({ requester, rows, ...others }: KeyTask & { kind: 'record' }): Draft {
    const { counts, idempotency, delivery } = others;
    const keys = rows.flatMap(unpackRows);
    if (delivery) requireOwnIds(keys, delivery);
    return {
      failures: null,
      request: { ...requester, keys, counts, idempotency, delivery },
      finish: ({ usage }) => ({ kind: 'recorded', usage }),
      discard: () => {},
    };
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
    const verdict = await this.#conclude(examination, lookups, requester.atMs);
    if (verdict.proofVerification === 'failed') await requireWholeSecret(lookups);
    return this.conclude({ kind: 'conclude', requester, verdict });
  }

  /** Prepares the count of a validation. */
  conclude(task: KeyTask & { kind: 'conclude' }): Draft {
    const { requester, verdict } = task;
    return {
      failures: null,
      request: { ...requester, keys: [], counts: NO_STREAMS, idempotency: null },
      // The key is wiped: the validation cannot begin again.
      again: task,
      finish: ({ usage }) => ({ kind: 'validated', verdict, usage }),
      discard: () => {},
    };
  }

  /** Reads what the verdict needs from the ledger, and returns the verdict. */
  async #conclude(
    examination: Examination,
    lookups: BatchLookup,
    nowMs: number,
  ): Promise<ValidationVerdict> {
    const { commitments } = examination;
    let retirements: Retirements = new Map();
    let states: readonly (KeyState | null)[] = [];
    if (commitments.length > 0) {
      [retirements, states] = await Promise.all([
        lookups.retirements(),
        lookups.findStates(commitments),
      ]);
      this.#retirements.note(retirements);
    }
    const questions = openQuestions(examination, retirements);
    const rowsMadeMs = await lookups.find(questions);
    return concludeExamination(examination, questions, { retirements, rowsMadeMs, states }, nowMs);
  }
}

/** Throws unless each delivery is the one that its key's row, and so its sealed copies, name. */
function requireOwnIds(keys: readonly LedgerRow[], { deliveries }: DeliveryOrder): void {
  const isOwn = deliveries.every(({ deliveryId }, i) => {
    const named = keys[i]?.sealed?.deliveryId;
    return named && Buffer.compare(named, deliveryId) === 0;
  });
  if (isOwn && deliveries.length === keys.length) return;
  throw new Error('the deliveries of a request are not those of its keys');
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
