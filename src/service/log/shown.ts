/**
 * Checkpoints of this log that others show: a witness, another server of the database, or the file of an earlier find.
 *
 * A checkpoint that the keys of this log signed is evidence, whoever shows it: they signed it in another copy of this
 * server, or somebody else has them. Nobody else's word counts, or one hostile witness could halt every log.
 *
 * - It contradicts the stored tree: the log has forked. That never ends, so it survives a restart in the file.
 * - It covers more entries than the database has: the database lost them, or another copy of this server is ahead. Only its
 *   entries would tell, so the log stops, as with a state file that is ahead. It continues once the database has them.
 */
import { FormatError } from '#tlog';
import { openCheckpoint, rootAt, type TileSource } from '../../log/index.ts';
import { isConsistent } from './consistency.ts';
import { type Head, isSameHead, type SignedHead } from './heads.ts';
import { LogStopped } from './stopped.ts';

/** Keeps what was shown, as `StateFile` keeps what was published. */
export interface ShownFile {
  readonly path: string;
  /** Returns null without a file. */
  read(): string | null;
  write(note: string): void;
  remove(): void;
}

interface ShownParts {
  readonly origin: string;
  readonly verifierKeys: Parameters<typeof openCheckpoint>[1];
  readonly tiles: TileSource;
  readonly file: ShownFile;
}

export class ShownCheckpoints {
  readonly #parts: ShownParts;
  /** What the stored tree does not continue; undefined before the file was read. */
  #open: SignedHead | null | undefined;
  #isKept = true;
  /** The text that was compared last, so that its signatures are verified once. */
  #compared: string | null = null;

  constructor(parts: ShownParts) {
    this.#parts = parts;
  }

  /**
   * Compares the kept checkpoint, if there is one, with the stored head, which must continue what this server published.
   * Rejects with `LogStopped` if it contradicts that head, or is ahead of it.
   */
  async require(stored: Head): Promise<void> {
    if (this.#open === undefined) this.#open = this.#readFile();
    if (this.#open !== null) await this.#compare(this.#open, stored);
  }

  /** Forgets the kept checkpoint after `require`: the log may continue. */
  settle(): void {
    if (!this.#open) return;
    this.#open = null;
    this.#parts.file.remove();
  }

  /**
   * Notes what somebody shows beside the stored head that was read later. Rejects as `require` does. Ignores what is not
   * signed with the keys of this log.
   */
  async note(note: string, stored: Head): Promise<void> {
    if (note === this.#compared) return;
    const shown = this.#opened(note);
    if (shown !== null) await this.#compare(shown, stored);
    this.#compared = note;
  }

  async #compare(shown: SignedHead, stored: Head): Promise<void> {
    const { tiles, origin } = this.#parts;
    if (shown.size > stored.size) {
      this.#keep(shown);
      throw new LogStopped(this.#aheadMessage(shown, stored));
    }
    const own = { size: shown.size, root: await rootAt(tiles, shown.size) };
    if (isSameHead(own, shown)) return;
    // Otherwise the stored tiles are wrong, and say nothing about the checkpoint.
    if (!(await isConsistent(tiles, own, stored))) {
      throw new LogStopped(
        `the tiles of the log ${origin} in the database do not give its root: they were changed. Restore the database, and ` +
          'run: phm log check',
      );
    }
    this.#keep(shown);
    throw new LogStopped(this.#forkMessage(shown), 'forked');
  }

  #keep(shown: SignedHead): void {
    if (this.#open?.note === shown.note) return;
    this.#open = shown;
    try {
      this.#parts.file.write(shown.note);
      this.#isKept = true;
    } catch {
      // A full disk must not hide a fork. Until a restart, memory is enough.
      this.#isKept = false;
    }
  }

  #readFile(): SignedHead | null {
    const note = this.#parts.file.read();
    return note === null ? null : this.#opened(note);
  }

  /** Returns null unless the keys of this log have signed the note. */
  #opened(note: string): SignedHead | null {
    const { origin, verifierKeys } = this.#parts;
    try {
      const { checkpoint } = openCheckpoint(note, verifierKeys);
      const { size, root } = checkpoint;
      return checkpoint.origin === origin ? { size, root, note } : null;
    } catch (error) {
      if (error instanceof FormatError) return null;
      throw error;
    }
  }

  #place(): string {
    const { path } = this.#parts.file;
    return this.#isKept ? `The checkpoint is in ${path}` : `It could not be written to ${path}`;
  }

  #forkMessage({ size }: Head): string {
    const { origin } = this.#parts;
    return (
      `the log ${origin} has forked: its keys have signed a checkpoint of ${size} entries that contradicts the database. ` +
      `Another copy of this server ran, or the keys leaked. ${this.#place()}: keep it, stop the other ` +
      'server, then start a new log: phm log init --rotate. See docs/incidents.md#the-log-has-forked'
    );
  }

  #aheadMessage(shown: Head, stored: Head): string {
    const { origin } = this.#parts;
    return (
      `the keys of the log ${origin} have signed a checkpoint of ${shown.size} entries, but the database has ` +
      `${stored.size}: it was restored, or another copy of this server is ahead. ${this.#place()}. If ` +
      'entries are missing, run, with a copy that has them: phm log recover --from COPY. If another copy runs: ' +
      'docs/incidents.md#the-log-has-forked'
    );
  }
}
