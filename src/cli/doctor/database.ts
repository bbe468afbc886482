/** Checks the database, its schema, and the clock of this machine by what the ledger knows. */
import { systemClock } from '../../clock.ts';
import { type DatabaseFault, isBeforeBaseline, toBaseline } from '../../ledger/admin.ts';
import { describeStore, isUrgent, storeLocation } from '../../ledger/index.ts';
import { type Finding, failed, ok, Skipped, skipped, warning } from './finding.ts';
import type { Site } from './site.ts';

export async function checkDatabase(site: Site): Promise<Finding[]> {
  const name = describeStore(storeLocation(site.config));
  const inspection = await site.inspection();
  if (inspection === null) throw new Skipped(`there is no database ${name} yet`);
  const { about, faults, unchecked } = inspection;
  return [
    ...(faults.length > 0 ? faults.map(toFinding) : [ok(`${name}: ${about}`)]),
    ...(unchecked === undefined ? [] : [skipped(unchecked, 'check it by: phm ledger verify')]),
  ];
}

function toFinding({ isGrave, problem, remedy }: DatabaseFault): Finding {
  return isGrave ? failed(problem, remedy) : warning(problem, remedy);
}

export async function checkSchema(site: Site): Promise<Finding[]> {
  const { config } = site;
  const { schema, program, baseline } = await site.database();
  const version = schema?.version ?? 0;
  if (version < program) {
    const found = version === 0 ? 'there is no ledger yet' : `the schema has version ${version}`;
    const detail = `${found}, and this program needs version ${program}`;
    if (isBeforeBaseline(version, baseline)) return [failed(detail, toBaseline(baseline))];
    return config.databaseUrl === null || config.migrate === 'auto'
      ? [warning(`${detail}: the next start of a server migrates it`, 'make a backup before')]
      : [failed(detail, 'make a backup, then run phm migrate')];
  }
  await site.openStore();
  if (version === program) return [ok(`version ${version}`)];
  return [
    warning(
      `a newer release has brought the schema to version ${version}; this program knows ${program} and works with it`,
      'finish the upgrade, or the way back, so that all servers run one release',
    ),
  ];
}

export async function checkClock(site: Site): Promise<Finding[]> {
  const store = await site.store();
  const reading = await store.readClock(systemClock);
  const { against, doubt } = reading;
  const witness = against === 'database' ? 'the clock of the database' : 'the rows of the ledger';
  if (doubt === null) return [ok(`agrees with ${witness}`)];
  const isFault = against === 'database' || isUrgent(reading, site.config.retentionDays);
  return [isFault ? failed(doubt) : warning(doubt)];
}
