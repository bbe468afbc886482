/** The log's part of the embedded store. */
import type { LogStore } from '../log-store.ts';
import { SqliteAccountStore } from './accounts.ts';

export class SqliteLogStore extends SqliteAccountStore implements LogStore {
  logs(): never {
    throw new Error('not built yet');
  }
  startLog(): never {
    throw new Error('not built yet');
  }
  takeTurn(): never {
    throw new Error('not built yet');
  }
  strandedEntries(): never {
    throw new Error('not built yet');
  }
  restamp(): never {
    throw new Error('not built yet');
  }
  readTile(): never {
    throw new Error('not built yet');
  }
  readEntries(): never {
    throw new Error('not built yet');
  }
  findLogged(): never {
    throw new Error('not built yet');
  }
  findRecord(): never {
    throw new Error('not built yet');
  }
  saveCheckpoint(): never {
    throw new Error('not built yet');
  }
  logCounts(): never {
    throw new Error('not built yet');
  }
  pageRecords(): never {
    throw new Error('not built yet');
  }
  pageEntries(): never {
    throw new Error('not built yet');
  }
  recoverEntries(): never {
    throw new Error('not built yet');
  }
  registerSoftware(): never {
    throw new Error('not built yet');
  }
  audits(): never {
    throw new Error('not built yet');
  }
}
