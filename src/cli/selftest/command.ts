/** `phm selftest`: runs the built-in known-answer tests, or the vectors of a file that NIST publishes. */

import type { Command } from 'commander';
import { CommandError, writeJson } from '#platform/commands';
import { runSelfTests, suiteSelfTest } from '../../keys/index.ts';
import type { CliContext } from '../context.ts';
import { readText } from '../read-bounded.ts';
import { runCavpFile } from './cavp.ts';

interface Report {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  /** Every built-in test, or the failed vectors of a file. */
  readonly lines: readonly string[];
}

export function addSelfTestCommand(program: Command, context: CliContext): void {
  program
    .command('selftest')
    .description('run the known-answer tests of DRBG, modulation, proofs and statistical suite')
    .option(
      '--cavp <file>',
      'run the CTR_DRBG AES-256 vectors of a NIST response file (.rsp) instead',
    )
    .option('--json', 'write the counts as JSON')
    .action((options) => selfTest(context, options));
}

function selfTest(context: CliContext, options: { cavp?: string; json?: boolean }): void {
  const report = options.cavp === undefined ? builtIn() : cavp(options.cavp);
  const { passed, failed, skipped, lines } = report;
  if (options.json) writeJson(context, { passed, failed, skipped });
  else {
    for (const line of lines) context.out(`${line}\n`);
    context.out(`${passed} passed, ${failed} failed, ${skipped} skipped\n`);
  }
  if (failed > 0) throw new CommandError(`${failed} known-answer tests failed`, 1);
}

function builtIn(): Report {
  const results = [...runSelfTests(), suiteSelfTest()];
  const failed = results.filter((result) => !result.passed).length;
  const lines = results.map(({ name, passed }) => `${passed ? 'pass' : 'FAIL'}  ${name}`);
  return { passed: results.length - failed, failed, skipped: 0, lines };
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
