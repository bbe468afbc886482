/**
 * Seeded defects: shows that the tests notice them, and which tier does. docs/evidence/mutants.md has the results.
 *
 *     node scripts/mutants.ts run [--group G] [--name N] [--tier fast|slow|all] [--commit C] [--jobs N] [--publish]
 *     node scripts/mutants.ts check      every text and every test that the list names is there
 *     node scripts/mutants.ts status [--commit C] [--publish]
 *     node scripts/mutants.ts coverage   which functions each fast test runs, into build/mutants-coverage.json
 *     node scripts/mutants.ts choose --group G --count N --seed S [--file PREFIX] [--accept NAME]…
 *
 * `run` tries each mutant in a copy of a commit (default: HEAD), one at a time, with low priority. `--tier slow`, the default,
 * runs the fast and the slow tests that a mutant names; `all` also the campaigns. Run again, it goes on where it ended.
 * Results are in build/mutants/results.json; with `--publish` in docs/evidence/mutants.json, which the repository has.
 * `choose` proposes mutants, and adds those to the list that are accepted by name.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { setPriority } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { choose } from './mutants/choose.ts';
import { measureCoverage } from './mutants/coverage.ts';
import {
  faultsOfList,
  GROUPS,
  type Mutant,
  readMutants,
  readTests,
  type Tier,
} from './mutants/list.ts';
import { Results, statusTable } from './mutants/results.ts';
import { isOpen, runAll } from './mutants/run.ts';
import { Site } from './mutants/site.ts';
import { writeList } from './mutants/write-list.ts';

const ROOT = fileURLToPath(new URL('../', import.meta.url));

const TIERS: Readonly<Record<string, readonly Tier[]>> = {
  fast: ['fast'],
  slow: ['fast', 'slow'],
  all: ['fast', 'slow', 'campaign'],
};

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    group: { type: 'string' },
    name: { type: 'string' },
    tier: { type: 'string', default: 'slow' },
    commit: { type: 'string', default: 'HEAD' },
    jobs: { type: 'string', default: '1' },
    count: { type: 'string', default: '10' },
    seed: { type: 'string', default: '1' },
    file: { type: 'string', default: '' },
    accept: { type: 'string', multiple: true, default: [] },
    publish: { type: 'boolean', default: false },
  },
});

/** Where results are, below the root. */
const RESULTS = values.publish ? 'docs/evidence/mutants.json' : 'build/mutants/results.json';

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

function readResults(): Results {
  const path = join(ROOT, RESULTS);
  mkdirSync(dirname(path), { recursive: true });
  return new Results(path);
}

function commitId(): string {
  const args = ['-C', ROOT, 'rev-parse', '--verify', `${values.commit}^{commit}`];
  return execFileSync('git', args, { encoding: 'utf8' }).trim();
}

function selected(): Mutant[] {
  return readMutants(ROOT).filter(
    ({ group, name }) =>
      (values.group ?? group) === group &&
      (values.name === undefined || name.includes(values.name)),
  );
}

async function run(): Promise<void> {
  setPriority(5);
  // Ends the tests in progress, too.
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(130));
  const tiers = TIERS[values.tier];
  if (tiers === undefined) throw new Error(`--tier is fast, slow or all, not ${values.tier}`);
  const id = commitId();
  const results = readResults();
  const job = { results, commit: results.of(id), tiers, print };
  const sites = Array.from({ length: Number(values.jobs) }, (_, index) =>
    Site.open(ROOT, id, index),
  );
  const tests = readTests(sites[0]?.root ?? ROOT);
  const open = selected().filter((mutant) => isOpen(mutant, tests, job));
  print(`${open.length} mutants to try at ${id.slice(0, 8)}; results go to ${RESULTS}`);
  await Promise.all(sites.map((site) => runAll(site, () => open.shift(), job)));
  for (const site of sites) site.remove();
  print(statusTable(job.commit, readMutants(ROOT)));
}

function check(): void {
  const faults = faultsOfList(ROOT);
  for (const fault of faults) print(fault);
  if (faults.length > 0) process.exitCode = 1;
  else print(`${readMutants(ROOT).length} mutants fit`);
}

function status(): void {
  print(statusTable(readResults().of(commitId()), readMutants(ROOT)));
}

function choosePlaces(): void {
  const group = GROUPS.find((name) => name === values.group);
  if (group === undefined) throw new Error(`--group is one of ${GROUPS.join(', ')}`);
  const chosen = choose(ROOT, group, values.file, Number(values.seed), Number(values.count));
  const accepted = chosen.filter(({ name }) => values.accept.includes(name));
  if (accepted.length === 0) print(JSON.stringify(chosen, null, 2));
  else
    writeList(ROOT, group, [
      ...readMutants(ROOT).filter((one) => one.group === group),
      ...accepted,
    ]);
}

const COMMANDS: Readonly<Record<string, () => void | Promise<void>>> = {
  run,
  check,
  status,
  coverage: () => measureCoverage(ROOT),
  choose: choosePlaces,
};

const command = COMMANDS[positionals[0] ?? ''];
if (command === undefined) {
  print(`usage: node scripts/mutants.ts ${Object.keys(COMMANDS).join('|')}`);
  process.exitCode = 2;
} else {
  await command();
}
