/** Writes the parts of the pages that come from the code: `npm run docs`. A test names this command when they are stale. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './docs/pages.ts';
import { readGeneratedFiles } from './docs/tables/index.ts';

for (const { file, found, expected } of await readGeneratedFiles()) {
  if (found === expected) continue;
  writeFileSync(join(ROOT, file), expected);
  process.stdout.write(`wrote ${file}\n`);
}
