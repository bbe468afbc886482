/** Commits keys to the ledger `argv[2]`, removes its log meanwhile, and notes each confirmed key in the folder `argv[3]`. */
import { appendFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { openSqliteStore } from '../../../src/ledger/index.ts';
import { keyRequest, makeRow, QUOTAS } from '../../ledger/contract.ts';

const [, , path = '', folder = ''] = process.argv;
const store = openSqliteStore({ path, quotas: QUOTAS });
try {
  for (let i = 0; ; i++) {
    if (i === 20) rmSync(`${path}-wal`);
    const row = makeRow();
    await store.commit([keyRequest('acc', row)], []);
    appendFileSync(join(folder, 'confirmed'), `${Buffer.from(row.keyId).toString('hex')}\n`);
  }
} catch {
  process.stdout.write('refused\n');
}
setInterval(() => {}, 1_000);
