/** One line that shows how far a command is, on a terminal only, and is taken away at the end. */

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

  /** Takes the line away, before other output and at the end. */
  clear(): void {
    if (this.#visible) this.#write(CLEAR_LINE);
    this.#visible = false;
  }
}

/** A line on standard error; it stays empty when nobody looks at a terminal. */
export function terminalLine(err: (text: string) => void): StatusLine {
  return new StatusLine(process.stderr.isTTY ? err : () => {});
}
