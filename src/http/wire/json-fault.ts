/**
 * Finds the first fault in a JSON text and its position. Error messages must not quote the text, and `JSON.parse`
 * accepts some faults. This module only checks; `JSON.parse` makes the values.
 *
 * Standards: RFC 8259 (JSON); RFC 7493 (I-JSON) §2.1 and §2.3 for further restrictions.
 */

export interface JsonFault {
  /** Description, such as "expected a value": the end of a sentence that names the position. */
  readonly what: string;
  /** Starts at 1. A column counts characters, not bytes. */
  readonly line: number;
  readonly column: number;
  /** The repeated name, if that is the fault. */
  readonly repeated?: string;
}

const SPACE = /[ \t\n\r]*/y;
const LITERAL = /true|false|null/y;
const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
/** A string up to its closing quote, or to the first invalid character. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: RFC 8259 §7 forbids them in strings.
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*/y;

/** Returns the first fault of a JSON text, or undefined. */
export function findJsonFault(text: string): JsonFault | undefined {
  try {
    new Scanner(text).scan();
    return undefined;
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return { what: error.message, ...placeOf(text, error.offset), ...error.more };
  }
}

/** Ends a scan; the message says what was expected. */
class Fault extends Error {
  readonly offset: number;
  readonly more: { readonly repeated?: string };

  constructor(what: string, offset: number, more: { readonly repeated?: string } = {}) {
    super(what);
    this.offset = offset;
    this.more = more;
  }
}

/** Reads a text from left to right. It keeps its own stack, because a text may nest thousands of levels deep. */
class Scanner {
  readonly #text: string;
  #at = 0;
  /** Open objects and arrays: the names so far for an object, null for an array. */
  readonly #open: (Set<string> | null)[] = [];

  constructor(text: string) {
    this.#text = text;
  }

  scan(): void {
    do this.#beginValue();
    while (this.#continues());
    if (this.#at < this.#text.length) throw this.#expected('nothing after the value');
  }

  /** Reads a value; for an array or object, everything before its first value. */
  #beginValue(): void {
    for (;;) {
      this.#skip(SPACE);
      if (this.#take('{')) {
        if (this.#takeAfterSpace('}')) return;
        this.#open.push(new Set());
        this.#name();
      } else if (this.#take('[')) {
        if (this.#takeAfterSpace(']')) return;
        this.#open.push(null);
      } else if (this.#text[this.#at] === '"') {
        this.#string();
        return;
      } else if (this.#skip(LITERAL) || this.#skip(NUMBER)) return;
      else throw this.#expected('a value');
    }
  }

  /** Closes the arrays and objects that end after a value. Returns true if another value follows. */
  #continues(): boolean {
    for (;;) {
      this.#skip(SPACE);
      const names = this.#open.at(-1);
      if (names === undefined) return false;
      if (this.#take(',')) {
        if (names) this.#name();
        return true;
      }
      const end = names ? '}' : ']';
      if (!this.#take(end)) throw this.#expected(`"," or "${end}"`);
      this.#open.pop();
    }
  }

  #name(): void {
    this.#skip(SPACE);
    const start = this.#at;
    if (this.#text[start] !== '"') throw this.#expected('a name in double quotes');
    const name = this.#string();
    const names = this.#open.at(-1);
    if (names?.has(name)) throw new Fault('the name occurs twice', start, { repeated: name });
    names?.add(name);
    if (!this.#takeAfterSpace(':')) throw this.#expected('":"');
  }

  #string(): string {
    const start = this.#at;
    this.#skip(STRING);
    const raw = this.#text.slice(start + 1, this.#at);
    if (!this.#take('"')) throw this.#brokenString();
    if (!raw.includes('\\')) return raw;
    const value = JSON.parse(`"${raw}"`) as string;
    // RFC 7493 §2.1: half of a surrogate pair is not a character.
    if (!value.isWellFormed()) throw new Fault('a \\u escape encodes half a character', start);
    return value;
  }

  #brokenString(): Fault {
    const next = this.#text[this.#at];
    if (next === undefined) return this.#expected('the closing quote of a string');
    if (next === '\\') return new Fault('a string has an unknown escape', this.#at);
    return new Fault('a string has an unescaped control character', this.#at);
  }

  #skip(pattern: RegExp): boolean {
    pattern.lastIndex = this.#at;
    if (!pattern.test(this.#text)) return false;
    this.#at = pattern.lastIndex;
    return true;
  }

  #take(character: string): boolean {
    if (this.#text[this.#at] !== character) return false;
    this.#at += 1;
    return true;
  }

  #takeAfterSpace(character: string): boolean {
    this.#skip(SPACE);
    return this.#take(character);
  }

  #expected(what: string): Fault {
    const found = this.#at < this.#text.length ? '' : ', but the text ends';
    return new Fault(`expected ${what}${found}`, this.#at);
  }
}

function placeOf(text: string, offset: number): { line: number; column: number } {
  const lines = text.slice(0, offset).split(/\r\n|\r|\n/);
  return { line: lines.length, column: [...(lines.at(-1) ?? '')].length + 1 };
}
