/**
 * One bit in each byte or word: whole numbers or floating-point numbers of two values. Read as bits, they fail the tests
 * whatever generator they come from.
 */

interface WordForm {
  /** What every word is, as a sentence without its end. */
  readonly says: string;
  /** The format that reads them. */
  readonly format: string;
  readonly bytes: number;
}

interface Row extends WordForm {
  readonly low: readonly number[];
  readonly high: readonly number[];
}

/** Fewer words decide nothing. Random words of one byte have two values with a probability below 10^-24. */
const MINIMUM_WORDS = 4;

/**
 * The rarer value is at least one word in so many. A dead generator, all of whose bytes are 0 but for a few, is judged. One
 * that is stuck between two such values is not: it cannot be told from samples.
 */
const RAREST = 32;

/** Returns the form of words of two values, or `null`. The end of the head may cut a word off. */
export function wordFormOf(head: Uint8Array): WordForm | null {
  return ROWS.find((row) => hasOnly(head, row)) ?? null;
}

function hasOnly(head: Uint8Array, { bytes, low, high }: Row): boolean {
  const words = Math.floor(head.length / bytes);
  if (words < MINIMUM_WORDS) return false;
  let highs = 0;
  for (let at = 0; at < words * bytes; at += bytes) {
    if (isAt(head, at, high)) highs++;
    else if (!isAt(head, at, low)) return false;
  }
  return Math.min(highs, words - highs) >= Math.max(1, words / RAREST);
}

function isAt(head: Uint8Array, at: number, word: readonly number[]): boolean {
  return word.every((byte, i) => head[at + i] === byte);
}

/** The widest first: every narrower word of 0 or 1 would be one too. */
const ROWS: readonly Row[] = [
  ...integers(8),
  ...floats(8, [0x3f, 0xf0], [0xbf, 0xf0]),
  ...integers(4),
  ...floats(4, [0x3f, 0x80], [0xbf, 0x80]),
  ...integers(2),
  ...integers(1),
  rowOf('every byte is 0 or 255', 'big', 1, [0], [0xff], 'bit8:0,255'),
];

function integers(bytes: number): Row[] {
  const zero = new Array<number>(bytes).fill(0);
  const one = [...zero.slice(1), 1];
  const minusOne = new Array<number>(bytes).fill(0xff);
  return inBothOrders(bytes, `${bytes * 8}-bit integer`, `bit${bytes * 8}`, {
    zero,
    one,
    minusOne,
  });
}

function floats(bytes: number, plus: readonly number[], minus: readonly number[]): Row[] {
  const fill = (start: readonly number[]): number[] => [
    ...start,
    ...new Array<number>(bytes - start.length).fill(0),
  ];
  const values = { zero: fill([]), one: fill(plus), minusOne: fill(minus) };
  return inBothOrders(bytes, `${bytes * 8}-bit floating-point number`, `bitf${bytes * 8}`, values);
}

interface Values {
  readonly zero: readonly number[];
  readonly one: readonly number[];
  readonly minusOne: readonly number[];
}

function inBothOrders(bytes: number, noun: string, name: string, values: Values): Row[] {
  const orders = bytes === 1 ? (['big'] as const) : (['little', 'big'] as const);
  const { zero, one, minusOne } = values;
  return orders.flatMap((order) => {
    const word = bytes === 1 ? 'byte' : `${noun} (${order}-endian)`;
    const format = bytes === 1 ? name : `${name}${order === 'big' ? 'be' : 'le'}`;
    return [
      rowOf(`every ${word} is 0 or 1`, order, bytes, zero, one, format),
      rowOf(`every ${word} is -1 or 1`, order, bytes, minusOne, one, `${format}:-1,1`),
    ];
  });
}

function rowOf(
  says: string,
  order: 'big' | 'little',
  bytes: number,
  low: readonly number[],
  high: readonly number[],
  format: string,
): Row {
  const inOrder = (word: readonly number[]): readonly number[] =>
    order === 'big' ? word : [...word].reverse();
  return { says, format, bytes, low: inOrder(low), high: inOrder(high) };
}
