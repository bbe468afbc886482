/** The log of both stores keeps its contract. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before } from 'node:test';
import { openSqliteStore } from '../../src/ledger/index.ts';
import { openPostgresStore } from '../../src/ledger/postgres/store.ts';
import type { Databases } from '../support/ledgers/databases.ts';
import { noPostgres } from '../support/ledgers/postgres.ts';
import { sharedPostgres } from '../support/ledgers/shared-postgres.ts';
import { QUOTAS } from './contract.ts';
import { logContract } from './log-contract.ts';

let folder: string;
let postgres: Databases;

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'phm-log-'));
  if (noPostgres) return;
  postgres = await sharedPostgres();
  postgres.waitsForLocks = true;
  await postgres.createLedger('log');
});
after(async () => {
  await postgres?.remove();
  rmSync(folder, { recursive: true, force: true });
});

logContract('SQLite', {
  open: async () => openSqliteStore({ path: join(folder, 'log.db'), quotas: QUOTAS }),
  setClock: async () => {},
});

logContract('PostgreSQL', {
  open: () => openPostgresStore({ url: postgres.url('log'), quotas: QUOTAS }),
  setClock: (atMs) => postgres.setClock('log', atMs),
  skip: noPostgres,
});
