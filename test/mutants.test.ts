/** The list of seeded defects fits the code: scripts/mutants.ts can try each of them. */
import assert from 'node:assert/strict';
import { existsSync, globSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { faultsOfList, GROUPS, readMutants } from '../scripts/mutants/list.ts';
import { BUILDS, projectOf } from '../scripts/mutants/site.ts';
import { ROOT } from './support/texts/imports.ts';

const ADVICE = `Change test/mutants/<group>.json with the code: give the text that now has the rule, and the tests
that now hold it (a slow test or a campaign by its file name, others by their path). Take a mutant out only if its rule is gone.
docs/evidence/mutants.md says more.`;

it('has the text of each seeded defect once, and the tests that may notice it', () => {
  const faults = faultsOfList(ROOT);
  assert.ok(faults.length === 0, `${faults.join('\n')}\n\n${ADVICE}`);
});

it('has 60 seeded defects and more, and some in each group', () => {
  const mutants = readMutants(ROOT);
  const chosen = mutants.filter(({ origin }) => origin === 'chosen');
  assert.ok(chosen.length >= 60, `there are ${chosen.length}`);
  for (const group of GROUPS)
    assert.ok(
      chosen.some((mutant) => mutant.group === group),
      group,
    );
});

it('builds a page anew for each file of the page, where the files are today', () => {
  const files = globSync('{dashboard,packages,scripts,sdk,src}/**/*.ts{,x}', {
    cwd: ROOT,
    exclude: ['**/node_modules'],
  });
  const scripts = (file: string) =>
    BUILDS.filter(([path]) => path.test(file)).map(([, , script]) => script);
  for (const [path] of BUILDS) {
    assert.ok(
      files.some((file) => path.test(file)),
      `${path} is of no file`,
    );
  }
  const ofBench = files.filter((file) => /^packages.lab.(?:src|testbench.src)/.test(file));
  assert.ok(ofBench.length > 100);
  for (const file of ofBench) assert.ok(scripts(file).includes('build:testbench'), file);
  for (const { file } of readMutants(ROOT)) {
    assert.ok(existsSync(join(ROOT, projectOf(file), 'tsconfig.json')), file);
  }
  assert.equal(projectOf('packages/lab/testbench/src/view/settings.ts'), 'packages/lab/testbench');
});
