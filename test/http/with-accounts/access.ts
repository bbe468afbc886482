/** Access rights on SQLite. */

import { sqliteIn } from '../../support/clients/unknown-keys.ts';
import { dataDir, server } from '../../support/servers/shared-server.ts';
import { accessTable } from '../access-table.ts';

accessTable('SQLite', () => ({ server, location: sqliteIn(dataDir) }));
