/** Access rights on SQLite. */
import { dataDir, server } from '../../support/shared-server.ts';
import { sqliteIn } from '../../support/unknown-keys.ts';
import { accessTable } from '../access-table.ts';

accessTable('SQLite', () => ({ server, location: sqliteIn(dataDir) }));
