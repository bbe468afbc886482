/**
 * The transparency log at work: takes turns, publishes, has heads cosigned, and answers. It runs in the log worker
 * thread, with everything outside injected.
 */
import { formatEntries } from '#tlog';
import { SECOND_MS } from '../../clock.ts';
import type { LogBytesAnswer, ReceiptAnswer, ReceiptHolder } from './api.ts';
import { type Cosigning, ROUND_MS } from './cosigning.ts';
import type { SignedHead } from './heads.ts';
import type { LogNotice } from './notices.ts';
import { pauseMs, restMs } from './pace.ts';
import type { Publisher, StateFile } from './publisher.ts';
import type { Receipts } from './receipts.ts';
import type { Sequencer } from './sequencer.ts';
import { type Halt, LogStopped } from './stopped.ts';
import { type StoredTiles, TILE_WIDTH } from './tile-source.ts';

/** Pause after a failed turn. */
const RETRY_MS = SECOND_MS;

/** Time between two looks at the state file while the log is stopped, and between two upkeeps. */
const CHECK_MS = 2 * SECOND_MS;

const HASH_BYTES = 32;

interface EngineParts {
  readonly publisher: Publisher;
  readonly sequencer: Pick<Sequencer, 'turn'>;
  readonly receipts: Receipts;
  readonly tiles: StoredTiles;
  /** Null without witnesses. */
  readonly cosigning: Cosigning | null;
  readonly state: StateFile;
  readonly intervalMs: number;
  /** Counts entries and, while `mayWrite`, moves stranded ones to the open log, every two seconds. */
  readonly upkeep: (mayWrite: () => boolean) => Promise<void>;
  readonly notify: (notice: LogNotice) => void;
  /** Describes an error for the log, without its message unless that is known to be harmless. */
  readonly describe: (error: unknown) => string;
  /** Why the log cannot run from the start; null if it can. */
  readonly stopped: string | null;
  /** Why no key may leave the server from the start; null if keys may. */
  readonly halt?: Halt | null;
  /** Milliseconds between two upkeeps. The default is two seconds. */
  readonly checkMs?: number;
}

/** A request that waits for the next head. */
type Waiter = () => void;

/** Resolves with true when the waiter in the set is called, and with false after `limitMs`. */
function waitIn(waiters: Set<Waiter>, limitMs: number): Promise<boolean> {
  if (limitMs <= 0) return Promise.resolve(false);
  return new Promise((resolve) => {
    const waiter = () => {
      clearTimeout(timer);
      resolve(true);
    };
    const timer = setTimeout(() => {
      waiters.delete(waiter);
      resolve(false);
    }, limitMs);
    waiters.add(waiter);
  });
}

export class LogEngine {
  readonly #parts: EngineParts;
  #stopped: string | null;
  /** The state file at the stop: once it changes, `phm log recover` may have ended the cause. */
  #stateAtStop: string | null = null;
  /** What the database held when the log last tried to continue after the stop; null before the first time. */
  #triedAt: string | null = null;
  /** True if only a restart can end the stop. */
  #isCondemned: boolean;
  /** True if a check found the ledger damaged: nothing is written to it any more. */
  #isDamaged = false;
  /** Why the last turn failed; null if it did not. */
  #delay: string | null = null;
  /** True if the last turn left entries, because it may take only so many. */
  #isBehind = false;
  #closing = false;
  #entriesWait = true;
  readonly #waiters = new Set<Waiter>();
  /** Receipts that wait for cosignatures. */
  readonly #cosignWaiters = new Set<Waiter>();
  #turn: Promise<void> | null = null;
  #turnStartMs = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;
  /** Turns rest until an interval after the first turn of a backlog, so that they do not fall behind for long. */
  #restsUntilMs = 0;
  /** Ends the rest in progress. */
  #endRest: () => void = () => {};
  readonly #timers: NodeJS.Timeout[] = [];
  #round: Promise<void> | null = null;
  /** True if a receipt waits for a newer head than that of the round in progress. */
  #isRoundDue = false;

