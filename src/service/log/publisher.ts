/**
 * Publishes heads of the log, and never one that contradicts an earlier one.
 *
 * Order of writes: the database holds the tree, then the state file holds the signed head (synced), then the head is
 * stored and served. After a crash between two steps the state file is as new as any served head. Only the stored head is
 * signed, after its consistency with the head in the state file was computed from the tiles (RFC 6962 §2.1.2), and if it
 * carries the seal of a server.
 */
import { FormatError } from '#tlog';
import { MINUTE_MS, SECOND_MS } from '../../clock.ts';
import type { LogRowFault } from '../../ledger/index.ts';
import { openCheckpoint, type TileSource } from '../../log/index.ts';
import type { ClosedCheckpoint } from './closed-logs.ts';
import { isConsistent } from './consistency.ts';
import type { HeadSeals, SealedHead } from './head-seal.ts';
import { type Head, isSameHead, type SignedHead } from './heads.ts';
import { describeFault } from './log-rows.ts';
import {
  closedMessage,
  forkMessage,
  movedMessage,
  shrunkMessage,
  unconfirmedMessage,
} from './publisher-refusals.ts';
import type { ShownCheckpoints } from './shown.ts';
import { LogStopped } from './stopped.ts';

/** The file with the last checkpoint that this server published. */
export interface StateFile {
  readonly path: string;
  /** Returns its text; null if the file is missing. Throws `FormatError` if it holds no checkpoint. */
  read(): string | null;
  /** Replaces the file. Returns when it is synced. */
  write(note: string): void;
  /** Makes the file that is in place durable. */
  sync(): void;
  /** Runs `work` while no other process that shares the file does. Throws if another holds it for too long. */
  alone<T>(work: () => T): T;
}

/** What the database holds about the open log. */
export interface StoredHead extends SealedHead {
  readonly startedMs: number;
  readonly closedMs: number | null;
  /** What no server writes in the rows of the logs; null if they are in order. */
  readonly fault: LogRowFault | null;
  /** True if the database was restored or promoted, and no operator has accepted that. */
  readonly isMoved: boolean;
  /** The newest checkpoint that any server published. */
  readonly checkpoint: string | null;
}

interface PublisherParts {
  readonly origin: string;
  readonly verifierKeys: Parameters<typeof openCheckpoint>[1];
  readonly tiles: TileSource;
  readonly state: StateFile;
  readonly stored: () => Promise<StoredHead>;
  readonly seals: Pick<HeadSeals, 'admit'>;
  /** What others show as checkpoints of this log. */
  readonly shown: ShownCheckpoints;
  /** Returns the checkpoints that witnesses show, before this server signs for the first time. Never rejects. */
  readonly askWitnesses: () => Promise<readonly string[]>;
  /** Judges a checkpoint of a closed log of this database beside a sealed head; null if the note is none. */
  readonly judgeClosed: (note: string, open: Head) => Promise<ClosedCheckpoint | null>;
  readonly sign: (head: Head, nowSeconds: number) => string;
  readonly save: (head: SignedHead) => Promise<void>;
  readonly nowMs: () => number;
}

/** A stored head that continues `base`, the newest head that this server may have published. */
interface Admitted {
  readonly base: SignedHead | null;
  readonly stored: StoredHead;
}

/**
 * Time in which servers may join a new log without a state file. To fork it then, a server would have to lose its file and
 * the database its last minutes, all within this time.
 */
const JOIN_MS = 10 * MINUTE_MS;

/** Attempts to publish while servers that share the state file overtake this one. */
const MAX_ATTEMPTS = 3;

export class Publisher {
  readonly #parts: PublisherParts;
  #published: SignedHead | null = null;
  /** The state file as it was last read, so that its signatures are verified once. */
  #state: SignedHead | null = null;
  /** The newest checkpoint of any server, as it was last read, so that its signatures are verified once. */
  #newest: SignedHead | null = null;
  /** Ends with the question for the newest checkpoint that is on its way. */
  #size: Promise<unknown> = Promise.resolve();
  /** The question that follows it; null if no request waits for one. */
  #nextSize: Promise<number> | null = null;
  /** The state file of the log before a rotation: it counts as a file of this log's beginning. */
  #closedNote: string | null = null;
  /** The head that is known to be durable in the state file. */
  #synced: string | null = null;
  /** Why nothing more may be published; null if it may. */
  #halted: string | null = null;

  /** What witnesses showed before the first signature; null until they were asked. */
  #asked: readonly string[] | null = null;

  constructor(parts: PublisherParts) {
    this.#parts = parts;
  }

  /** The newest served head; null before the first. */
  get published(): SignedHead | null {
    return this.#published;
  }

  /** Ends publishing until a restart: a head that is not yet signed never is. */
  halt(reason: string): void {
    this.#halted = reason;
  }

  /** Forgets the served head: the operator has put another state file in place, which counts from now on. */
  forget(): void {
    this.#published = null;
  }

