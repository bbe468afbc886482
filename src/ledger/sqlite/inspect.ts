/** Inspects the embedded database beside a running server, without any change to its folder. */

import { existsSync, statSync } from 'node:fs';
import { readFailure } from '#platform/files';
import { SetupError } from '../../errors.ts';
import type { DatabaseFault, Inspection } from '../inspection.ts';
import { baselineVersion, newestVersion, readMigrations, type SchemaState } from '../migrations.ts';
import { type CheckResult, startCheck } from './check.ts';
import { damagedDatabase } from './damage.ts';
import { refuseLostDatabase } from './files.ts';
import { openOfAnySchema, readSchema } from './schema.ts';
import { SchemaGuard } from './schema-guard.ts';

/** Limit of the check of all pages. */
const CHECK_LIMIT_MS = 3_000;

/** Commits copy SQLite's log into the database at 32 MiB. A log beyond this limit shows that they cannot. */
const LONG_LOG_BYTES = 256 * 2 ** 20;

const MIB = 2 ** 20;

/** Returns null if there is no database yet. Throws `SetupError` if the database is lost, damaged or unreadable. */
export async function inspectSqlite(path: string): Promise<Inspection | null> {
  refuseClosedDirectory(path);
  refuseLostDatabase(path);
  if (!existsSync(path)) return null;
  const migrations = readMigrations('sqlite');
  const versions = {
    program: newestVersion(migrations),
    baseline: baselineVersion(migrations),
  };
  if (existsSync(`${path}-wal`) && !existsSync(`${path}-shm`)) {
    return {
      about: `SQLite, ${sizes(path)}`,
      faults: [logWithoutIndex(path)],
      schema: null,
      ...versions,
    };
  }
  const { version, schema, problems } = readFacts(path);
  const checked = await quickCheck(path);
  if (checked?.kind === 'damaged') throw damagedDatabase(path, checked.found);
  const about = `SQLite ${version}, ${sizes(path)}${checked?.kind === 'sound' ? ', undamaged' : ''}`;
  const faults = [...longLog(path), ...problems.map(toFault)];
  return { about, faults, unchecked: whyUnchecked(checked), schema, ...versions };
}

function toFault(problem: string): DatabaseFault {
  const remedy = 'find out who added it, then remove it: DROP TRIGGER or DROP VIEW';
  return { isGrave: true, problem, remedy };
}

/** In a directory that this user may not enter, every file would seem to be missing. */
function refuseClosedDirectory(path: string): void {
  try {
    statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    throw new SetupError(
      `cannot open the database ${path}: ${readFailure(error)}. Run this as the user of the server`,
    );
  }
}

function readFacts(path: string): { version: string; schema: SchemaState; problems: string[] } {
  const database = openOfAnySchema(path);
  try {
    const version = String(database.prepare('SELECT sqlite_version() AS version').get()?.version);
    const problems = new SchemaGuard(database).problems();
    return { version, schema: readSchema(database), problems };
  } finally {
    database.close();
  }
}

/** Returns null if the check takes too long. */
async function quickCheck(path: string): Promise<CheckResult | null> {
  const running = startCheck(path, 'quick_check', { mayBlock: true, readOnly: true });
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), CHECK_LIMIT_MS);
  });
  const report = await Promise.race([running.report, late]);
  clearTimeout(timer);
  if (report === null) running.stop();
  return report?.result ?? null;
}

function whyUnchecked(checked: CheckResult | null): string | undefined {
  if (checked === null)
    return `not all pages were checked for damage in ${CHECK_LIMIT_MS / 1000} s`;
  return checked.kind === 'failed' ? `not checked for damage: ${checked.reason}` : undefined;
}

function sizes(path: string): string {
  return `${mebibytes(sizeOf(path))}, its log ${mebibytes(sizeOf(`${path}-wal`))}`;
}

function mebibytes(bytes: number): string {
  return `${(bytes / MIB).toFixed(1)} MiB`;
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

function logWithoutIndex(path: string): DatabaseFault {
  return {
    isGrave: false,
    problem: `${path}-wal has no index ${path}-shm, and reading the database would create it`,
    remedy:
      'start the server, which creates it. If the files are a copy, take a backup by: phm ledger backup FILE',
  };
}

function longLog(path: string): DatabaseFault[] {
  const bytes = sizeOf(`${path}-wal`);
  if (bytes <= LONG_LOG_BYTES) return [];
  return [
    {
      isGrave: false,
      problem: `the log ${path}-wal has ${mebibytes(bytes)}, because a long read keeps it from being copied`,
      remedy: 'end the export, backup or other program that reads the database',
    },
  ];
}
