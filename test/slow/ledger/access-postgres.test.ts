/** Access rights on PostgreSQL. */
import { after, before } from 'node:test';
import { newLogKeysText } from '../../../src/log/index.ts';
import { type AccessSite, accessTable } from '../../http/access-table.ts';
import type { Databases } from '../../support/ledgers/databases.ts';
import { noPostgres } from '../../support/ledgers/postgres.ts';
import { sharedPostgres } from '../../support/ledgers/shared-postgres.ts';
import { makeDataDir, removeDataDir, Server } from '../../support/servers/server.ts';

const dataDir = makeDataDir();
let postgres: Databases;
let site: AccessSite;

before(async () => {
  if (noPostgres) return;
  postgres = await sharedPostgres();
  const url = await postgres.createDatabase('access');
  const server = await Server.start(dataDir, {
    PHM_DATABASE_URL: url,
    PHM_MASTER_KEY: '5a'.repeat(32),
    PHM_LOG_KEY: newLogKeysText('access.example/log'),
    PHM_MIGRATE: 'auto',
    PHM_RATE_LIMITS: 'off',
  });
  site = { server, location: { kind: 'postgres', url } };
});
after(async () => {
  await site?.server.stop();
  await postgres?.remove();
  removeDataDir(dataDir);
});

accessTable('PostgreSQL', () => site, { skip: noPostgres });
