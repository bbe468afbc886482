/**
 * Bytes of a key's stored p-values: units of 10^-9, rounded down, in 4 bytes each, least significant first. Every
 * p-value keeps its class of ten and its side of the significance level, unlike in a binary fraction of this
 * length.
 */
import type { PValueReport } from '#sp800-22';
import { EVIDENCE_TESTS, type EvidenceTest, evidenceLabels } from './evidence-suite.ts';

/** Streams that p-values judge: the DRBG's output before and after modulation. */
export const STREAM_NAMES = ['carrier', 'modulated'] as const;
export type StreamName = (typeof STREAM_NAMES)[number];

/** Tests per stream: all for the carrier, the four cheapest for the modulated sample. */
export const STREAM_TESTS: Readonly<Record<StreamName, readonly EvidenceTest[]>> = {
  carrier: EVIDENCE_TESTS,
  modulated: ['frequency', 'block_frequency', 'runs', 'longest_run'],
};

/** P-values per stream; without modulation, none for the modulated stream. */
export type StreamPValues = Readonly<Record<StreamName, PValueReport>>;

const UNITS = 1e9;
const NOT_APPLICABLE = 0xffff_ffff;
const BYTES = 4;

/** Each test of each stream, in byte order. */
const PLACES = STREAM_NAMES.flatMap((stream) =>
  STREAM_TESTS[stream].map((test) => ({ stream, test, length: evidenceLabels(test).length })),
);

/** Number of p-values: 188 and 4. */
const COUNT = PLACES.reduce((sum, { length }) => sum + length, 0);

/**
 * Packs p-values into a buffer of their own, so that they can be transferred between threads. Throws `RangeError`
 * if the number of p-values differs from the suite's.
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

/** Rounds down. The product alone may round up to the edge of a class that `p` is below. */
function wholeUnits(p: number): number {
  const units = Math.floor(p * UNITS);
  return units / UNITS > p ? units - 1 : units;
}

/** Returns the p-values of packed bytes. Throws `RangeError` on a wrong length. */
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
