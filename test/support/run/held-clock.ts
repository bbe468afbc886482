/** A clock of other processes that stands still until a test moves it, so that no limit passes because the machine is slow. */
import { renameSync, writeFileSync } from 'node:fs';
import { heldUrl } from './shift-clock.ts';

export class HeldClock {
  readonly #file: string;
  readonly #intervalMs: number;
  #nowMs = 0;

  /** It begins with an epoch of that interval. */
  constructor(file: string, intervalMs: number) {
    this.#file = file;
    this.#intervalMs = intervalMs;
    this.#set(Math.ceil(Date.now() / intervalMs) * intervalMs);
  }

  /** For `--import`. */
  get url(): string {
    return heldUrl(this.#file);
  }

  get epoch(): number {
    return Math.floor(this.#nowMs / this.#intervalMs);
  }

  move(byMs: number): void {
    this.#set(this.#nowMs + byMs);
  }

  /** Moves to a second after the beginning of the next epoch. */
  nextEpoch(): void {
    this.#set((this.epoch + 1) * this.#intervalMs + 1_000);
  }

  #set(ms: number): void {
    this.#nowMs = ms;
    // In one step, so that no reader sees an empty file.
    writeFileSync(`${this.#file}.new`, `${ms}`);
    renameSync(`${this.#file}.new`, this.#file);
  }
}
