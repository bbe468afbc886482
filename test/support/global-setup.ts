/** What the files of a run share. Node's test runner calls both functions (`scripts/tests/run.ts`). */
import { SharedPostgres } from './shared-postgres.ts';

let postgres: SharedPostgres;

export async function globalSetup(): Promise<void> {
  postgres = await SharedPostgres.offer();
}

/** Fails the run if something is left. Never throws: Node would call it again and again. */
export async function globalTeardown(): Promise<void> {
  const left = await postgres.end().catch((error: Error) => [`the shared server: ${error.stack}`]);
  if (left.length === 0) return;
  process.exitCode = 1;
  process.stderr.write(left.map((name) => `left in PostgreSQL: ${name}\n`).join(''));
}
