/**
 * Has published heads cosigned, and keeps the newest one with enough cosignatures.
 *
 * A round submits one head to every witness at the same time. It waits for all of them, each of which has its own time
 * limit and back-off. A round comes every five seconds, and at once for a head for which a receipt waits. Every server of a
 * database takes part, except that one skips a head that another server had cosigned within the last round's time.
 */
import { formatNote, meetsQuorum, type NoteSignature, type Policy, parseNote } from '#tlog';
import { SECOND_MS } from '../../clock.ts';
import type { SignedHead } from './heads.ts';
import type { Witness } from './witness.ts';

export const ROUND_MS = 5 * SECOND_MS;

interface CosigningParts {
  readonly policy: Policy;
  readonly witnesses: readonly Pick<Witness, 'cosign' | 'name' | 'shown'>[];
  /** Returns the newest witnessed head that the database holds, after a check; null without. */
  readonly stored: () => Promise<WitnessedHead | null>;
  readonly save: (head: SignedHead) => Promise<void>;
  readonly nowMs: () => number;
}

export interface WitnessedHead extends SignedHead {
  /** Time of its newest cosignature. */
  readonly atMs: number;
}

export class Cosigning {
  readonly #parts: CosigningParts;
  #witnessed: WitnessedHead | null = null;

  constructor(parts: CosigningParts) {
    this.#parts = parts;
  }

  /** The newest head with the quorum, with the log's signatures and the cosignatures; null before the first. */
  get witnessed(): WitnessedHead | null {
    return this.#witnessed;
  }

  /** Returns the checkpoints of this log that the witnesses show. Never rejects. */
  async shown(): Promise<string[]> {
    const notes = await Promise.all(this.#parts.witnesses.map((witness) => witness.shown()));
    return notes.filter((note) => note !== null);
  }

  /**
   * Has a head cosigned unless that was done. Rejects with the error of the database, and with `LogStopped` if a witness
   * shows that the log must stop. A receipt waits for an urgent round.
   */
  async round(head: SignedHead, isUrgent = false): Promise<void> {
    const { nowMs, witnesses } = this.#parts;
    const adopted = await this.#adopt();
    if (!isUrgent && adopted && nowMs() - adopted.atMs < ROUND_MS) return;
    if (this.#witnessed && this.#witnessed.size >= head.size) return;
    const signatures = new Map<string, NoteSignature>();
    await Promise.all(
      witnesses.map(async (witness) => {
        const signature = await witness.cosign(head);
        if (signature) signatures.set(witness.name, signature);
      }),
    );
    await this.#keep(head, signatures);
  }

  /** Takes over a newer head that another server had cosigned. Returns it; null without. */
  async #adopt(): Promise<WitnessedHead | null> {
    const stored = await this.#parts.stored();
    if (!stored || stored.size <= (this.#witnessed?.size ?? -1)) return null;
    this.#witnessed = stored;
    return stored;
  }

  async #keep(head: SignedHead, signatures: ReadonlyMap<string, NoteSignature>): Promise<void> {
    const { policy, save, nowMs } = this.#parts;
    if (!hasQuorum(policy, [...signatures.keys()])) return;
    const { text, signatures: own } = parseNote(head.note);
    const note = formatNote({ text, signatures: [...own, ...signatures.values()] });
    await save({ ...head, note });
    this.#witnessed = { ...head, note, atMs: nowMs() };
  }
}

/** Reports whether these witnesses are enough. A policy with the quorum `none` demands at least one all the same. */
export function hasQuorum(policy: Policy, witnesses: readonly string[]): boolean {
  return witnesses.length > 0 && meetsQuorum(policy, new Set(witnesses));
}
