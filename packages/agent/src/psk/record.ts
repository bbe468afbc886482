/**
 * What an end must know after a restart, on disk before it acts on it: which key it uses, and which one is agreed for which epoch. It
 * names keys by their IDs, and holds none. The file is small, and replaced as a whole.
 */
import { JournalError, type JournalFile } from '../store/journal.ts';

/** The key of an epoch. */
export interface EpochKey {
  readonly epoch: number;
  readonly id: string;
}

export interface CurrentKey extends EpochKey {
  /** False from before it is installed until it is confirmed. */
  readonly isConfirmed: boolean;
}

export interface Plan {
  readonly id: string;
  /**
   * `proposed`: the leader has it made. `agreed`: both ends have it, and there is no other for this epoch. `failed`: it was taken
   * back, and is not tried again.
   */
  readonly stage: 'proposed' | 'agreed' | 'failed';
  /** How many keys were proposed for this epoch. */
  readonly tries: number;
}

export interface State {
  /** The key that is in use, or being installed. */
  readonly current: CurrentKey | null;
  /** What comes back if the current key is not confirmed. */
  readonly previous: EpochKey | null;
  /** By epoch. */
  readonly plans: ReadonlyMap<number, Plan>;
}

interface Content extends Omit<State, 'plans'> {
  readonly link: string;
  readonly plans: readonly [number, Plan][];
}

const EMPTY: State = { current: null, previous: null, plans: new Map() };

export class PskRecord {
  readonly #file: JournalFile;
  readonly #link: string;
  #state: State;
  #writing: Promise<void> = Promise.resolve();

  private constructor(file: JournalFile, link: string, state: State) {
    this.#file = file;
    this.#link = link;
    this.#state = state;
  }

  /** What is recorded of another link counts as nothing. Rejects with `JournalError` if the file is damaged. */
  static async open(file: JournalFile, link: string): Promise<PskRecord> {
    return new PskRecord(file, link, parse(await file.read(), link));
  }

  get state(): State {
    return this.#state;
  }

  /**
   * Resolves once the changed state is durable, and only then is it the state. Changes follow one another. Rejects with `JournalError`:
   * then the file has the old state or the new one, and the caller MUST NOT act on the new one.
   */
  async update(change: (state: State) => State): Promise<void> {
    const before = this.#writing;
    const written = before.then(() => this.#write(change(this.#state)));
    this.#writing = written.catch(() => {});
    await written;
  }

  async #write(state: State): Promise<void> {
    if (state === this.#state) return;
    const { current, previous, plans } = state;
    const content: Content = { link: this.#link, current, previous, plans: [...plans] };
    try {
      await this.#file.replace(`${JSON.stringify(content)}\n`);
    } catch (cause) {
      throw new JournalError('the record of keys cannot be written', { cause });
    }
    this.#state = state;
  }

  /** Resolves when nothing is being written. */
  async settled(): Promise<void> {
    await this.#writing;
  }
}

function parse(text: string, own: string): State {
  if (text === '') return EMPTY;
  try {
    const { link, current, previous, plans } = JSON.parse(text) as Content;
    return link === own ? { current, previous, plans: new Map(plans) } : EMPTY;
  } catch (cause) {
    throw new JournalError('the record of keys is damaged: move the file psk away', { cause });
  }
}

/** Returns plans in which one is changed, or left out. */
export function withPlan(
  plans: State['plans'],
  epoch: number,
  plan: Plan | null,
): ReadonlyMap<number, Plan> {
  const others = [...plans].filter(([one]) => one !== epoch);
  return new Map(plan === null ? others : [...others, [epoch, plan]]);
}
