/**
 * What is wrong with a JSON text, and where: for error messages, which must not quote the text, and for
 * what `JSON.parse` lets through. `JSON.parse` makes the values; this only looks.
 *
 * Standards: RFC 8259 (JSON); RFC 7493 (I-JSON) §2.1 and §2.3 for what it forbids beyond that.
 */

export interface JsonFault {
  /** "expected a value", as the end of a sentence that names the place. */
  readonly what: string;
  /** From 1. A column counts characters, not bytes. */
  readonly line: number;
  readonly column: number;
  /** The name that occurs twice, of a text with a repeated name. */
  readonly repeated?: string;
}

const SPACE = /[ \t\n\r]*/y;
const LITERAL = /true|false|null/y;
const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
/** A string up to its closing quote, or to what cannot stand in it. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: RFC 8259 §7 forbids them in strings.
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*/y;

/** The first fault of a JSON text; undefined for a text without one. */
export function findJsonFault(text: string): JsonFault | undefined {
  try {
    new Scanner(text).scan();
    return undefined;
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return { what: error.message, ...placeOf(text, error.offset), ...error.more };
  }
}

/** Ends a scan, with what was expected. */
class Fault extends Error {
  readonly offset: number;
  readonly more: { readonly repeated?: string };

  constructor(what: string, offset: number, more: { readonly repeated?: string } = {}) {
    super(what);
    this.offset = offset;
    this.more = more;
  }
}

/** Reads a text from left to right. It keeps its own stack, since a text may nest thousands deep. */
class Scanner {
  readonly #text: string;
  #at = 0;
  /** What is open: of an object the names so far, null for an array. */
  readonly #open: (Set<string> | null)[] = [];

  constructor(text: string) {
    this.#text = text;
  }

  scan(): void {
    do this.#beginValue();
    while (this.#continues());
    if (this.#at < this.#text.length) throw this.#expected('nothing after the value');
  }

  /** Reads a value, or of an array or object what comes before its first value. */
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

  /** After a value: closes what ends here; true when another value follows. */
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

  /** Reads the name of a member and its colon. */
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
    // RFC 7493 §2.1: half of a surrogate pair is no character.
    if (!value.isWellFormed()) throw new Fault('a \\u escape stands for half a character', start);
    return value;
  }

  #brokenString(): Fault {
    const next = this.#text[this.#at];
    if (next === undefined) return this.#expected('the closing quote of a string');
    if (next === '\\') return new Fault('a string has an unknown escape', this.#at);
    return new Fault('a string has a control character that is not escaped', this.#at);
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
