/**
 * `phm assess`: the suite of SP 800-22 on one sequence read from a file.
 *
 * The report is the command's JSON. It describes the sequence; whatever it says, NIST certifies
 * nothing by SP 800-22.
 */
import { type FileHandle, open } from 'node:fs/promises';
import { wipe } from '../bytes.ts';
import {
  ALPHA,
  AsciiBitReader,
  type AsciiFault,
  type Constants,
  runSuite,
  type Statistics,
  type SuiteReport,
  type TestName,
  type TestOutcome,
  unpackBits,
} from '../sts/index.ts';
import { CommandError } from './command-error.ts';

/** The longest sequence: 8 MiB of binary data. Counts and sums of squares are exact up to here. */
const MAX_BITS = 2 ** 26;

const CHUNK_BYTES = 65_536;

export interface AssessOptions {
  readonly file: string;
  /** Only the first `bits` bits; the whole file unless given. */
  readonly bits?: number;
  /** `binary`: most significant bit first. `ascii`: digits 0 and 1, whitespace ignored. */
  readonly format: 'binary' | 'ascii';
  readonly constants: Constants;
}

/** One test in the report. A test that does not apply has a reason, no p-values, `passed` null. */
export interface AssessedTest {
  readonly name: TestName;
  readonly applicable: boolean;
  readonly reason?: string;
  readonly p_values: readonly number[];
  readonly statistics: Statistics;
  readonly passed: boolean | null;
}

export interface AssessReport {
  readonly bits: number;
  readonly constants: Constants;
  readonly tests: readonly AssessedTest[];
  readonly tests_passed: number;
  /** The tests that applied. */
  readonly total_tests: number;
}

/**
 * Reads the sequence, no further than needed, and runs every test that applies to it.
 * Throws `CommandError` when there is no such sequence; its exit code is 2 when `--bits` itself is
 * out of range, else 1.
 */
export async function assess(options: AssessOptions): Promise<AssessReport> {
  assertBitsOption(options.bits);
  const bits = await readSequence(options);
  try {
    const report = runSuite(bits, { constants: options.constants });
    if (report.totalTests === 0) {
      throw new CommandError(
        `${options.file} gives ${grouped(bits.length)} bits, too few for any test; the shortest need 100`,
        1,
      );
    }
    return toAssessReport(report);
  } finally {
    // The file may be key material.
    wipe(bits);
  }
}

/** The report as a table for people, ending in a line end. */
export function formatAssessText(report: AssessReport): string {
  const rows = report.tests.map((test) => [test.name, pValueText(test), resultText(test)]);
  const lines = [
    `SP 800-22 Rev. 1a: ${grouped(report.bits)} bits, ${report.constants} constants`,
    '',
    ...alignColumns([['test', 'p-value', 'result'], ...rows]),
    '',
    `${report.tests_passed} of ${report.total_tests} tests passed.`,
    `A test passes when its smallest p-value, corrected for their number, is at least ${ALPHA}.`,
    '"passed" and "FAILED" are labels of this program: NIST certifies nothing by SP 800-22, and a',
    'sequence that passes may still be predictable.',
  ];
  return `${lines.join('\n')}\n`;
}

function toAssessReport(report: SuiteReport): AssessReport {
  return {
    bits: report.bits,
    constants: report.constants,
    tests: report.tests.map(toAssessedTest),
    tests_passed: report.testsPassed,
    total_tests: report.totalTests,
  };
}

function toAssessedTest(outcome: TestOutcome): AssessedTest {
  const { name, applicable } = outcome;
  if (!applicable) {
    return { name, applicable, reason: outcome.reason, p_values: [], statistics: {}, passed: null };
  }
  const { pValues, statistics, passed } = outcome;
  return { name, applicable, p_values: pValues, statistics, passed };
}

function assertBitsOption(bits: number | undefined): void {
  if (bits === undefined || (Number.isInteger(bits) && bits >= 1 && bits <= MAX_BITS)) return;
  throw new CommandError(`--bits takes a whole number from 1 to ${MAX_BITS}, got ${bits}`, 2);
}

