/** The numbers of the pages that the code has too. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { CHECKS } from '../src/cli/doctor/checks.ts';
import { oldestProgram, readMigrations } from '../src/ledger/migrations.ts';
import { columnsOf, TABLE_NAMES } from '../src/ledger/tables.ts';
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

  it('docs/ledger.md: what the ledger holds that needs newer programs', () => {
    const page = readFileSync(join(ROOT, 'docs/ledger.md'), 'utf8');
    const [, list = ''] = page.match(/\n\| First \| To \|.*\n([\s\S]*?)\n\n/) ?? [];
    const said = [...list.matchAll(/^\| .* \| (\d+) \| .* \|$/gm)].map(([, version]) =>
      Number(version),
    );
    const needed = TABLE_NAMES.flatMap((table) =>
      columnsOf(table).flatMap(({ needs = [] }) => needs),
    );
    assert.deepEqual(
      said,
      [...new Set(needed)].sort(),
      'docs/ledger.md#older-programs: one row a version',
    );
  });

  it('docs/ledger.md and docs/guides/upgrade.md: the oldest programs for the schema', () => {
    const ledger = readFileSync(join(ROOT, 'docs/ledger.md'), 'utf8');
    const upgrade = readFileSync(join(ROOT, 'docs/guides/upgrade.md'), 'utf8').replace(/\s+/g, ' ');
    const [, sqlite, postgres] =
      ledger.match(/Today that is (\d+) with SQLite,.* and (\d+) with PostgreSQL/) ?? [];
    const [, said] = upgrade.match(/schema of this release allows programs of schema (\d+)/) ?? [];
    const code = (['postgres', 'sqlite'] as const).map((store) => {
      return String(oldestProgram(readMigrations(store)));
    });
    assert.deepEqual(
      [said, said],
      code,
      'docs/guides/upgrade.md: "The schema of this release allows programs of schema …"',
    );
    assert.deepEqual(
      [postgres, sqlite],
      code,
      'docs/ledger.md: "Today that is … with SQLite, … and … with PostgreSQL"',
    );
  });
});
