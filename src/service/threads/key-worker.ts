/**
 * The key worker thread: generates plain keys, validates keys, and is the server's only ledger writer.
 *
 * It works in batches. It generates the keys of a batch, records all of them in one transaction, and posts them back
 * only after the commit. It wipes a key whose row was refused. While a remote database commits one batch, it prepares
 * the next. A suite worker judges samples of its generator. While `plain-evidence.ts` makes plain keys wait for a
 * verdict, their tasks go back without a key, and all other work continues.
 */

import type { SealSuiteName } from '#sealing';
import { monotonicMs } from '../../clock.ts';
import { AppError } from '../../errors.ts';
import { entropyUnavailable, latchedError } from '../../keys/generator.ts';
import { wipeKey } from '../../keys/key-receipt.ts';
import type { Defect } from '../../keys/latch.ts';
import type { PlainGenerator } from '../../keys/plain-generator.ts';
import type { CommitOutcome, CopyOrder, LedgerStore, TakenCopy } from '../../ledger/index.ts';
import type { Keyring } from '../../proof/index.ts';
import { BatchLookup } from './batch-lookup.ts';
import { type Draft, Drafts } from './drafts.ts';
import { damagedLedger, toFailure } from './failures.ts';
import { Joined } from './joined.ts';
import { KnownRetirements } from './known-retirements.ts';
import { LedgerProbe } from './ledger-probe.ts';
import type {
  CommitTimes,
  KeyBatch,
  KeyBatchReply,
  KeyTask,
  KeyTaskResult,
  LedgerReport,
  LogBinding,
  RetiredVersion,
} from './messages.ts';
import { Revocations } from './revocations.ts';

/** A task before its commit: a draft, or already a result. */
type Prepared = Draft | KeyTaskResult;

function isDraft(one: Prepared): one is Draft {
  return 'request' in one;
}

/** Results of a batch's drafts. */
interface Committed {
  readonly outcomes: KeyTaskResult[];
  readonly failuresRecorded: boolean;
  readonly commit: CommitTimes | null;
}

/** Seconds after which a client should retry: another server may answer, or this one after a restart with another version. */
const RETIRED_RETRY_SECONDS = 5;

/** Bytes of a sealed copy at least: `enc` of the smaller suite in base64url. */
const LEAST_COPY_BYTES = 1_494;

const EVIDENCE_PENDING: KeyTaskResult = { kind: 'evidence_pending' };

const FAILED_MEANWHILE =
  'a sample of the generator of plain keys failed, or was not judged in time';

const REPEATED_KEY: Defect = {
  cause: 'repeated_key',
  test: 'commitment',
  detail: 'a new key repeats one in the ledger',
};

export class KeyWorker {
  readonly #plain: PlainGenerator;
  readonly #keyring: Keyring;
  readonly #store: LedgerStore;
  readonly #probe: LedgerProbe;
  readonly #retirements: KnownRetirements;
  readonly #drafts: Drafts;
  readonly #revocations: Revocations;
  /** Orders of a batch are done in one transaction. */
  readonly #copies: Joined<CopyOrder, readonly (TakenCopy | null)[]>;
  /** Resolves after all earlier commits: batches are committed in order, one at a time. */
  #turn: Promise<unknown> = Promise.resolve();
  /** True once the operator has issued an API key; never reset. */
  #ownApiKeys = false;
  /** Set permanently when a check has found the ledger damaged. */
  #damage: AppError | null = null;

  /**
   * Adds the entries of keys to `log` if there is one. Calls `onRetirements` when the retirements differ from the previous
   * reading.
   */
  constructor(
    plain: PlainGenerator,
    keyring: Keyring,
    store: LedgerStore,
    log: LogBinding | null = null,
    onRetirements: (retired: readonly RetiredVersion[]) => void = () => {},
  ) {
    this.#plain = plain;
    this.#keyring = keyring;
    this.#store = store;
    this.#probe = new LedgerProbe(store);
    this.#retirements = new KnownRetirements(keyring.currentVersion, onRetirements);
    this.#drafts = new Drafts(plain, keyring, this.#retirements, log);
    this.#revocations = new Revocations(store, keyring, log);
    this.#copies = new Joined((orders) => store.takeCopies(orders));
  }

