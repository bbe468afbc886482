/**
 * Random faults under load, on PostgreSQL with a synchronous standby and on SQLite, with exact books.
 *
 *     node scripts/faults.ts [--store postgres|sqlite|both] [--faults 300] [--minutes 35] [--seed N]
 *                            [--only PATTERN] [--without PATTERN] [--checkout FOLDER] [--save FILE]
 *     node scripts/faults.ts --before FILE.json --after FILE.json     the table of docs/evidence/faults.md
 *
 * Both stores run side by side and share the faults. The seed decides which faults come, in which order, and what
 * they choose; the moment within the servers is not repeatable. `--checkout` runs the servers of another copy of
 * the project, such as an older one. Results are appended to `FILE.jsonl` fault by fault, and their summary is
 * written to `FILE.json`. The exit code is 1 when a key was lost or anything else was found.
 */
import { randomInt } from 'node:crypto';
import { appendFileSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { compare } from '../test/support/faults/compare.ts';
import { printRun, type Run, runFaults, type Store } from '../test/support/faults/run.ts';

const { values } = parseArgs({
  options: {
    store: { type: 'string', default: 'both' },
    faults: { type: 'string', default: '300' },
    minutes: { type: 'string', default: '35' },
    seed: { type: 'string' },
    only: { type: 'string' },
    without: { type: 'string' },
    checkout: { type: 'string', default: resolve(import.meta.dirname, '..') },
    save: { type: 'string' },
    before: { type: 'string', multiple: true },
    after: { type: 'string', multiple: true },
  },
});

// The end of this process ends what it has started.
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(130));

const print = (line: string) => process.stdout.write(`${line}\n`);
const readRuns = (files: readonly string[]): Run[] =>
  files.flatMap((file) => JSON.parse(readFileSync(file, 'utf8')) as Run[]);

if (values.before && values.after) print(compare(readRuns(values.before), readRuns(values.after)));
else await runAll();

async function runAll(): Promise<void> {
  const seed = Number(values.seed ?? randomInt(2 ** 31));
  const stores: Store[] =
    values.store === 'both'
      ? ['postgres', 'sqlite']
      : [values.store === 'sqlite' ? 'sqlite' : 'postgres'];
  const folder = mkdtempSync(join(tmpdir(), 'phm-faults-'));
  print(`seed ${seed}; logs in ${folder}`);
  const began = Date.now();
  const runs = await Promise.all(
    stores.map(
      (store): Promise<Run> =>
        runFaults({
          store,
          checkout: resolve(values.checkout),
          folder: join(folder, store),
          seed,
          faults: Math.ceil(Number(values.faults) / stores.length),
          untilMs: began + Number(values.minutes) * 60_000,
          only: values.only ? new RegExp(values.only) : /(?:)/,
          without: values.without ? new RegExp(values.without) : /(?!)/,
          tell: (record) => {
            print(`${store} ${JSON.stringify(record)}`);
            if (values.save)
              appendFileSync(`${values.save}.jsonl`, `${JSON.stringify({ store, ...record })}\n`);
          },
        }),
    ),
  );
  for (const run of runs) print(printRun(run));
  if (values.save) writeFileSync(`${values.save}.json`, `${JSON.stringify(runs, null, 1)}\n`);
  process.exitCode = runs.some(({ sound }) => !sound) ? 1 : 0;
}
