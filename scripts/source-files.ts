/**
 * Writes test files with known verdicts, or the table of them for docs/evidence/source-files.md.
 *
 *     node scripts/source-files.ts write FOLDER [NAME…]   all files, 130 MB, or those named
 *     node scripts/source-files.ts table
 *
 * The bits are the same in every run. test/sp800-22/source-files.ts has the list, and test/campaigns/source-files.test.ts
 * compares each verdict.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { contentsOf, FILES, fileName, tableLines } from '../test/sp800-22/source-files.ts';

const [command, folder, ...names] = process.argv.slice(2);
if (command === 'table') {
  process.stdout.write(`${tableLines().join('\n')}\n`);
} else if (command === 'write' && folder !== undefined) {
  mkdirSync(folder, { recursive: true });
  for (const file of FILES.filter(({ name }) => names.length === 0 || names.includes(name))) {
    writeFileSync(join(folder, fileName(file)), contentsOf(file));
  }
} else {
  process.stderr.write(
    'usage: source-files.ts write FOLDER [NAME…]\n       source-files.ts table\n',
  );
  process.exitCode = 2;
}