  /** Refuses all work that needs the ledger from the next batch on. A commit in progress is not affected. */
  condemn(damage: string): void {
    this.#damage = damagedLedger(damage);
  }

  /** Processes a batch. Never rejects: a failure is the result of its own task. */
  async run(batch: KeyBatch): Promise<KeyBatchReply> {
    const preparing = this.#prepare(batch.tasks);
    const committing = this.#turn.then(async () => {
      const prepared = this.#dropRetired(this.#admit(await preparing));
      return { prepared, ...(await this.#commit(prepared.filter(isDraft), batch)) };
    });
    this.#turn = committing;
    const { prepared, outcomes, failuresRecorded, commit } = await committing;
    let next = 0;
    const results = prepared.map((one) => (isDraft(one) ? outcomes[next++] : one));
    return {
      id: batch.id,
      results: this.#release(results),
      failuresRecorded,
      commit,
      status: this.#plain.generator.status(),
      awaitsVerdict: this.#plain.awaitsVerdict,
    };
  }

  /**
   * Drops new keys that must not be released, because some thread found a defect after their generation, or a sample
   * failed. In the second case plain keys are generated again after the verdict on the next sample.
   */
  #admit(prepared: readonly Prepared[]): readonly Prepared[] {
    const { latched } = this.#plain.generator;
    const mayRelease = this.#releaseRule();
    return prepared.map((one) => {
      if (!isDraft(one) || one.request.keys.length === 0) return one;
      if (!latched && mayRelease(one.failures)) return one;
      one.discard();
      return latched
        ? { kind: 'failed', failure: toFailure(latchedError(latched)) }
        : EVIDENCE_PENDING;
    });
  }

  /** Drops keys whose secret version was retired after they were generated, while they waited here or in a suite worker. */
  #dropRetired(prepared: readonly Prepared[]): readonly Prepared[] {
    if (!this.#retirements.isCurrentRetired) return prepared;
    return prepared.map((one) => {
      if (!isDraft(one) || one.request.keys.length === 0) return one;
      one.discard();
      return { kind: 'failed', failure: toFailure(retiredError(this.#keyring.currentVersion)) };
    });
  }

  /**
   * Wipes plain keys that must not be released, because a sample failed during a commit that took seconds. Their rows
   * stay, so they are not generated again. They do not wait, because the answers of the whole batch would wait too.
   */
  #release(results: readonly KeyTaskResult[]): readonly KeyTaskResult[] {
    const { latched } = this.#plain.generator;
    const mayRelease = this.#releaseRule();
    return results.map((result) => {
      if (result.kind !== 'generated') return result;
      if (!latched && mayRelease(result.failures)) return result;
      for (const key of result.keys) wipeKey(key);
      return failedBy(latched ? latchedError(latched) : entropyUnavailable(FAILED_MEANWHILE));
    });
  }

  /**
   * Returns the rule for the keys of one batch, by the evidence now: whether one may go on that was made when so many
   * samples had failed. A key of a suite worker, which has no such number, may: the main thread knows its evidence.
   */
  #releaseRule(): (failures: number | null) => boolean {
    const { failures: failuresNow } = this.#plain.evidence;
    const isGood = this.#plain.mayRelease(failuresNow);
    return (failures) => failures === null || (isGood && failures === failuresNow);
  }

  /**
   * Checks whether keys can be recorded and API keys looked up, whether the secret is complete and not retired, and
   * whether the operator has issued API keys. Never rejects.
   */
  async checkLedger(): Promise<LedgerReport> {
    try {
      this.#requireSound();
      const accountLocked = await this.#probe.run();
      const lookups = new BatchLookup(this.#store, this.#keyring);
      const lackedVersions = await lookups.lackedVersions();
      const retired = this.#retirements.note(await lookups.retirements());
      // Read each time, because it uses the same tables as every look-up of an API key.
      const ownApiKeys = await this.#store.hasOwnApiKeys();
      this.#ownApiKeys ||= ownApiKeys;
      return {
        failure: null,
        isForeign: false,
        accountLocked,
        lackedVersions,
        retired,
        ownApiKeys: this.#ownApiKeys,
        host: this.#store.host,
      };
    } catch (error) {
      const { code, reason } = toFailure(error);
      return {
        failure: reason,
        isForeign: code === 'foreign_ledger',
        accountLocked: false,
        lackedVersions: null,
        retired: null,
        ownApiKeys: this.#ownApiKeys,
        host: this.#store.host,
      };
    }
  }

  #requireSound(): void {
    if (this.#damage) throw this.#damage;
  }

  /** Commits the drafts in one transaction and settles each. */
  async #commit(drafts: readonly Draft[], { failures }: KeyBatch): Promise<Committed> {
    if (drafts.length === 0 && failures.length === 0) {
      return { outcomes: [], failuresRecorded: true, commit: null };
    }
    const startMs = monotonicMs();
    const requests = drafts.map(({ request }) => request);
    const accountIds = requests.map(({ accountId }) => accountId);
    this.#probe.noteBegun();
    try {
      this.#requireSound();
      const committed = await this.#store.commit(requests, failures);
      const keys = requests.reduce(
        (sum, request, i) => sum + (committed[i]?.kind === 'committed' ? request.keys.length : 0),
        0,
      );
      this.#probe.noteCommitted(accountIds, keys);
      const commit = { startMs, endMs: monotonicMs(), failure: null, keys };
      const outcomes = drafts.map((draft, i) => this.#settle(draft, committed[i]));
      return { outcomes, failuresRecorded: true, commit };
    } catch (error) {
      for (const draft of drafts) draft.discard();
      this.#probe.noteFailed(accountIds);
      const failure = toFailure(error);
      const failed: KeyTaskResult = { kind: 'failed', failure };
      const commit = { startMs, endMs: monotonicMs(), failure: failure.reason, keys: 0 };
      return { outcomes: drafts.map(() => failed), failuresRecorded: false, commit };
    }
  }

  #settle(draft: Draft, outcome: CommitOutcome): KeyTaskResult {
    if (outcome.kind === 'committed') return draft.finish(outcome);
    draft.discard();
    if (outcome.kind === 'unknown_plan')
      return failedBy(new AppError('unknown_plan', { retryAfterSeconds: 2 }));
    if (outcome.kind === 'account_locked') return { ...outcome, again: draft.again ?? null };
    if (outcome.kind !== 'repeated_key') return outcome;
    this.#plain.generator.latch(REPEATED_KEY);
    return { kind: 'failed', failure: toFailure(latchedError(REPEATED_KEY)) };
  }

  async #recall(
    { requester, idempotency, names, delivery }: KeyTask & { kind: 'recall' },
    lookups: BatchLookup,
  ): Promise<KeyTaskResult> {
    this.#requireSound();
    const { accountId, atMs } = requester;
    const findAnswer = async () =>
      idempotency && lookups.findAnswer({ ...idempotency, accountId, atMs });
    const [answer, ...records] = await Promise.all([
      findAnswer(),
      ...names.map((name) => lookups.findRecipient(accountId, name)),
    ]);
    const recipients = records.map(
      (record) => record && { suite: record.suite as SealSuiteName, publicKey: record.publicKey },
    );
    const known = recipients.filter((one) => one !== null);
    const isAsked = delivery !== null && answer === null && known.length === names.length;
    const refusal = isAsked
      ? await this.#store.findDeliveryRefusal({
          ...{ accountId, deliveryIds: delivery.ids, limits: delivery.limits, nowMs: atMs },
          recipients: known.map(({ publicKey }, i) => ({ name: names[i], publicKey })),
          copyBytes: LEAST_COPY_BYTES,
        })
      : null;
    // The first request may have been committed after the answer was looked for: then its own deliveries are in the way.
    const found = refusal ? await findAnswer() : answer;
    return { kind: 'recalled', answer: found, recipients, refusal };
  }

  async #revoke(task: KeyTask & { kind: 'revoke' }): Promise<KeyTaskResult> {
    this.#requireSound();
    return this.#revocations.revoke(task);
  }

  async #takeCopies({ order }: KeyTask & { kind: 'take_copies' }): Promise<KeyTaskResult> {
    this.#requireSound();
    const [copies = []] = await this.#copies.find([order]);
    return { kind: 'copies_taken', copies };
  }

  /** Prepares the tasks of a batch: generates keys, and reads what the other tasks need. Never rejects. */
  async #prepare(tasks: readonly KeyTask[]): Promise<readonly Prepared[]> {
    const lookups = new BatchLookup(this.#store, this.#keyring);
    return Promise.all(tasks.map((task) => this.#prepareOne(task, lookups)));
  }

  /** Only a task that asks the ledger costs a promise. */
  #prepareOne(task: KeyTask, lookups: BatchLookup): Prepared | Promise<Prepared> {
    try {
      switch (task.kind) {
        case 'generate':
          return this.#drafts.generate(task) ?? EVIDENCE_PENDING;
        case 'record':
          return this.#drafts.record(task);
        case 'recall':
          return this.#recall(task, lookups).catch(failedBy);
        case 'conclude':
          return this.#drafts.conclude(task);
        case 'validate':
          return this.#drafts.validate(task, lookups).catch(failedBy);
        case 'revoke':
          return this.#revoke(task).catch(failedBy);
        case 'take_copies':
          return this.#takeCopies(task).catch(failedBy);
        case 'gather_evidence':
          if (task.isLast) this.#plain.end();
          return this.#plain.hasEvidence() ? { kind: 'evidence_gathered' } : EVIDENCE_PENDING;
        case 'probe':
          this.#plain.generator.probe();
          return { kind: 'probed' };
        case 'flush':
          return { kind: 'flushed' };
        case 'authenticate':
          return this.#authenticate(task).catch(failedBy);
        case 'note_uses':
          return this.#noteUses(task).catch(failedBy);
        case 'withdraw':
          return this.#withdraw(task).catch(failedBy);
      }
    } catch (error) {
      return failedBy(error);
    }
  }

  async #authenticate({
    keyHashes,
    nowMs,
  }: KeyTask & { kind: 'authenticate' }): Promise<KeyTaskResult> {
    this.#requireSound();
    return { kind: 'principals', principals: await this.#store.authenticate(keyHashes, nowMs) };
  }

  async #withdraw({ answer, deliveries }: KeyTask & { kind: 'withdraw' }): Promise<KeyTaskResult> {
    this.#requireSound();
    // First the copies: others fetch them without asking this server.
    if (deliveries) await this.#store.withdrawDeliveries(deliveries);
    if (answer) await this.#store.withdrawAnswer(answer);
    return { kind: 'withdrawn' };
  }

  async #noteUses({ apiKeyIds, hour }: KeyTask & { kind: 'note_uses' }): Promise<KeyTaskResult> {
    this.#requireSound();
    await this.#store.noteApiKeyUses(apiKeyIds, hour);
    return { kind: 'uses_noted' };
  }
}

function failedBy(error: unknown): KeyTaskResult {
  return { kind: 'failed', failure: toFailure(error) };
}

function retiredError(version: number): AppError {
  return new AppError('ledger_unavailable', {
    cause: new Error(`version ${version} of the master secret is retired`),
    retryAfterSeconds: RETIRED_RETRY_SECONDS,
  });
}
