/** The transparency log on both stores. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before } from 'node:test';
import { openSqliteStore } from '../../src/ledger/index.ts';
import { openPostgresStore } from '../../src/ledger/postgres/store.ts';
import { noPostgres, Postgres } from '../support/postgres.ts';
import { QUOTAS } from './contract.ts';
import { logContract } from './log-contract.ts';

const directory = mkdtempSync(join(tmpdir(), 'phm-log-'));
let postgres: Postgres;

before(async () => {
  if (noPostgres) return;
  postgres = await Postgres.start();
  await postgres.createLedger('log');
});
after(async () => {
  await postgres?.remove();
  rmSync(directory, { recursive: true, force: true });
});

const openSqlite = async (name: string) =>
  openSqliteStore({ path: join(directory, name), quotas: QUOTAS });
const openPostgres = (name: string) =>
  openPostgresStore({ url: postgres.url(name), quotas: QUOTAS });

logContract('SQLite', { open: () => openSqlite('log.db'), setClock: async () => {} });

logContract('PostgreSQL', {
  open: () => openPostgres('log'),
  setClock: (atMs) => postgres.setClock('log', atMs),
  skip: noPostgres,
});
