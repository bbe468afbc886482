/** A journal file that can be lost in part: a crash keeps any beginning of what was not yet durable. */
import type { Clock } from '../../src/clock.ts';
import type { JournalFile } from '../../src/store/journal.ts';

export class SimulatedDisk implements JournalFile {
  /** What survives a crash. */
  content = '';
  isFull = false;
  slowMs = 0;
  readonly #clock: Clock;
  readonly #random: () => number;
  #appending = '';
  #replacing: string | null = null;

  constructor(clock: Clock, random: () => number = Math.random) {
    this.#clock = clock;
    this.#random = random;
  }

  async read(): Promise<string> {
    return this.content;
  }

  async append(text: string): Promise<void> {
    this.#appending = text;
    await this.#clock.sleep(this.#random() * this.slowMs, NEVER);
    // Either the crash came first and decided, or this write ends.
    if (this.#appending !== text) return;
    this.#appending = '';
    if (this.isFull) {
      this.content += this.#beginningOf(text);
      throw new Error('ENOSPC: no space left on device, write');
    }
    this.content += text;
  }

  async replace(text: string): Promise<void> {
    this.#replacing = text;
    await this.#clock.sleep(this.#random() * this.slowMs, NEVER);
    if (this.#replacing !== text) return;
    this.#replacing = null;
    if (this.isFull) throw new Error('ENOSPC: no space left on device, write');
    this.content = text;
  }

  crash(): void {
    this.content += this.#beginningOf(this.#appending);
    if (this.#replacing !== null && this.#random() < 0.5) this.content = this.#replacing;
    this.#appending = '';
    this.#replacing = null;
  }

  #beginningOf(text: string): string {
    return text.slice(0, Math.floor(this.#random() * (text.length + 1)));
  }
}

const NEVER = new AbortController().signal;
