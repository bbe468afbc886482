/**
 * Injects random faults under load, on PostgreSQL with a synchronous standby and on SQLite, and accounts for every key.
 *
 *     node scripts/faults.ts [--store postgres|sqlite|both] [--faults 300] [--minutes 35] [--seed N]
 *                            [--only PATTERN] [--without PATTERN] [--checkout FOLDER] [--save FILE]
 *     node scripts/faults.ts --before FILE.jsonl --after FILE.jsonl   the tables of docs/evidence/faults/tables.txt
 *
 * Both stores run side by side until they have reached the number of faults or minutes together. The seed decides the
 * order of the faults and their choices, but not the moment within the servers. `--checkout` runs the servers of
 * another copy of the project, such as an older one. The program appends each fault to `FILE.jsonl` and the summary of
 * each store to `FILE.runs.jsonl`. The exit code is 1 if a key is lost or anything else is wrong.
 */
import { randomInt } from 'node:crypto';
import { appendFileSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { compare, type SavedRecord } from '../test/support/faults/random/compare.ts';
import { printRun, type Run, runFaults, type Store } from '../test/support/faults/random/run.ts';

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

// When this process ends, its children end too.
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(130));

const print = (line: string) => process.stdout.write(`${line}\n`);
const read = (files: readonly string[]): SavedRecord[] =>
  files.flatMap((file) =>
    readFileSync(file, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as SavedRecord),
  );

if (values.before && values.after) print(compare(read(values.before), read(values.after)));
else await runAll();

function save(ending: string, line: unknown): void {
  if (values.save) appendFileSync(`${values.save}.${ending}`, `${JSON.stringify(line)}\n`);
}

async function runAll(): Promise<void> {
  const seed = Number(values.seed ?? randomInt(2 ** 31));
  const stores: Store[] =
    values.store === 'both'
      ? ['postgres', 'sqlite']
      : [values.store === 'sqlite' ? 'sqlite' : 'postgres'];
  const folder = mkdtempSync(join(tmpdir(), 'phm-faults-'));
  print(`seed ${seed}; logs in ${folder}`);
  let left = Number(values.faults);
  const end = Date.now() + Number(values.minutes) * 60_000;
  const runs = await Promise.all(
    stores.map(
      (store): Promise<Run> =>
        runFaults({
          store,
          checkout: resolve(values.checkout),
          folder: join(folder, store),
          seed,
          goesOn: () => left-- > 0 && Date.now() < end,
          only: values.only ? new RegExp(values.only) : /(?:)/,
          without: values.without ? new RegExp(values.without) : /(?!)/,
          tell: (record) => {
            print(`${store} ${JSON.stringify(record)}`);
            save('jsonl', { store, ...record });
          },
        }),
    ),
  );
  for (const run of runs) print(printRun(run));
  for (const run of runs) save('runs.jsonl', run);
  process.exitCode = runs.some(({ sound }) => !sound) ? 1 : 0;
}
