/** The numbers of the pages that the code has too. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { CHECKS } from '../src/cli/doctor/checks.ts';
import { newestVersion, oldestProgram, readMigrations } from '../src/ledger/migrations.ts';
import { ROOT } from './support/texts/imports.ts';

describe('the pages have the numbers of the code', () => {
  it('docs/cli.md: the checks of phm doctor with a limit of their own', () => {
    const page = readFileSync(join(ROOT, 'docs/cli.md'), 'utf8');
    for (const { name, limitMs } of CHECKS) {
      const said = page.match(new RegExp(`\\x60${name}\\x60 (\\d+) s`))?.[1];
      const should =
        limitMs === undefined ? 'no sentence gives a limit' : `"\`${name}\` ${limitMs / 1_000} s"`;
      assert.equal(said && Number(said) * 1_000, limitMs, `docs/cli.md#phm-doctor: ${should}`);
    }
  });

  it('docs/dependencies.md: the packages whose version is a range', () => {
    const page = readFileSync(join(ROOT, 'docs/dependencies.md'), 'utf8');
    const [, said = ''] = page.match(/no `~`\. ([\s\S]*?)\n-/) ?? [];
    for (const folder of ['.', 'sdk', 'packages/sealing']) {
      const { dependencies, devDependencies } = JSON.parse(
        readFileSync(join(ROOT, folder, 'package.json'), 'utf8'),
      ) as Record<string, Record<string, string> | undefined>;
      for (const [name, version] of Object.entries({ ...dependencies, ...devDependencies })) {
        const isExact = /^(\d|file:)/.test(version);
        assert.equal(
          isExact,
          !(folder === 'sdk' && said.includes(`\`${name}\``)),
          `${folder}/package.json and the sentence with "no \`~\`" in docs/dependencies.md: ${name} is ${version}`,
        );
      }
    }
  });

  it('docs/ledger.md and docs/guides/upgrade.md: the schema, and the oldest programs for it', () => {
    const ledger = readFileSync(join(ROOT, 'docs/ledger.md'), 'utf8');
    const upgrade = readFileSync(join(ROOT, 'docs/guides/upgrade.md'), 'utf8').replace(/\s+/g, ' ');
    const [, sqlite, postgres] =
      ledger.match(/Today that is (\d+) with SQLite,.* and (\d+) with PostgreSQL/) ?? [];
    const said = [...upgrade.matchAll(/chema (\d+) allows programs of schema (\d+)/g)];
    const code = (['postgres', 'sqlite'] as const).map((store) => {
      const migrations = readMigrations(store);
      const newest = newestVersion(migrations);
      return [String(newest), String(oldestProgram(migrations))];
    });
    assert.deepEqual(
      said.map(([, newest, oldest]) => [newest, oldest]),
      code,
      'docs/guides/upgrade.md: "Schema … allows programs of schema …", PostgreSQL first',
    );
    assert.deepEqual(
      [postgres, sqlite],
      code.map(([, oldest]) => oldest),
      'docs/ledger.md: "Today that is … with SQLite, … and … with PostgreSQL"',
    );
  });
});
