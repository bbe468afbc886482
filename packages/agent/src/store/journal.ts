/**
 * The journal of handed-out keys: which key ID each local system got, and never a key. A record is durable before its key
 * leaves the agent, so that no system gets a key twice, whatever happens to the process.
 *
 * The file is a list of groups, one a line: 16 hexadecimal digits of the SHA-256 of the rest, a space, and a JSON array of
 * records `[id, reader, isLast, expiresAtMs]`. Only the last group can be torn, because the next is written after its sync; its keys
 * were not handed out. A torn group that others follow is damage, and the agent does not start with it.
 */
import { createHash } from 'node:crypto';

/** Where the journal is. Each call resolves once its bytes are durable. */
export interface JournalFile {
  /** Resolves with the content; empty if there is none yet. */
  read(): Promise<string>;
  append(text: string): Promise<void>;
  /** Puts this content in place of the old one: after a crash the file has one of the two. */
  replace(text: string): Promise<void>;
}

/** One reading of one key. */
export interface Handed {
  readonly id: string;
  /** Role and name of the system. */
  readonly reader: string;
  /** True if no other local system is to read this key. */
  readonly isLast: boolean;
  /** The end of the copy's life: its record is kept longer. */
  readonly expiresAtMs: number;
}

/** The journal cannot be read, or not be written. */
export class JournalError extends Error {
  override readonly name = 'JournalError';
}

/** Records that were forgotten, before the file is written anew. */
const GARBAGE = 10_000;

/** A record outlives its key by this time, so that clocks may differ, and a service may bring back what it had removed. */
const MARGIN_MS = 3_600_000;

interface Waiting {
  readonly records: readonly Handed[];
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

export class Journal {
  readonly #file: JournalFile;
  readonly #handed = new Map<string, Map<string, Handed>>();
  #waiting: Waiting[] = [];
  #writing: Promise<void> | null = null;
  #garbage = 0;
  /** True if the end of the file is not known to be a whole group. */
  #isTorn = true;

  private constructor(file: JournalFile) {
    this.#file = file;
  }

  /** Rejects with `JournalError` if the file is damaged. */
  static async open(file: JournalFile): Promise<Journal> {
    const journal = new Journal(file);
    for (const one of parseJournal(await file.read())) journal.#add(one);
    return journal;
  }

  has(id: string, reader: string): boolean {
    return this.#handed.get(id)?.has(reader) ?? false;
  }

  /** Number of keys that it remembers. */
  get size(): number {
    return this.#handed.size;
  }

  /** Reports whether no local system is to read the key any more. */
  isDone(id: string): boolean {
    return [...(this.#handed.get(id)?.values() ?? [])].some(({ isLast }) => isLast);
  }

  /**
   * Resolves when the records are durable. They count as handed out from the call on, also if it rejects: nobody knows what
   * the file then holds.
   */
  record(records: readonly Handed[]): Promise<void> {
    for (const one of records) this.#add(one);
    return new Promise((resolve, reject) => {
      this.#waiting.push({ records, resolve, reject });
      this.#writing ??= this.#writeAll();
    });
  }

  /** Forgets keys whose copies have expired long ago. `isKept` names those that the service may still have. */
  prune(nowMs: number, isKept: (id: string) => boolean): void {
    for (const [id, readers] of this.#handed) {
      const endMs = Math.max(...[...readers.values()].map(({ expiresAtMs }) => expiresAtMs));
      if (endMs + MARGIN_MS > nowMs || isKept(id)) continue;
      this.#garbage += readers.size;
      this.#handed.delete(id);
    }
  }

  /** Resolves when nothing is being written. */
  async settled(): Promise<void> {
    await this.#writing;
  }

  /** Writes in groups: all that came while the last group was synced. */
  async #writeAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const group = this.#waiting;
      this.#waiting = [];
      try {
        await this.#write(group.flatMap(({ records }) => records));
        for (const { resolve } of group) resolve();
      } catch (cause) {
        this.#isTorn = true;
        const error = new JournalError('the journal cannot be written', { cause });
        for (const { reject } of group) reject(error);
      }
    }
    this.#writing = null;
  }

  async #write(records: readonly Handed[]): Promise<void> {
    const isFull = this.#garbage > Math.max(GARBAGE, this.#handed.size);
    if (!this.#isTorn && !isFull) return this.#file.append(formatGroup(records));
    // The new content has these records too: they were added first.
    await this.#file.replace(this.#content());
    this.#garbage = 0;
    this.#isTorn = false;
  }

  #content(): string {
    return [...this.#handed.values()].map((readers) => formatGroup([...readers.values()])).join('');
  }

  #add(one: Handed): void {
    const readers = this.#handed.get(one.id) ?? new Map<string, Handed>();
    this.#handed.set(one.id, readers.set(one.reader, one));
  }
}

function formatGroup(records: readonly Handed[]): string {
  const json = JSON.stringify(
    records.map(({ id, reader, isLast, expiresAtMs }) => [id, reader, isLast, expiresAtMs]),
  );
  return `${digestOf(json)} ${json}\n`;
}

function parseJournal(text: string): Handed[] {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  const groups = lines.map(parseGroup);
  const torn = groups.indexOf(null);
  // No group has a line end within.
  if (torn !== -1 && torn < groups.length - 1) {
    throw new JournalError(
      `line ${torn + 1} of the journal is damaged: move the file away only once all keys in the box are removed`,
    );
  }
  return groups.flatMap((group) => group ?? []);
}

/** Returns null for a line that was not written whole. */
function parseGroup(line: string): Handed[] | null {
  const [digest = '', json = ''] = [line.slice(0, DIGITS), line.slice(DIGITS + 1)];
  if (digest !== digestOf(json) || line[DIGITS] !== ' ') return null;
  const records = JSON.parse(json) as [string, string, boolean, number][];
  return records.map(([id, reader, isLast, expiresAtMs]) => ({ id, reader, isLast, expiresAtMs }));
}

const DIGITS = 16;

const digestOf = (json: string): string =>
  createHash('sha256').update(json).digest('hex').slice(0, DIGITS);