async function readSequence({ file, bits, format }: AssessOptions): Promise<Uint8Array> {
  const handle = await openFile(file);
  try {
    const read = format === 'binary' ? readBinary : readAscii;
    const sequence = await read(handle, file, bits ?? MAX_BITS + 1);
    if (sequence.length === 0) throw new CommandError(`${file} is empty`, 1);
    if (bits === undefined && sequence.length > MAX_BITS) {
      throw new CommandError(
        `${file} holds more than ${grouped(MAX_BITS)} bits; use --bits to assess its first bits`,
        1,
      );
    }
    if (bits !== undefined && sequence.length < bits) {
      throw new CommandError(
        `${file} holds ${grouped(sequence.length)} bits, fewer than --bits ${bits}; lower --bits or leave it out`,
        1,
      );
    }
    return sequence;
  } finally {
    await handle.close();
  }
}

async function openFile(file: string): Promise<FileHandle> {
  try {
    const handle = await open(file, 'r');
    if (!(await handle.stat()).isDirectory()) return handle;
    await handle.close();
  } catch (error) {
    throw new CommandError(`${file} cannot be read: ${reasonOf(error)}`, 1);
  }
  throw new CommandError(`${file} is a directory, not a file`, 1);
}

function reasonOf(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT') return 'no such file';
  if (code === 'EACCES' || code === 'EPERM') return 'permission denied';
  return code ?? String(error);
}

/** The first `limit` bits, or as many as there are. */
async function readBinary(handle: FileHandle, file: string, limit: number): Promise<Uint8Array> {
  const bytes = Buffer.alloc(Math.ceil(limit / 8));
  let length = 0;
  for (;;) {
    const count = await readInto(handle, file, bytes.subarray(length));
    length += count;
    if (count === 0) break;
  }
  const sequence = unpackBits(bytes, Math.min(limit, length * 8));
  wipe(bytes);
  return sequence;
}

async function readAscii(handle: FileHandle, file: string, limit: number): Promise<Uint8Array> {
  const bits = new Uint8Array(limit);
  const reader = new AsciiBitReader(bits);
  const chunk = Buffer.alloc(CHUNK_BYTES);
  while (!reader.isFull) {
    const count = await readInto(handle, file, chunk);
    if (count === 0) break;
    const fault = reader.write(chunk.subarray(0, count));
    if (fault !== null) throw new CommandError(faultMessage(file, fault), 1);
  }
  wipe(chunk);
  return bits.subarray(0, reader.count);
}

async function readInto(handle: FileHandle, file: string, bytes: Buffer): Promise<number> {
  if (bytes.length === 0) return 0;
  try {
    return (await handle.read(bytes)).bytesRead;
  } catch (error) {
    throw new CommandError(`${file} cannot be read: ${reasonOf(error)}`, 1);
  }
}

function faultMessage(file: string, { line, column, byte }: AsciiFault): string {
  const printable = byte > 0x20 && byte < 0x7f;
  const found = printable ? `"${String.fromCharCode(byte)}"` : `byte 0x${hex(byte)}`;
  const hint = 'expected 0, 1 or whitespace (is it a binary file? then use --format binary)';
  return `${file}, line ${line}, column ${column}: found ${found}, ${hint}`;
}

function hex(byte: number): string {
  return byte.toString(16).padStart(2, '0');
}

/** The smallest p-value, and of how many. */
function pValueText({ applicable, p_values, statistics }: AssessedTest): string {
  if (!applicable) return '-';
  if (statistics.prerequisite_met === false) return '0 (share of ones is off)';
  const smallest = Math.min(...p_values);
  const text = smallest === 0 || smallest >= 1e-4 ? smallest.toFixed(6) : smallest.toExponential(3);
  return p_values.length === 1 ? text : `${text} (smallest of ${p_values.length})`;
}

function resultText({ applicable, reason, passed }: AssessedTest): string {
  if (!applicable) return `not applicable: ${reason}`;
  return passed ? 'passed' : 'FAILED';
}

function alignColumns(rows: readonly string[][]): string[] {
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)));
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column]))
      .join('  ')
      .trimEnd(),
  );
}

/** 1000000 as 1,000,000. */
function grouped(value: number): string {
  return value.toLocaleString('en-US');
}
