/**
 * The p-values that are kept with a key as its evidence, in bytes: units of 10^-9, rounded down, 4 bytes each,
 * the lowest first. That keeps every p-value in its class of ten and on its side of the significance level,
 * as no binary fraction of that length would.
 */
import { P_VALUE_LABELS, type PValueReport, TEST_NAMES, type TestName } from '#sp800-22';

/** What p-values can be about: the DRBG's output, and what the modulation makes of it. */
export const STREAM_NAMES = ['carrier', 'modulated'] as const;
export type StreamName = (typeof STREAM_NAMES)[number];

/** The tests that judge each stream: all of them the carrier, the four cheapest the modulation. */
export const STREAM_TESTS: Readonly<Record<StreamName, readonly TestName[]>> = {
  carrier: TEST_NAMES,
  modulated: ['frequency', 'block_frequency', 'runs', 'longest_run'],
};

/** What was found on each stream; nothing on the modulated one when there is no modulation. */
export type StreamPValues = Readonly<Record<StreamName, PValueReport>>;

const UNITS = 1e9;
const NOT_APPLICABLE = 0xffff_ffff;
const BYTES = 4;

/** Each test of each stream, in the order of the bytes. */
const PLACES = STREAM_NAMES.flatMap((stream) =>
  STREAM_TESTS[stream].map((test) => ({ stream, test, length: P_VALUE_LABELS[test].length })),
);

/** How many there are: 188 and 4. */
const COUNT = PLACES.reduce((sum, { length }) => sum + length, 0);

/**
 * In a buffer of their own, so that they cross threads alone. Throws `RangeError` on another number of
 * p-values than the suite's.
 */
export function packPValues(reports: StreamPValues): Uint8Array {
  const pValues = PLACES.flatMap(({ stream, test, length }): readonly (number | null)[] => {
    const found = reports[stream].tests.find(({ name }) => name === test);
    if (!found?.applicable) return new Array<null>(length).fill(null);
    if (found.pValues.length === length) return found.pValues;
    throw new RangeError(`${test} expected ${length} p-values, got ${found.pValues.length}`);
  });
  const packed = new DataView(new ArrayBuffer(COUNT * BYTES));
  for (const [i, p] of pValues.entries()) {
    packed.setUint32(i * BYTES, p === null ? NOT_APPLICABLE : wholeUnits(p), true);
  }
  return new Uint8Array(packed.buffer);
}

/** The product may be rounded up to the edge of a class that `p` is below. */
function wholeUnits(p: number): number {
  const units = Math.floor(p * UNITS);
  return units / UNITS > p ? units - 1 : units;
}

/** Throws `RangeError` on another length. */
export function unpackPValues(bytes: Uint8Array): StreamPValues {
  if (bytes.length !== COUNT * BYTES) {
    throw new RangeError(`"bytes" expected ${COUNT * BYTES}, got ${bytes.length}`);
  }
  const packed = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  let place = 0;
  const tests = PLACES.map(({ stream, test: name, length }) => {
    const units = Array.from({ length }, () => packed.getUint32(BYTES * place++, true));
    if (units[0] === NOT_APPLICABLE) return { stream, name, applicable: false } as const;
    const pValues = units.map((one) => one / UNITS);
    return { stream, name, applicable: true, pValues } as const;
  });
  const of = (stream: StreamName) => ({ tests: tests.filter((test) => test.stream === stream) });
  return { carrier: of('carrier'), modulated: of('modulated') };
}
