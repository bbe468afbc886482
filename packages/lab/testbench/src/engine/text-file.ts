/** A file that grows: its text moves to blobs, which browsers keep out of the heap. */

/** Characters that wait for a blob. */
const PART_CHARACTERS = 2 ** 22;

export class TextFile {
  readonly #type: string;
  readonly #parts: Blob[] = [];
  #texts: string[] = [];
  #characters = 0;

  constructor(type: string) {
    this.#type = type;
  }

  readonly write = (text: string): void => {
    this.#texts.push(text);
    this.#characters += text.length;
    if (this.#characters >= PART_CHARACTERS) this.#flush();
  };

  blob(): Blob {
    this.#flush();
    return new Blob(this.#parts, { type: this.#type });
  }

  #flush(): void {
    this.#parts.push(new Blob(this.#texts));
    this.#texts = [];
    this.#characters = 0;
  }
}