  /**
   * Returns the stored head after it proved consistent with the last published one, and sealed by a server. Rejects with `LogStopped`, or with
   * the error of the database or the file.
   */
  async admit(): Promise<StoredHead> {
    return (await this.#admit()).stored;
  }

  /**
   * Returns the size of the newest checkpoint that any server has published; 0 without a validly signed one. Never
   * counts entries beyond it: the content at the address of a tile must not change, and a failover may lose entries that
   * were not published.
   */
  newestSize(): Promise<number> {
    // One question at a time: requests that come meanwhile share the next, which sees every checkpoint they can know.
    this.#nextSize ??= this.#size.then(() => {
      const size = this.#readNewestSize();
      this.#size = size.catch(() => {});
      this.#nextSize = null;
      return size;
    });
    return this.#nextSize;
  }

  async #readNewestSize(): Promise<number> {
    const { checkpoint } = await this.#parts.stored();
    if (checkpoint === null) return 0;
    try {
      if (checkpoint !== this.#newest?.note) this.#newest = this.#openNote(checkpoint);
      return this.#newest.size;
    } catch (error) {
      if (error instanceof FormatError) return 0;
      throw error;
    }
  }

  /** Returns a text that changes with the stored head, and when an operator accepts the place of the database. */
  async databaseMark(): Promise<string> {
    const { size, root, isMoved, closedMs, fault } = await this.#parts.stored();
    return JSON.stringify([size, Buffer.from(root).toString('base64'), isMoved, closedMs, fault]);
  }

  /** Signs, keeps and serves the stored head. Returns the newest served head. Rejects as `admit` does. */
  async publish(): Promise<SignedHead> {
    for (let attempt = 1; ; attempt += 1) {
      const signed = this.#keep(await this.#admit());
      if (signed) return this.#serve(signed);
      if (attempt === MAX_ATTEMPTS) throw new Error('other servers keep overtaking this one');
    }
  }

  /**
   * Compares a checkpoint that a witness shows with the stored head. Rejects with `LogStopped` if the keys of this log have
   * signed it and it contradicts the head, or is ahead of it.
   */
  async examine(note: string): Promise<void> {
    const { stored } = await this.#admit();
    await this.#parts.shown.note(note, stored);
  }

  async #admit(): Promise<Admitted> {
    this.#asked ??= await this.#parts.askWitnesses();
    // The file first: a server that shares it may publish in between, and then the database is the newer one.
    await this.#noteRotation();
    const base = await this.#baseOfOpenLog();
    const stored = await this.#parts.stored();
    this.#requireOpen(stored);
    await this.#compare(base, stored);
    // Other servers may have published more than this one's state file shows.
    if (stored.isMoved) throw new LogStopped(movedMessage(this.#parts, stored));
    await this.#parts.seals.admit(stored);
    await this.#compareShown(stored);
    this.#refuseHalted();
    return { base, stored };
  }

  #refuseHalted(): void {
    if (this.#halted !== null) throw new LogStopped(this.#halted);
  }

  /** Compares the stored head with the checkpoints of witnesses and of other servers of this database. */
  async #compareShown(stored: StoredHead): Promise<void> {
    const { shown } = this.#parts;
    await shown.require(stored);
    for (const note of this.#asked ?? []) await shown.note(note, stored);
    this.#asked = [];
    const { checkpoint } = stored;
    if (checkpoint !== null && checkpoint !== this.#published?.note) {
      await shown.note(checkpoint, stored);
    }
    shown.settle();
  }

  /**
   * Accepts the state file of the log that was closed by a rotation, so that servers need no hand at their files. Throws
   * `LogStopped` if the file shows what the operator who rotated did not know.
   */
  async #noteRotation(): Promise<void> {
    const { state, origin, judgeClosed, seals } = this.#parts;
    const note = this.#published === null ? readText(state) : null;
    if (note === null || note === this.#closedNote || note.startsWith(`${origin}\n`)) return;
    const open = await this.#parts.stored();
    if (open.closedMs !== null || open.fault !== null) return;
    // A writer of the database could make another head name any end of the closed log.
    await seals.admit(open);
    const closed = await judgeClosed(note, open);
    if (closed?.kind === 'ended') this.#closedNote = note;
    else if (closed) throw new LogStopped(unconfirmedMessage(this.#parts, closed));
  }

  /**
   * Returns the base, as `#base`. `phm log init --rotate` gives the state file to the next log while this server still
   * runs for the closed one: then the rotation is the reason to stop, not the file.
   */
  async #baseOfOpenLog(): Promise<SignedHead | null> {
    try {
      return this.#base();
    } catch (error) {
      if (error instanceof LogStopped) this.#requireOpen(await this.#parts.stored());
      throw error;
    }
  }

  /** Throws `LogStopped` if the log is closed, or if the rows of the logs are not as servers leave them. */
  #requireOpen({ fault, closedMs }: StoredHead): void {
    if (fault !== null) throw new LogStopped(describeFault(fault), 'altered');
    if (closedMs !== null) throw new LogStopped(closedMessage(this.#parts));
  }

  /** Returns the newest head that this server may have published; null if there can be none. */
  #base(): SignedHead | null {
    const state = this.#readState();
    if (state === null) return this.#published;
    const published = this.#published;
    if (published === null || state.size > published.size) return state;
    if (state.size < published.size || isSameHead(state, published)) return published;
    throw new LogStopped(
      `the state file ${this.#parts.state.path} and this server disagree about the first ${state.size} entries: ` +
        'another log with the same keys writes this file. Give each log its own keys and its own file',
    );
  }

  #readState(): SignedHead | null {
    const { state, origin } = this.#parts;
    try {
      const note = state.read();
      if (note === null || note === this.#closedNote) return null;
      if (note !== this.#state?.note) this.#state = this.#openNote(note);
      return this.#state;
    } catch (error) {
      if (!(error instanceof FormatError)) throw error;
      throw new LogStopped(
        `the state file ${state.path} is not a checkpoint of the log ${origin} (${error.message}): put the ` +
          'right file there, or name it with PHM_LOG_STATE_FILE. If there is none, because the file was lost or the ' +
          'database is new, move this one away and run: phm log recover --accept',
      );
    }
  }

  /** Throws `FormatError` unless the note is a checkpoint of this log. */
  #openNote(note: string): SignedHead {
    const { origin, verifierKeys } = this.#parts;
    const { checkpoint } = openCheckpoint(note, verifierKeys);
    const { size, root } = checkpoint;
    if (checkpoint.origin === origin) return { size, root, note };
    throw new FormatError(`its origin is ${checkpoint.origin}`);
  }

  async #compare(base: SignedHead | null, stored: StoredHead): Promise<void> {
    if (base === null) {
      this.#refuseUnknownPast(stored);
      return;
    }
    if (base === this.#published && isSameHead(base, stored)) return;
    if (stored.size < base.size) throw new LogStopped(shrunkMessage(this.#parts, base, stored));
    if (!(await isConsistent(this.#parts.tiles, base, stored))) {
      const isSigned = await this.#isSigned(stored, base.size);
      throw new LogStopped(forkMessage(this.#parts, base, stored), isSigned ? 'forked' : null);
    }
  }

  /** Reports whether the keys of this log have signed the stored tree from a size on. */
  async #isSigned(stored: StoredHead, size: number): Promise<boolean> {
    const { checkpoint } = stored;
    if (checkpoint === null) return false;
    try {
      const head = this.#openNote(checkpoint);
      return head.size >= size && (await isConsistent(this.#parts.tiles, head, stored));
    } catch (error) {
      if (error instanceof FormatError) return false;
      throw error;
    }
  }

  /** Without a state file, a server can only start a log, or join a new one. */
  #refuseUnknownPast({ size, checkpoint, startedMs }: StoredHead): void {
    const { state, origin, nowMs } = this.#parts;
    const ageMs = nowMs() - startedMs;
    const isNew = (size === 0 && checkpoint === null) || (ageMs >= 0 && ageMs < JOIN_MS);
    if (isNew || this.#closedNote !== null) return;
    throw new LogStopped(
      `the state file ${state.path} is missing, but the log ${origin} has ${size} entries: nothing shows which head was ` +
        'published last. Restore the file. For a new server copy the file of another one, or run: phm log recover',
    );
  }

  /**
   * Returns the stored head, signed and kept in the state file. Returns null if a server that shares the file has
   * meanwhile kept another head. No other server reads, compares or replaces the file meanwhile, so it never goes back.
   */
  #keep(admitted: Admitted): SignedHead | null {
    return this.#parts.state.alone(() => this.#keepAlone(admitted));
  }

  #keepAlone({ base, stored }: Admitted): SignedHead | null {
    if (this.#base() !== base) return null;
    if (base && isSameHead(base, stored)) {
      this.#makeDurable(base);
      return base;
    }
    const { sign, nowMs } = this.#parts;
    const { size, root } = stored;
    const signed = { size, root, note: sign({ size, root }, Math.floor(nowMs() / SECOND_MS)) };
    this.#writeState(signed);
    return signed;
  }

  /**
   * Makes the file as new as a head that is not signed here now. A head that this process did not write may lack the sync of
   * its directory: that sync failed, or its writer died before it.
   */
  #makeDurable(head: SignedHead): void {
    const state = this.#readState();
    if (state === null || state.size < head.size) this.#writeState(head);
    if (this.#synced === head.note) return;
    this.#parts.state.sync();
    this.#synced = head.note;
  }

  #writeState(head: SignedHead): void {
    this.#parts.state.write(head.note);
    this.#state = head;
    this.#synced = head.note;
  }

  async #serve(signed: SignedHead): Promise<SignedHead> {
    if (this.#published?.note === signed.note) return signed;
    await this.#parts.save(signed);
    this.#published = signed;
    return signed;
  }
}

/** Returns the text of the state file; null if there is none, or if it holds no checkpoint. */
function readText(state: StateFile): string | null {
  try {
    return state.read();
  } catch (error) {
    if (error instanceof FormatError) return null;
    throw error;
  }
}
