/** What the files of a run share, and the check that they leave nothing. Node's test runner calls both functions. */

import { SharedPostgres } from '../ledgers/shared-postgres.ts';
import { endRun, makeRunFolder, readKept } from './leftovers.ts';

let folder: string;
let postgres: SharedPostgres;

export async function globalSetup(): Promise<void> {
  folder = makeRunFolder();
  postgres = await SharedPostgres.offer(folder);
}

/** Fails the run if something is left. Never throws: Node would call it again and again. */
export async function globalTeardown(): Promise<void> {
  try {
    const kept = readKept(folder);
    const left = [...(await postgres.end(kept)), ...(await endRun(folder))];
    // Once more, behind the list of failed tests, which is still to be printed.
    const words = `\nkept, with logs beside it:\n${lines(kept)}`;
    if (kept.length > 0) process.on('exit', () => process.stderr.write(words));
    if (left.length === 0) return;
    process.exitCode = 1;
    process.stderr.write(`\nThe run left:\n${lines(left)}`);
  } catch (error) {
    process.exitCode = 1;
    process.stderr.write(`the run did not end well: ${(error as Error).stack}\n`);
  }
}

function lines(texts: readonly string[]): string {
  return texts.map((text) => `  ${text}\n`).join('');
}
