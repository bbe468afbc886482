/** `phm selftest`: runs the built-in self-tests, or the vectors of a file that NIST publishes. */

import type { Command } from 'commander';
import { CommandError, writeJson } from '#platform/commands';
import {
  runSelfTests,
  type SelfTestResult,
  sealSelfTest,
  suiteSelfTest,
} from '../../keys/index.ts';
import { checkIntegrity, describeChanges } from '../../process/integrity.ts';
import type { CliContext } from '../context.ts';
import { readText } from '../read-bounded.ts';
import { runCavpFile } from './cavp.ts';

interface Test {
  readonly name: string;
  readonly result: 'pass' | 'FAIL' | 'skip';
  /** True for an algorithm that NIST has approved; null for what is no cryptographic algorithm. */
  readonly approved: boolean | null;
}

/** Beginnings of names. Proofs are HMAC-SHA-256. */
const APPROVED = /^(?:CTR_DRBG|SHA|HMAC|HKDF|AES|Ed25519|ML-KEM|ML-DSA|proof)/;
/** Of sealing, NIST has approved the parts, and not HPKE, which joins them. */
const NOT_APPROVED = /^(?:modulation|X25519|sealing)/;

interface Report {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  /** Every built-in test. */
  readonly tests?: readonly Test[];
  /** Every built-in test, or the failed vectors of a file. */
  readonly lines: readonly string[];
}

export function addSelfTestCommand(program: Command, context: CliContext): void {
  program
    .command('selftest')
    .description(
      'run the self-tests of algorithms, DRBG, modulation, proofs, statistical suite and sealing, and compare the files with the release',
    )
    .option(
      '--cavp <file>',
      'run the CTR_DRBG AES-256 vectors of a NIST response file (.rsp) instead',
    )
    .option('--json', 'write the counts and each test as JSON')
    .action((options) => selfTest(context, options));
}

async function selfTest(
  context: CliContext,
  options: { cavp?: string; json?: boolean },
): Promise<void> {
  const report = options.cavp === undefined ? await builtIn() : cavp(options.cavp);
  const { passed, failed, skipped, tests, lines } = report;
  if (options.json) writeJson(context, { passed, failed, skipped, ...(tests && { tests }) });
  else {
    for (const line of lines) context.out(`${line}\n`);
    context.out(`${passed} passed, ${failed} failed, ${skipped} skipped\n`);
  }
  if (failed > 0) throw new CommandError(`${failed} tests failed`, 1);
}

async function builtIn(): Promise<Report> {
  const known: SelfTestResult[] = [...runSelfTests(), suiteSelfTest(), ...(await sealSelfTest())];
  const answers = known.map(
    ({ name, passed, skipped }): Test => ({
      name,
      result: passed ? 'pass' : skipped ? 'skip' : 'FAIL',
      approved: APPROVED.test(name) || (NOT_APPROVED.test(name) ? false : null),
    }),
  );
  const tests = [...answers, ...filesTest()];
  const count = (result: Test['result']): number =>
    tests.filter((one) => one.result === result).length;
  const lines = tests.map(({ name, result }) => `${result}  ${name}`);
  return { passed: count('pass'), failed: count('FAIL'), skipped: count('skip'), tests, lines };
}

/** The files of the program, as a server compares them at its start. */
function filesTest(): Test[] {
  const found = checkIntegrity();
  switch (found.kind) {
    case 'unchecked':
      return [filesResult('a clone has no manifest to compare them with', 'skip')];
    case 'intact':
      return [filesResult(`${found.files}, as in the release`, 'pass')];
    case 'changed':
      return describeChanges(found).map((change) => filesResult(change, 'FAIL'));
  }
}

function filesResult(text: string, result: Test['result']): Test {
  return { name: `files: ${text}`, result, approved: null };
}

/** NIST's files have 3 MB at most. */
const MAX_BYTES = 2 ** 26;

function cavp(file: string): Report {
  const text = readText(file, 'the vectors', MAX_BYTES);
  try {
    const { passed, failed, skipped, failures } = runCavpFile(text);
    const lines = failures.map(({ section, count }) => `FAIL  ${section} COUNT = ${count}`);
    return { passed, failed, skipped, lines };
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new CommandError(`${file}: ${error.message}`, 2);
  }
}
