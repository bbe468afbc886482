/**
 * The list of seeded defects: `test/mutants/<group>.json`. A mutant replaces one text in one file, and names the tests that may
 * notice it: by its file name alone, so that it may move between folders, or by its path if the name is not the only one. The
 * tier of a test follows from where it lies.
 */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { tierOf } from '../tests/tiers.ts';

export const GROUPS = ['lab', 'service', 'ledger', 'log', 'clients', 'browser', 'deploy'] as const;
export type Group = (typeof GROUPS)[number];

export interface Mutant {
  readonly name: string;
  readonly group: Group;
  /** `mended`: takes a mend out again. `chosen`: a place that the script chose. */
  readonly origin: 'mended' | 'chosen';
  /** Path below the root of the repository. */
  readonly file: string;
  /** Occurs once in the file. */
  readonly find: string;
  readonly replace: string;
  /** What goes wrong with it. */
  readonly why: string;
  readonly tests: readonly string[];
}

export type Tier = 'fast' | 'slow' | 'campaign';

/** A test of a checkout. */
export interface TestFile {
  readonly path: string;
  readonly tier: Tier;
}

export function listPath(root: string, group: Group): string {
  return join(root, 'test/mutants', `${group}.json`);
}

/** Reads the mutants of all groups. */
export function readMutants(root: string): Mutant[] {
  return GROUPS.flatMap((group) => {
    const path = listPath(root, group);
    if (!existsSync(path)) return [];
    const mutants = JSON.parse(readFileSync(path, 'utf8')) as Omit<Mutant, 'group'>[];
    return mutants.map((mutant) => ({ ...mutant, group }));
  });
}

/** Returns the tests of a checkout by the names that mutants may give them: path and file name. A name of two files has two. */
export function readTests(root: string): ReadonlyMap<string, readonly TestFile[]> {
  const tests = new Map<string, TestFile[]>();
  for (const found of globSync('{test,packages/*/test}/**/*.test.ts', { cwd: root })) {
    const path = found.replaceAll('\\', '/');
    const file = { path, tier: tierOf(path) };
    tests.set(path, [file]);
    tests.set(basename(path), [...(tests.get(basename(path)) ?? []), file]);
  }
  return tests;
}

/** Returns the tests that a mutant names, the fast ones first, and the names that no test has, or two have. */
export function namedTests(
  mutant: Mutant,
  tests: ReadonlyMap<string, readonly TestFile[]>,
): { readonly files: readonly TestFile[]; readonly unknown: readonly string[] } {
  const order: readonly Tier[] = ['fast', 'slow', 'campaign'];
  const files: TestFile[] = [];
  const unknown: string[] = [];
  for (const name of mutant.tests) {
    const found = tests.get(name) ?? [];
    // A slow test may have the name of a fast one, which then needs its path.
    const [file, ...others] =
      found.length > 1 ? found.filter(({ tier }) => tier !== 'fast') : found;
    if (file === undefined || others.length > 0) unknown.push(name);
    else files.push(file);
  }
  files.sort((a, b) => order.indexOf(a.tier) - order.indexOf(b.tier));
  return { files, unknown };
}

/** Returns the file with the mutant in it. Throws unless its text occurs once. */
export function mutated(mutant: Mutant, root: string): string {
  const path = join(root, mutant.file);
  if (!existsSync(path)) throw new Error(`${mutant.name}: there is no ${mutant.file}`);
  const parts = readFileSync(path, 'utf8').split(mutant.find);
  if (parts.length !== 2) {
    const times = parts.length - 1;
    throw new Error(`${mutant.name}: its text occurs ${times} times in ${mutant.file}, not once`);
  }
  return parts.join(mutant.replace);
}

/** Returns what is wrong with the list in this checkout, a line for each fault. */
export function faultsOfList(root: string): string[] {
  const mutants = readMutants(root);
  const tests = readTests(root);
  const names = new Set<string>();
  const faults: string[] = [];
  for (const mutant of mutants) {
    if (names.has(mutant.name)) faults.push(`${mutant.name}: another mutant has this name`);
    names.add(mutant.name);
    try {
      mutated(mutant, root);
    } catch (error) {
      faults.push((error as Error).message);
    }
    for (const name of namedTests(mutant, tests).unknown) {
      faults.push(`${mutant.name}: there is no test ${name}, or there are two: give its path`);
    }
    if (mutant.find === mutant.replace) faults.push(`${mutant.name}: it changes nothing`);
    if (mutant.tests.length === 0) faults.push(`${mutant.name}: it names no test`);
  }
  return faults;
}
