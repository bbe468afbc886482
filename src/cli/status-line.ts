/** A progress line on a terminal, removed at the end. */

const CLEAR_LINE = '\r\x1b[K';

export class StatusLine {
  readonly #write: (text: string) => void;
  #visible = false;

  constructor(write: (text: string) => void) {
    this.#write = write;
  }

  show(text: string): void {
    this.#visible = true;
    this.#write(CLEAR_LINE + text);
  }

  /** Removes the line. Call it before other output and at the end. */
  clear(): void {
    if (this.#visible) this.#write(CLEAR_LINE);
    this.#visible = false;
  }
}

/** Returns a line on standard error, which stays empty unless that is a terminal. */
export function terminalLine(err: (text: string) => void): StatusLine {
  return new StatusLine(process.stderr.isTTY ? err : () => {});
}