  constructor(parts: EngineParts) {
    this.#parts = parts;
    this.#stopped = parts.stopped;
    this.#isCondemned = parts.stopped !== null;
  }

  /** Starts turns, rounds of witnesses, and upkeep. */
  start(): void {
    if (this.#stopped !== null) {
      const { halt = null } = this.#parts;
      this.#parts.notify({ kind: 'stopped', reason: this.#stopped, halt });
    }
    this.#schedule();
    const { checkMs = CHECK_MS } = this.#parts;
    this.#timers.push(setInterval(() => void this.#keepUp(), checkMs));
    if (this.#parts.cosigning) {
      this.#timers.push(setInterval(() => this.#startRound(), ROUND_MS));
    }
  }

  /** Notes that this server has recorded keys. */
  recorded(): void {
    if (this.#entriesWait) return;
    this.#entriesWait = true;
    this.#schedule();
  }

  /**
   * Returns a receipt. With `waitMs` > 0 it waits for a head that began after this call, and then for cosignatures of it if
   * the log has witnesses.
   */
  async receipt(keyId: string, holder: ReceiptHolder, waitMs: number): Promise<ReceiptAnswer> {
    const deadlineMs = performance.now() + waitMs;
    let answer: ReceiptAnswer = { kind: 'pending' };
    for (let witnessed: SignedHead | null = null; ; ) {
      const leftMs = deadlineMs - performance.now();
      const isInTime =
        waitMs === 0 ||
        (answer.kind === 'not_cosigned'
          ? await this.#nextWitnessed(witnessed, leftMs)
          : await this.#nextHead(leftMs));
      if (this.#stopped !== null) return { kind: 'stopped' };
      if (!isInTime) return answer;
      witnessed = this.#parts.cosigning?.witnessed ?? null;
      answer = await this.#parts.receipts.find(keyId, holder);
      if (this.#stopped !== null) return { kind: 'stopped' };
      const mayCome = answer.kind === 'pending' || answer.kind === 'not_cosigned';
      if (!mayCome || waitMs === 0) return answer;
    }
  }

  async tile(level: number, index: number, width: number): Promise<LogBytesAnswer> {
    const refusal = await this.#refusal(level, index, width);
    if (refusal) return refusal;
    return this.#unlessStopped(await this.#parts.tiles.tile(level, index, width));
  }

  async entries(index: number, width: number): Promise<LogBytesAnswer> {
    const refusal = await this.#refusal(0, index, width);
    if (refusal) return refusal;
    const hashes = await this.#parts.tiles.entries(index * TILE_WIDTH, width);
    const entries = Array.from({ length: width }, (_, i) =>
      hashes.subarray(i * HASH_BYTES, (i + 1) * HASH_BYTES),
    );
    return this.#unlessStopped(formatEntries(entries));
  }

  /** Stops until a restart, because a check found the ledger damaged. */
  condemn(damage: string): void {
    const reason = `the ledger is damaged: ${damage}`;
    this.#isCondemned = true;
    this.#isDamaged = true;
    clearTimeout(this.#timer);
    // A turn in progress may be in its last transaction, after which it would publish.
    this.#parts.publisher.halt(reason);
    if (this.#stopped === null) this.#stop(reason);
    this.#endRest();
    this.#releaseAll();
  }

  /** Takes the last turns, so that the log holds the last keys, and ends. */
  async close(): Promise<void> {
    this.#closing = true;
    this.#endRest();
    clearTimeout(this.#timer);
    for (const timer of this.#timers) clearInterval(timer);
    await this.#turn;
    if (this.#stopped === null) await this.#run();
    while (this.#isBehind && this.#stopped === null) await this.#run();
    await this.#round;
  }

  /** Bytes that were read while the log stopped may come from a damaged ledger. */
  #unlessStopped(bytes: Uint8Array): LogBytesAnswer {
    return this.#stopped === null ? { kind: 'bytes', bytes } : { kind: 'stopped' };
  }

  /** Resolves with true after a turn that began later than this call, and with false after `limitMs`. */
  #nextHead(limitMs: number): Promise<boolean> {
    const head = waitIn(this.#waiters, limitMs);
    this.#endRest();
    this.#schedule();
    return head;
  }

  /** Resolves with true once another head than `before` has the quorum, and with false after `limitMs`. */
  #nextWitnessed(before: SignedHead | null, limitMs: number): Promise<boolean> {
    if (this.#parts.cosigning?.witnessed !== before) return Promise.resolve(true);
    const head = waitIn(this.#cosignWaiters, limitMs);
    this.#hastenRound();
    return head;
  }

  async #refusal(level: number, index: number, width: number): Promise<LogBytesAnswer | null> {
    if (this.#stopped !== null) return { kind: 'stopped' };
    const { publisher } = this.#parts;
    const end = index * TILE_WIDTH + width;
    const isWithin = (size: number) => end <= Math.floor(size / TILE_WIDTH ** level);
    if (isWithin(publisher.published?.size ?? 0)) return null;
    // Clients see one log: another server may have given them a newer checkpoint, whose tiles all servers must have.
    return isWithin(await publisher.newestSize()) ? null : { kind: 'absent' };
  }

  #schedule(): void {
    if (this.#turn || this.#closing || this.#stopped !== null) return;
    clearTimeout(this.#timer);
    const work = { entriesWait: this.#entriesWait, receiptsWait: this.#waiters.size > 0 };
    const pause = this.#delay === null ? pauseMs(this.#parts.intervalMs, work) : RETRY_MS;
    const dueMs = this.#isBehind ? 0 : this.#turnStartMs + pause - performance.now();
    this.#timer = setTimeout(() => void this.#run(), Math.max(0, dueMs));
  }

  async #run(): Promise<void> {
    if (this.#isDamaged) return;
    this.#turnStartMs = performance.now();
    if (!this.#isBehind) this.#restsUntilMs = this.#turnStartMs + this.#parts.intervalMs;
    this.#turn = this.#takeTurn();
    await this.#turn;
    this.#turn = null;
    this.#schedule();
  }

  async #takeTurn(): Promise<void> {
    const waiters = [...this.#waiters];
    this.#entriesWait = false;
    this.#isBehind = false;
    const { publisher, sequencer, notify } = this.#parts;
    // After a stop the main thread has no head: it needs this one, even if it is the one from before the stop.
    const before = this.#stopped === null ? publisher.published : null;
    try {
      const { setAside, more } = await sequencer.turn((workedMs) => this.#rest(workedMs));
      this.#isBehind = more;
      if (setAside > 0) notify({ kind: 'set_aside', entries: setAside });
      this.#noteDelay(null);
      this.#resume();
      this.#release(waiters);
    } catch (error) {
      if (!this.#isCondemned && error instanceof LogStopped) this.#stop(error.message, error.halt);
      else if (!this.#isCondemned) this.#noteDelay(this.#parts.describe(error));
      this.#entriesWait = true;
      if (this.#stopped !== null) this.#releaseAll();
    }
    const { published } = publisher;
    if (published && published !== before && this.#stopped === null) {
      notify({ kind: 'published', size: published.size, note: published.note });
      if (waiters.length > 0) this.#hastenRound();
    }
  }

  /**
   * Leaves the cores to the other threads for a while. Ends early if a receipt waits or the log closes. Rejects with
   * `LogStopped` if the ledger was found damaged meanwhile.
   */
  async #rest(workedMs: number): Promise<void> {
    const leftMs = this.#restsUntilMs - performance.now();
    if (leftMs > 0 && this.#waiters.size === 0 && !this.#closing) {
      await this.#pause(Math.min(leftMs, restMs(workedMs)));
    }
    if (this.#isCondemned) throw new LogStopped(this.#stopped ?? '');
  }

  /** Resolves after `ms`, or when `#endRest` is called. */
  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#endRest(), ms);
      this.#endRest = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** A round rejects with `LogStopped` if a witness shows a checkpoint that this log must not contradict. */
  #noteShown(error: unknown): void {
    if (!(error instanceof LogStopped) || this.#isCondemned) return;
    this.#stop(error.message, error.halt);
    this.#releaseAll();
  }

  #noteDelay(reason: string | null): void {
    if (this.#delay === reason) return;
    this.#delay = reason;
    this.#parts.notify({ kind: 'delayed', reason });
  }

  #stop(reason: string, halt: Halt | null = null): void {
    // No operator can take a signature back: only a new log ends a fork.
    if (halt === 'forked') {
      this.#isCondemned = true;
      this.#parts.publisher.halt(reason);
    }
    this.#stateAtStop = this.#readState();
    if (this.#stopped === reason) return;
    this.#stopped = reason;
    this.#triedAt = null;
    this.#parts.notify({ kind: 'stopped', reason, halt });
  }

  /** Ends a stop after a turn that succeeded. */
  #resume(): void {
    if (this.#stopped === null || this.#isCondemned) return;
    this.#stopped = null;
    this.#parts.notify({ kind: 'resumed' });
  }

  #releaseAll(): void {
    this.#release(this.#waiters);
    this.#release(this.#cosignWaiters);
  }

  /** Lets requests continue. One whose time is over has left the set, and notices nothing. */
  #release(waiters: Iterable<Waiter>): void {
    for (const waiter of waiters) {
      this.#waiters.delete(waiter);
      waiter();
    }
  }

  #readState(): string | null {
    try {
      return this.#parts.state.read();
    } catch {
      return null;
    }
  }

  async #keepUp(): Promise<void> {
    if (this.#stopped !== null && !this.#isCondemned) await this.#tryAgainIfRecovered();
    if (this.#isDamaged) return;
    await this.#parts.upkeep(() => !this.#isDamaged).catch(() => {});
  }

  /**
   * Takes a turn if state file or database have changed, perhaps by a command on another server. Only its success ends
   * the stop: a newer state file may show that entries are missing.
   */
  async #tryAgainIfRecovered(): Promise<void> {
    const state = this.#readState();
    const isReplaced = state !== null && state !== this.#stateAtStop;
    const database = await this.#parts.publisher.databaseMark().catch(() => this.#triedAt);
    if (!isReplaced && database === this.#triedAt) return;
    // Meanwhile, another check may have begun, or the ledger may have been found damaged.
    if (this.#turn || this.#closing || this.#stopped === null || this.#isCondemned) return;
    if (isReplaced) this.#parts.publisher.forget();
    this.#triedAt = database;
    await this.#run();
    if (this.#delay !== null) this.#triedAt = null;
  }

  /** Has the newest head cosigned now, or after the round in progress. */
  #hastenRound(): void {
    if (this.#round) this.#isRoundDue = true;
    else this.#startRound(true);
  }

  /** Lets receipts continue if another head than `before` has the quorum, and starts the next round if one is due. */
  #followRound(before: SignedHead | null): void {
    if (this.#parts.cosigning?.witnessed !== before) this.#release(this.#cosignWaiters);
    const isDue = this.#isRoundDue;
    this.#isRoundDue = false;
    if (isDue && !this.#closing) this.#startRound(true);
  }

  #startRound(isUrgent = false): void {
    const { cosigning, publisher } = this.#parts;
    const head = publisher.published;
    if (!cosigning || !head || this.#round || this.#stopped !== null) return;
    const before = cosigning.witnessed;
    this.#round = cosigning
      .round(head, isUrgent)
      .catch((error) => this.#noteShown(error))
      .then(() => {
        this.#round = null;
        this.#followRound(before);
        const { witnessed } = cosigning;
        if (!witnessed || witnessed === before || this.#stopped !== null) return;
        const { size, note, atMs } = witnessed;
        this.#parts.notify({ kind: 'witnessed', size, note, atMs });
      });
  }
}
