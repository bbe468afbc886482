/**
 * Classes of the p-values of sound sequences, one byte each, saved by length and test: 0 to 9 for the tenth of
 * p, `BELOW_ALPHA` for p < 0.01 and `INAPPLICABLE`.
 *
 * Sequence i of n bits is the stream of AES-256-CTR under the key SHA-256("phm second level n"), from block
 * i · 2^64 on. So every run gives the same sequences, and a run can continue an earlier one.
 */
import { createCipheriv, createHash } from 'node:crypto';
import { appendFileSync, existsSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import {
  ALPHA,
  NIST_PARAMETERS,
  rowLabels,
  runPackedSuite,
  type SuiteReport,
  TEST_NAMES,
  type TestName,
} from '../../../sp800-22/src/index-node.ts';
import { classOf } from '../../../sp800-22/src/p-value-laws.ts';

export const BELOW_ALPHA = 10;
export const INAPPLICABLE = 255;

/** About as many bytes of sequences are tested before classes are saved. */
const BATCH_BYTES = 2 ** 22;

/** Returns sequence `i` of `n` bits, packed. */
export function soundSequence(n: number, i: number): Buffer {
  const key = createHash('sha256').update(`phm second level ${n}`).digest();
  const start = Buffer.alloc(16);
  start.writeUInt32BE(i, 4);
  return createCipheriv('aes-256-ctr', key, start).update(Buffer.alloc(Math.ceil(n / 8)));
}

/** Returns the labels of the p-values that are saved: those of the NIST program's parameters. */
export function labelsOf(test: TestName, n: number): readonly string[] {
  return rowLabels(test, n, NIST_PARAMETERS);
}

function pathOf(folder: string, n: number, test: TestName): string {
  return join(folder, String(n), `${test}.bin`);
}

/** Tests sequences of `n` bits until `sequences` are saved for each of `tests`. */
export function saveClasses(
  folder: string,
  n: number,
  sequences: number,
  tests: readonly TestName[],
): void {
  mkdirSync(join(folder, String(n)), { recursive: true });
  const batch = Math.max(1, Math.min(1000, Math.floor(BATCH_BYTES / Math.ceil(n / 8))));
  const saved = new Map(tests.map((test) => [test, savedSequences(folder, n, test)]));
  for (let i = Math.min(...saved.values()); i < sequences; i = Math.min(...saved.values())) {
    const only = tests.filter((test) => saved.get(test) === i);
    const others = tests.filter((test) => saved.get(test) !== i).map((test) => saved.get(test));
    const end = Math.min(i + batch, sequences, ...others.map((count) => count ?? Infinity));
    const reports = Array.from({ length: end - i }, (_, k) =>
      runPackedSuite(soundSequence(n, i + k), { bits: n, only, parameters: NIST_PARAMETERS }),
    );
    for (const test of only) {
      appendFileSync(pathOf(folder, n, test), Buffer.concat(reports.map((r) => codes(r, test))));
      saved.set(test, end);
    }
  }
}

function savedSequences(folder: string, n: number, test: TestName): number {
  const path = pathOf(folder, n, test);
  return existsSync(path) ? statSync(path).size / labelsOf(test, n).length : 0;
}

function codes({ tests, bits }: SuiteReport, test: TestName): Uint8Array {
  const outcome = tests.find(({ name }) => name === test);
  if (!outcome?.applicable) return new Uint8Array(labelsOf(test, bits).length).fill(INAPPLICABLE);
  return Uint8Array.from(outcome.pValues, (p) => (p < ALPHA ? BELOW_ALPHA : classOf(p)));
}

/** Returns the saved classes of each test that has any, for `n` bits. */
export function readClasses(folder: string, n: number): ReadonlyMap<TestName, Uint8Array> {
  const saved = TEST_NAMES.filter((test) => savedSequences(folder, n, test) > 0);
  return new Map(saved.map((test) => [test, readFileSync(pathOf(folder, n, test))]));
}
