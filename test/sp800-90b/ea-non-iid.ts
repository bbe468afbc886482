/** Compares our estimates with the values that NIST's program prints. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { aesCtr } from '../support/lab/aes-stream.ts';

type Figures = Readonly<Record<string, number>>;

interface Reference {
  readonly bitsPerSymbol: number;
  readonly hOriginal: number;
  readonly hBitstring: number | null;
  readonly minEntropyPerSymbol: number;
  readonly literal: Readonly<Record<string, Figures>>;
  readonly bitstring: Readonly<Record<string, Figures>> | null;
}

const FILE = join(import.meta.dirname, '../vectors/sp800-90b/ea-non-iid.json');

export const REFERENCES: Readonly<Record<'bits' | 'bytes', Reference>> = JSON.parse(
  readFileSync(FILE, 'utf8'),
);

const KEY = Uint8Array.from({ length: 32 }, (_, i) => i);

export const aesBytes = (): Uint8Array => aesCtr(KEY, 1_000_000);

/** Returns the first 1,000,000 bits, one a byte. */
export function aesBits(): Uint8Array {
  const bytes = aesCtr(KEY, 125_000);
  return Uint8Array.from({ length: 1_000_000 }, (_, i) => (bytes[i >> 3] >> (7 - (i & 7))) & 1);
}

/** Asserts equality to at least 11 digits; counts must be equal. */
export function assertFigures(got: object | undefined, expected: Figures, name: string): void {
  assert.ok(got, name);
  for (const [figure, value] of Object.entries(expected)) {
    const ours: number = { ...got }[figure] as unknown as number;
    const bound = Number.isInteger(value) ? 0 : 1e-11 * Math.max(1, Math.abs(value));
    assert.ok(Math.abs(ours - value) <= bound, `${name} ${figure}: ${ours}, expected ${value}`);
  }
}
