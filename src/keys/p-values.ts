/**
 * The suite's p-values of one sample as bytes: units of 10^-9, rounded down, 4 bytes each, the lowest
 * first. That keeps every p-value in its class of ten and on its side of the significance level, as no
 * binary fraction of that length would.
 */
import { P_VALUE_LABELS, type PValueReport, TEST_NAMES } from '../sts/index.ts';

const UNITS = 1e9;
const NOT_APPLICABLE = 0xffff_ffff;
const BYTES = 4;

/** How many there are: 188. */
const COUNT = TEST_NAMES.reduce((sum, test) => sum + P_VALUE_LABELS[test].length, 0);

/** In a buffer of their own, so that they cross threads alone. Throws `RangeError` on other than the suite's. */
export function packPValues({ tests }: PValueReport): Uint8Array {
  const pValues = TEST_NAMES.flatMap((name): readonly (number | null)[] => {
    const length = P_VALUE_LABELS[name].length;
    const test = tests.find((one) => one.name === name);
    if (!test?.applicable) return new Array<null>(length).fill(null);
    if (test.pValues.length === length) return test.pValues;
    throw new RangeError(`${name} expected ${length} p-values, got ${test.pValues.length}`);
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
export function unpackPValues(bytes: Uint8Array): PValueReport {
  if (bytes.length !== COUNT * BYTES) {
    throw new RangeError(`"bytes" expected ${COUNT * BYTES}, got ${bytes.length}`);
  }
  const packed = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  let place = 0;
  const tests = TEST_NAMES.map((name) => {
    const units = P_VALUE_LABELS[name].map(() => packed.getUint32(BYTES * place++, true));
    if (units[0] === NOT_APPLICABLE) return { name, applicable: false } as const;
    return { name, applicable: true, pValues: units.map((one) => one / UNITS) } as const;
  });
  return { tests };
}
