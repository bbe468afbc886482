/** Tries mutants: the tests that each names, the fast ones first, and the compiler after these, until something notices it. */
import { type Mutant, namedTests, readTests, type TestFile, type Tier } from './list.ts';
import { type Commit, digestOf, type Outcome, outcomeOf, type Results } from './results.ts';
import { type Ended, projectOf, type Site } from './site.ts';

/** A test that takes so much longer than without the mutant hangs. */
const TIMES_LONGER = 6;
const LONGER_MS = 60_000;
/** No sound test file takes longer, on a busy machine too. */
const LONGEST_MS = 1_800_000;

interface Run {
  readonly results: Results;
  readonly commit: Commit;
  readonly tiers: readonly Tier[];
  readonly print: (line: string) => void;
}

/** Returns true if a mutant needs a run: nothing caught it yet, and some of its tests have not run. */
export function isOpen(
  mutant: Mutant,
  tests: ReadonlyMap<string, readonly TestFile[]>,
  run: Run,
): boolean {
  const outcome = outcomeOf(run.commit, mutant);
  if (outcome === undefined) return true;
  if (outcome.caught !== null) return false;
  const done = [...outcome.passed, ...(outcome.unusable ?? [])];
  return namedTests(mutant, tests).files.some(
    ({ path, tier }) => run.tiers.includes(tier) && !done.includes(path),
  );
}

/** Tries the mutants one after another in a copy, and saves what became of each. */
export async function runAll(site: Site, next: () => Mutant | undefined, run: Run): Promise<void> {
  for (let mutant = next(); mutant !== undefined; mutant = next()) {
    const outcome = await tryMutant(site, mutant, run);
    run.commit.mutants[mutant.name] = outcome;
    run.results.save();
    const { caught, by = '', first = '', passed } = outcome;
    const end = caught === null ? `SURVIVED ${passed.join(' ')}` : `${caught} ${by} ${first}`;
    run.print(`${mutant.group} ${mutant.name}: ${end}`);
  }
}

async function tryMutant(site: Site, mutant: Mutant, run: Run): Promise<Outcome> {
  const before = outcomeOf(run.commit, mutant);
  const passed = [...(before?.passed ?? [])];
  const { files, unknown } = namedTests(mutant, readTests(site.root));
  const tests = files.filter(({ path }) => !passed.includes(path));
  // An older commit may lack a test.
  const unusable = [...unknown];
  let caught: Catch | null = null;
  for (const tier of run.tiers) {
    const paths = tests.filter((test) => test.tier === tier).map(({ path }) => path);
    const sound: string[] = [];
    for (const path of paths) {
      const isSound = await passesWithout(run, path, () => testSound(site, path));
      (isSound ? sound : unusable).push(path);
    }
    if (tier === 'fast' && isTyped(mutant)) await typesPass(site, mutant, run);
    if (sound.length > 0 || (tier === 'fast' && before === undefined)) {
      caught = await during(site, mutant, () =>
        findCatcher(site, mutant, tier, sound, run, passed),
      );
    }
    if (caught !== null) break;
  }
  const digest = { mutant: digestOf(mutant), ...(unusable.length > 0 && { unusable }) };
  return { ...(caught ?? { caught }), passed, ...digest };
}

/** Does `work` while the mutant is in the copy. */
async function during<T>(site: Site, mutant: Mutant, work: () => Promise<T>): Promise<T> {
  try {
    site.apply(mutant);
    return await work();
  } finally {
    site.restore(mutant);
  }
}

/** Returns true if a test, or the compiler, passes without a mutant: otherwise its failure would show nothing. */
async function passesWithout(run: Run, name: string, execute: () => Promise<Ended>) {
  const known = run.commit.sound[name];
  if (known !== undefined) return known.passed;
  const start = performance.now();
  const ended = await execute();
  const passed = ended.code === 0;
  const seconds = Math.round((performance.now() - start) / 100) / 10;
  if (!passed) run.print(`without a mutant, ${name} does not pass: ${firstFailure(ended)}`);
  run.commit.sound[name] = { passed, seconds };
  run.results.save();
  return passed;
}

/** Runs a test. One that tests nothing does not pass. */
async function testSound(site: Site, path: string): Promise<Ended> {
  const ended = await site.test(path, LONGEST_MS);
  return /^# pass [1-9]/m.test(ended.output) ? ended : { ...ended, code: 1 };
}

function isTyped({ file }: Mutant): boolean {
  return /\.tsx?$/.test(file) && !/kernel/.test(file);
}

function typesPass(site: Site, { file }: Mutant, run: Run): Promise<boolean> {
  const project = projectOf(file);
  return passesWithout(run, `types of ${project}`, () => site.types(project));
}

/** What noticed a mutant. */
type Catch = Pick<Outcome, 'caught' | 'by' | 'first'>;

/** Runs test files until one fails. Adds those that pass to `passed`. The compiler comes after the fast ones. */
async function findCatcher(
  site: Site,
  mutant: Mutant,
  tier: Tier,
  paths: readonly string[],
  run: Run,
  passed: string[],
): Promise<Catch | null> {
  for (const path of paths) {
    // Fast tests need no page.
    if (tier !== 'fast') site.buildPages();
    const { seconds = 0 } = run.commit.sound[path] ?? {};
    const ended = await site.test(path, LONGER_MS + TIMES_LONGER * seconds * 1000);
    if (ended.code !== 0) return { caught: tier, by: path, first: firstFailure(ended) };
    passed.push(path);
  }
  if (tier !== 'fast' || !isTyped(mutant) || !(await typesPass(site, mutant, run))) return null;
  const { code, output } = await site.types(projectOf(mutant.file));
  return code === 0 ? null : { caught: 'types', first: output.split('\n')[0] ?? '' };
}

/** Returns the name of the first test that failed, from the output of the TAP reporter. */
function firstFailure({ output, tooLong }: Ended): string {
  const hung = tooLong ? 'hung' : undefined;
  const failed = /^\s*not ok \d+ - (.*)$/m.exec(output)?.[1];
  return failed ?? hung ?? output.trim().split('\n').at(-1) ?? '';
}
