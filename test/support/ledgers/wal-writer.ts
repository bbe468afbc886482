/**
 * Commits small transactions to a database until it is stopped, and restarts the write-ahead log every few
 * hundred frames.
 */
import { DatabaseSync } from 'node:sqlite';

const [path = '', synchronous = 'FULL', checkpointPages = '400'] = process.argv.slice(2);
const database = new DatabaseSync(path, { timeout: 5_000 });
database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = ${synchronous};
  PRAGMA wal_autocheckpoint = ${checkpointPages}; CREATE TABLE rows (id INTEGER PRIMARY KEY, bytes BLOB)`);
const insert = database.prepare('INSERT OR REPLACE INTO rows VALUES (?, randomblob(?))');

let commits = 0;
function work(): void {
  for (let turn = 0; turn < 50; turn += 1, commits += 1) {
    database.exec('BEGIN');
    for (let row = 0; row <= commits % 4; row += 1) {
      insert.run(Math.floor(Math.random() * 2_000), 200 + Math.floor(Math.random() * 3_000));
    }
    database.exec('COMMIT');
  }
  if (commits === 50) process.send?.(commits);
  setImmediate(work);
}
process.on('message', () => {
  process.send?.(commits, () => process.exit(0));
});
process.on('disconnect', () => process.exit(1));
work();
