/** The record of the campaigns in docs/evidence/: its table is that of its figures, and each name is a campaign. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { readRecords, withTable } from '../scripts/tests/record.ts';
import { campaignOf, filesOf, ROOT } from '../scripts/tests/tiers.ts';

describe('docs/evidence/campaigns.md', () => {
  it('has the table of campaigns.json', () => {
    const page = readFileSync(join(ROOT, 'docs/evidence/campaigns.md'), 'utf8');
    assert.equal(page, withTable(page, readRecords()));
  });

  it('names campaigns that exist, each of which passed', () => {
    const names = new Set(filesOf('campaign', []).map(campaignOf));
    for (const { name, passed } of readRecords()) {
      assert.ok(names.has(name), `there is no campaign "${name}": remove its record`);
      assert.ok(passed, `the last full run of "${name}" failed`);
    }
  });
});
