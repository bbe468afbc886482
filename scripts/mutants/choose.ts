/** Chooses places for mutants among those that fast tests run (`coverage`), the same ones for the same seed. */
import { createHash } from 'node:crypto';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Coverage, readCoverage } from './coverage.ts';
import type { Group, Mutant } from './list.ts';
import { type Candidate, candidatesIn } from './operators.ts';

/** What belongs to a group. The first row that fits counts. */
const GROUP_OF: readonly (readonly [RegExp, Group])[] = [
  [/^(packages\/(sp800|ais)|src\/cli\/(assess|noise)\/)/, 'lab'],
  [/^(src\/log\/|src\/service\/log|packages\/tlog\/|src\/cli\/log\/)/, 'log'],
  [/^(src\/ledger\/|src\/cli\/admin\/)/, 'ledger'],
  [/^(sdk\/|packages\/sealing\/|src\/cli\/)/, 'clients'],
  [/^dashboard\//, 'browser'],
  [/^deploy\//, 'deploy'],
  [/^src\//, 'service'],
];

/** Files that no fast test runs in Node: programs in Python, pages in a browser, examples for operators. */
const UNMEASURED: Readonly<Partial<Record<Group, string>>> = {
  clients: 'sdk/python/src/**/*.py',
  browser: '{dashboard/src,packages/lab/testbench/src}/**/*.{ts,tsx}',
  deploy: 'deploy/**/{Dockerfile,Caddyfile,*.{yml,yaml,conf,cfg,service,sh,sql,json}}',
};

/** Tests of files that no fast test runs. The first row that fits counts. */
const TESTS_OF: readonly (readonly [RegExp, readonly string[]])[] = [
  [
    /^dashboard\/testbench\//,
    ['testbench-form', 'testbench-output', 'testbench', 'testbench-workers'],
  ],
  [/^dashboard\/src\/keys\//, ['dashboard-keys', 'dashboard-journey']],
  [/^dashboard\/src\/receipts\//, ['dashboard-receipts', 'dashboard-journey']],
  [/^dashboard\//, ['dashboard', 'dashboard-views', 'dashboard-journey', 'dashboard-failures']],
  [/\.py$/, ['python-client']],
  [/^deploy\/prometheus\//, ['deploy/deploy', 'alert-rules', 'monitoring']],
  [/^deploy\/grafana\//, ['deploy/deploy', 'monitoring']],
  [
    /^deploy\/(compose|nginx|caddy)\//,
    ['deploy/proxies', 'deploy/deploy', 'proxies', 'proxy-errors'],
  ],
  [/^deploy\/postgres\//, ['deploy/deploy', 'database-roles', 'postgres-restore']],
  [/^deploy\//, ['deploy/deploy', 'deploy/image-digests', 'upgrade']],
];

/** Tests that a mutant names: those whose paths have most in common with the file's, and of these the ones that run least else. */
const MOST_TESTS = 5;

/** Returns `count` mutants of a group in files whose path begins with `prefix`, each in another file. */
export function choose(
  root: string,
  group: Group,
  prefix: string,
  seed: number,
  count: number,
): Mutant[] {
  const coverage = readCoverage(root);
  const candidates = filesOf(root, group, coverage)
    .filter(
      (file) =>
        file.startsWith(prefix) && !/\.test\.|\.d\.ts$/.test(file) && existsSync(join(root, file)),
    )
    .flatMap((file) => candidatesIn(file, readFileSync(join(root, file), 'utf8')))
    .map((candidate) => ({ candidate, tests: testsOf(candidate, coverage) }))
    .filter(({ tests }) => tests.length > 0);
  const inOrder = candidates.sort((a, b) =>
    rank(seed, a.candidate) < rank(seed, b.candidate) ? -1 : 1,
  );
  const chosen = new Map<string, Mutant>();
  for (const { candidate, tests } of inOrder) {
    const { file, operator, find, replace } = candidate;
    if (chosen.size < count && !chosen.has(file)) {
      const name = `${file.replace(/^.*\/(?=[^/]+\/)/, '').replace(/\W+/g, '-')}-${rank(seed, candidate).slice(0, 4)}`;
      const why = operator;
      chosen.set(file, { name, group, origin: 'chosen', file, find, replace, why, tests });
    }
  }
  return [...chosen.values()];
}

function filesOf(root: string, group: Group, coverage: Coverage): string[] {
  const unmeasured = UNMEASURED[group];
  const others = unmeasured === undefined ? [] : globSync(unmeasured, { cwd: root });
  const measured = [...coverage.files].filter(
    (file) => GROUP_OF.find(([path]) => path.test(file))?.[1] === group,
  );
  return [...new Set([...measured, ...others])].sort();
}

/** Returns the tests that run the place of a candidate, the most special ones first. */
function testsOf({ file, offset }: Candidate, { tests, files }: Coverage): string[] {
  if (!files.has(file)) {
    const [, names = []] = TESTS_OF.find(([path]) => path.test(file)) ?? [];
    return names.map((name) => `${name.replace(/^deploy\//, 'test/deploy/')}.test.ts`);
  }
  return [...tests]
    .filter(([, { ranges }]) =>
      ranges[file]?.some(([start, end]) => start <= offset && offset < end),
    )
    .sort(([one, a], [two, b]) => common(two, file) - common(one, file) || a.length - b.length)
    .slice(0, MOST_TESTS)
    .map(([path]) => path);
}

/** Counts the names that a test's path has in common with a file's. */
function common(test: string, file: string): number {
  const names = new Set(file.replace(/\.tsx?$/, '').split('/'));
  return test
    .replace(/\.test\.ts$/, '')
    .split('/')
    .filter((name) => names.has(name)).length;
}

function rank(seed: number, { file, find, replace }: Candidate): string {
  const text = JSON.stringify([seed, file, find, replace]);
  return createHash('sha256').update(text).digest('hex');
}
