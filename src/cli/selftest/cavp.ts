/**
 * Runs the CTR_DRBG response files (`.rsp`) of NIST's Cryptographic Algorithm Validation Program,
 * as published: The DRBG Validation System (DRBGVS), CAVS 14.3.
 * https://csrc.nist.gov/projects/cryptographic-algorithm-validation-program/random-number-generators
 */
import { hexToBytes } from '../../bytes.ts';
import { answerOf, type KnownAnswer } from '../../drbg/index.ts';

/** The only mechanism of this service. Vectors of other sections are skipped. */
const SUPPORTED_SECTION = 'AES-256 use df';

interface CavpFailure {
  readonly section: string;
  readonly count: number;
  /** Lowercase hexadecimal. */
  readonly expected: string;
  readonly got: string;
}

interface CavpReport {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly failures: readonly CavpFailure[];
}

interface Vector {
  readonly section: string;
  readonly line: number;
  readonly count: number;
  readonly predictionResistance: boolean;
  readonly values: ReadonlyMap<string, readonly Buffer[]>;
}

/**
 * Runs every vector of a response file and counts wrong outputs. Throws `TypeError` with the line number
 * if the file is incomplete, malformed or has no vectors.
 */
export function runCavpFile(text: string): CavpReport {
  let passed = 0;
  let skipped = 0;
  const failures: CavpFailure[] = [];
  for (const vector of new CavpParser().parse(text)) {
    if (vector.section !== SUPPORTED_SECTION) {
      skipped += 1;
      continue;
    }
    const expected = only(vector, 'ReturnedBits').toString('hex');
    const got = runVector(vector).toString('hex');
    if (got === expected) passed += 1;
    else failures.push({ section: vector.section, count: vector.count, expected, got });
  }
  return { passed, failed: failures.length, skipped, failures };
}

function runVector(vector: Vector): Buffer {
  try {
    return answerOf(toKnownAnswer(vector));
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new TypeError(`line ${vector.line}: the vector cannot be run: ${error.message}`, {
      cause: error,
    });
  }
}

/** Converts a vector. The parser has checked that it has all lines. */
function toKnownAnswer(vector: Vector): KnownAnswer {
  return {
    entropyInput: only(vector, 'EntropyInput'),
    nonce: only(vector, 'Nonce'),
    personalization: only(vector, 'PersonalizationString'),
    ...(vector.values.has('EntropyInputReseed') && {
      reseed: {
        entropyInput: only(vector, 'EntropyInputReseed'),
        additionalInput: only(vector, 'AdditionalInputReseed'),
      },
    }),
    additionalInput: both(vector, 'AdditionalInput'),
    ...(vector.predictionResistance && { freshEntropy: both(vector, 'EntropyInputPR') }),
    returnedBits: only(vector, 'ReturnedBits'),
  };
}

function both(vector: Vector, name: string): readonly [Buffer, Buffer] {
  const [first, second] = all(vector, name);
  return [first, second];
}

function all(vector: Vector, name: string): readonly Buffer[] {
  return vector.values.get(name) ?? [];
}

function only(vector: Vector, name: string): Buffer {
  return all(vector, name)[0];
}

// Number of occurrences of each line in a vector, by the functions that the vector tests.
const COMMON_LINES = {
  EntropyInput: 1,
  Nonce: 1,
  PersonalizationString: 1,
  AdditionalInput: 2,
  ReturnedBits: 1,
};
const RESEED_LINES = { ...COMMON_LINES, EntropyInputReseed: 1, AdditionalInputReseed: 1 };
const PREDICTION_RESISTANCE_LINES = { ...COMMON_LINES, EntropyInputPR: 2 };

function expectedLines(predictionResistance: boolean, reseeds: boolean): Record<string, number> {
  if (predictionResistance) return PREDICTION_RESISTANCE_LINES;
  return reseeds ? RESEED_LINES : COMMON_LINES;
}

// Section parameter that declares the length of each line, in bits.
const LENGTH_PARAMETERS: Readonly<Record<string, string>> = {
  EntropyInput: 'EntropyInputLen',
  EntropyInputReseed: 'EntropyInputLen',
  EntropyInputPR: 'EntropyInputLen',
  Nonce: 'NonceLen',
  PersonalizationString: 'PersonalizationStringLen',
  AdditionalInput: 'AdditionalInputLen',
  AdditionalInputReseed: 'AdditionalInputLen',
  ReturnedBits: 'ReturnedBitsLen',
};

