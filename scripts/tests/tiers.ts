/** The tiers of the tests, and the files of each. */
import { existsSync, globSync } from 'node:fs';
import { basename, relative, resolve, sep } from 'node:path';

export const ROOT: string = resolve(import.meta.dirname, '../..');

/** Wrong arguments. The message is one sentence for the caller. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

interface TierOptions {
  /** Longest time of a file, many times what it takes: it ends a run that hangs. */
  readonly limitMs: number;
  /** Files side by side. */
  readonly concurrency: number;
}

const MINUTE_MS = 60_000;

export const TIERS = {
  fast: { limitMs: 15 * MINUTE_MS, concurrency: 3 },
  slow: { limitMs: 30 * MINUTE_MS, concurrency: 4 },
  campaign: { limitMs: 60 * MINUTE_MS, concurrency: 2 },
  one: { limitMs: 60 * MINUTE_MS, concurrency: 1 },
} as const satisfies Record<string, TierOptions>;

/** Samples of campaigns side by side: unlike full ones, they limit no time. */
export const SAMPLE_CONCURRENCY = 3;

type Tier = keyof typeof TIERS;

export function isTier(text: string): text is Tier {
  return Object.hasOwn(TIERS, text);
}

/** Returns the files of a tier, or those that `names` select. Throws `UsageError` for a name without a file. */
export function filesOf(tier: Tier, names: readonly string[]): string[] {
  if (tier === 'fast') return fastFiles(names);
  if (tier === 'slow') return inTurn(select(names, slowGroups(), 'group'));
  if (tier === 'campaign') return select(names, campaigns(), 'campaign').flat();
  if (names.length === 0) throw new UsageError('expected the path of a test file');
  return names.map(existing);
}

/** Names and files of all campaigns. */
function campaigns(): Map<string, string[]> {
  return new Map(find('test/campaigns/*.test.ts').map((file) => [campaignOf(file), [file]]));
}

/** Returns the name of the campaign in a file. */
export function campaignOf(file: string): string {
  return basename(file, '.test.ts');
}

function fastFiles(names: readonly string[]): string[] {
  if (names.length > 0) {
    throw new UsageError(`to run single files: npm run test:one -- ${names.join(' ')}`);
  }
  return find('{test,packages/*/test}/**/*.test.ts').filter(
    (file) => tierOf(relative(ROOT, file)) === 'fast',
  );
}

/** Returns the tier of a test file by its path below the root. */
export function tierOf(path: string): 'fast' | 'slow' | 'campaign' {
  const [, folder] = /(?:^|[\\/])test[\\/](slow|campaigns)[\\/]/.exec(path) ?? [];
  if (folder === 'slow') return 'slow';
  return folder === 'campaigns' ? 'campaign' : 'fast';
}

/** Groups by folder: `log` of test/slow/log/, and `lab` of test/slow/lab/ and packages/lab/test/slow/. */
function slowGroups(): Map<string, string[]> {
  return Map.groupBy(find('{test/slow/*,packages/*/test/slow}/*.test.ts'), (file) => {
    const [top, name = '', group = ''] = relative(ROOT, file).split(sep);
    return top === 'packages' ? name : group;
  });
}

/** Takes a file of each group in turn: those of some groups compute while those of others wait. */
function inTurn(groups: readonly (readonly string[])[]): string[] {
  const turns = Math.max(...groups.map(({ length }) => length));
  return Array.from({ length: turns }, (_, turn) =>
    groups.flatMap((files) => files[turn] ?? []),
  ).flat();
}

/** Returns the files of each chosen name, or of all. */
function select(
  names: readonly string[],
  known: ReadonlyMap<string, readonly string[]>,
  what: string,
): (readonly string[])[] {
  const chosen = names.length > 0 ? [...new Set(names)] : [...known.keys()];
  return chosen.map((name) => {
    const files = known.get(name);
    if (files) return files;
    throw new UsageError(
      `there is no ${what} "${name}"; there are ${[...known.keys()].join(', ')}`,
    );
  });
}

function find(pattern: string): string[] {
  return globSync(pattern, { cwd: ROOT })
    .sort()
    .map((file) => resolve(ROOT, file));
}

function existing(path: string): string {
  const file = resolve(path);
  if (existsSync(file) && file.endsWith('.test.ts')) return file;
  throw new UsageError(
    `${relative(ROOT, file)} is no test file: expected a path that ends in .test.ts`,
  );
}
