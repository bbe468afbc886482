/** One witness: what it has cosigned, and how long to leave it alone after failures. */
import type { NoteSignature, VerifierKey } from '#tlog';
import { SECOND_MS } from '../../clock.ts';
import { consistencyProof, type TileSource } from '../../log/index.ts';
import {
  addCheckpoint,
  type Submission,
  type SubmissionResult,
  shownCheckpoint,
} from './add-checkpoint.ts';
import type { SignedHead } from './heads.ts';
import { LogStopped } from './stopped.ts';

/** Pauses after failures: doubled with each one, up to five minutes. */
const FIRST_PAUSE_MS = 5 * SECOND_MS;
const LONGEST_PAUSE_MS = 300 * SECOND_MS;

interface WitnessParts {
  readonly name: string;
  readonly key: VerifierKey;
  readonly url: string;
  readonly tiles: TileSource;
  /** Called on each failure, and with null at the first success after one. */
  readonly onChange: (name: string, reason: string | null) => void;
  /** Milliseconds of a clock that no one sets. */
  readonly monotonicMs: () => number;
  readonly origin: string;
  /** Compares a checkpoint that the witness shows with the log. Rejects with `LogStopped` if it must stop. */
  readonly examine: (note: string) => Promise<void>;
  readonly submit?: (submission: Submission) => Promise<SubmissionResult>;
}

export class Witness {
  readonly name: string;
  readonly #parts: WitnessParts;
  readonly #submit: (submission: Submission) => Promise<SubmissionResult>;
  /** Size of the last checkpoint it has cosigned, as far as this server knows. */
  #size = 0;
  #failures = 0;
  #restsUntilMs = 0;

  constructor(parts: WitnessParts) {
    this.name = parts.name;
    this.#parts = parts;
    this.#submit = parts.submit ?? addCheckpoint;
  }

  /**
   * Returns the witness's signature on a head; null if it failed, or rests after failures. Rejects only with `LogStopped`: the
   * witness shows a checkpoint that the log must not contradict.
   */
  async cosign(head: SignedHead): Promise<NoteSignature | null> {
    const { onChange, monotonicMs } = this.#parts;
    if (monotonicMs() < this.#restsUntilMs) return null;
    const result = await this.#attempt(head).catch((error: Error) => {
      if (error instanceof LogStopped) throw error;
      return error.message;
    });
    if (typeof result !== 'string') {
      if (this.#failures > 0) onChange(this.name, null);
      this.#failures = 0;
      this.#size = head.size;
      return result;
    }
    this.#restsUntilMs =
      monotonicMs() +
      Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(this.#failures, 10));
    this.#failures += 1;
    onChange(this.name, result);
    return null;
  }

  /** Submits, and once more from the size that the witness names. Returns the signature or the reason of the failure. */
  async #attempt(head: SignedHead): Promise<NoteSignature | string> {
    const first = await this.#send(head);
    const result = first.kind === 'conflict' ? await this.#sendFrom(first.size, head) : first;
    if (result.kind === 'cosigned') return result.signature;
    if (result.kind === 'failed') {
      if (result.contradicts) await this.#examine();
      return result.reason;
    }
    return `the witness keeps changing its size, now ${result.size}: other servers submit heads of this log too`;
  }

  /** Its refusal is only its word. What it shows is signed with the keys of this log, or counts for nothing. */
  async #examine(): Promise<void> {
    const note = await this.shown();
    if (note !== null) await this.#parts.examine(note);
  }

  /** Returns the checkpoint of this log that the witness shows; null if it shows none. */
  shown(): Promise<string | null> {
    const { url, origin } = this.#parts;
    return shownCheckpoint(url, origin);
  }

  async #sendFrom(size: number, head: SignedHead): Promise<SubmissionResult> {
    this.#size = size;
    if (size <= head.size) return this.#send(head);
    return {
      kind: 'failed',
      reason:
        `the witness has cosigned ${size} entries of this log, which has published ${head.size} here: another server is ` +
        'ahead, or the database was restored',
      contradicts: true,
    };
  }

  async #send(head: SignedHead): Promise<SubmissionResult> {
    const { url, key, tiles } = this.#parts;
    const oldSize = Math.min(this.#size, head.size);
    const proof =
      oldSize === 0 || oldSize === head.size
        ? []
        : await consistencyProof(tiles, oldSize, head.size);
    return this.#submit({ url, key, oldSize, proof, note: head.note });
  }
}