const SECTION_LINE = /^\[([^=\]]+)\]$/;
const PARAMETER_LINE = /^\[(\w+) = (\w+)\]$/;
const VALUE_LINE = /^(\w+) = ?([0-9a-fA-F]*)$/;

/** A vector that is being read, from its `COUNT` line to its `ReturnedBits` line. */
interface OpenVector {
  readonly line: number;
  readonly count: number;
  readonly values: Map<string, Buffer[]>;
}

class CavpParser {
  readonly #vectors: Vector[] = [];
  #line = 0;
  #section = '';
  #parameters = new Map<string, string>();
  #nextCount = 0;
  #open: OpenVector | null = null;

  parse(text: string): readonly Vector[] {
    for (const rawLine of text.split('\n')) {
      this.#line += 1;
      const line = rawLine.trim();
      if (line !== '' && !line.startsWith('#')) this.#take(line);
    }
    this.#assertNoOpenVector();
    if (this.#vectors.length === 0) this.#fail('the file contains no vectors');
    return this.#vectors;
  }

  #take(line: string): void {
    const section = SECTION_LINE.exec(line);
    const parameter = PARAMETER_LINE.exec(line);
    const value = VALUE_LINE.exec(line);
    if (section) this.#openSection(section[1]);
    else if (parameter) this.#setParameter(parameter[1], parameter[2]);
    else if (value?.[1] === 'COUNT') this.#openVector(value[2]);
    else if (value) this.#addValue(value[1], value[2]);
    else this.#fail('expected a section, a parameter or "Name = hexadecimal"');
  }

  #openSection(name: string): void {
    this.#assertNoOpenVector();
    this.#section = name;
    this.#parameters = new Map();
    this.#nextCount = 0;
  }

  #setParameter(name: string, value: string): void {
    this.#assertNoOpenVector();
    if (this.#section === '') this.#fail(`parameter ${name} is before the first section`);
    this.#parameters.set(name, value);
  }

  #openVector(count: string): void {
    this.#assertNoOpenVector();
    if (this.#section === '') this.#fail('a vector is before the first section');
    // A gap in the numbering shows that the file has lost vectors.
    if (count !== String(this.#nextCount)) this.#fail(`expected COUNT = ${this.#nextCount}`);
    this.#nextCount += 1;
    this.#open = { line: this.#line, count: Number(count), values: new Map() };
  }

  #addValue(name: string, hex: string): void {
    const open = this.#open ?? this.#fail(`${name} is outside a vector`);
    const parameter = LENGTH_PARAMETERS[name];
    if (parameter === undefined) this.#fail(`unknown name ${name}`);
    const lengthBits = this.#parameters.get(parameter);
    if (lengthBits !== String(hex.length * 4) || hex.length % 2 !== 0) {
      this.#fail(`${name} has ${hex.length * 4} bits, but ${parameter} is ${lengthBits}`);
    }
    const values = open.values.get(name) ?? [];
    values.push(hexToBytes(hex));
    open.values.set(name, values);
    if (name === 'ReturnedBits') this.#closeVector(open);
  }

  #closeVector({ line, count, values }: OpenVector): void {
    const predictionResistance = this.#parameters.get('PredictionResistance') === 'True';
    const lines = expectedLines(predictionResistance, values.has('EntropyInputReseed'));
    for (const name of new Set([...Object.keys(lines), ...values.keys()])) {
      const got = values.get(name)?.length ?? 0;
      const expected = lines[name] ?? 0;
      if (got !== expected) this.#fail(`expected ${expected} lines of ${name}, got ${got}`);
    }
    this.#vectors.push({ section: this.#section, line, count, predictionResistance, values });
    this.#open = null;
  }

  #assertNoOpenVector(): void {
    if (this.#open === null) return;
    this.#fail(`the vector that starts at line ${this.#open.line} has no ReturnedBits`);
  }

  #fail(reason: string): never {
    throw new TypeError(`line ${this.#line}: ${reason}`);
  }
}
