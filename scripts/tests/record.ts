/** Keeps when each campaign last ran in full, on which commit, and its figures: docs/evidence/campaigns.json and .md. */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FileOutcome } from './run.ts';
import { campaignOf, ROOT } from './tiers.ts';

interface CampaignRecord {
  readonly name: string;
  /** Day of the run, UTC. */
  readonly date: string;
  /** Short commit; `+` behind it if files were changed other than evidence, to which each run adds. */
  readonly commit: string;
  readonly seconds: number;
  readonly passed: boolean;
  readonly tests: number;
  readonly skipped: number;
  readonly figures: readonly string[];
}

const RECORDS = join(ROOT, 'docs/evidence/campaigns.json');
const PAGE = join(ROOT, 'docs/evidence/campaigns.md');

const [BEGIN, END] = ['<!-- begin: last runs -->', '<!-- end: last runs -->'];

/** Replaces the records of the campaigns that ran, and the table of the page. */
export function record(outcomes: readonly FileOutcome[]): void {
  const [date = ''] = new Date().toISOString().split('T');
  const commit = commitNow();
  const records = new Map(readRecords().map((one) => [one.name, one]));
  for (const { file, seconds, passed, counts, figures } of outcomes) {
    const { tests, skipped } = counts;
    const name = campaignOf(file);
    records.set(name, { name, date, commit, seconds, passed, tests, skipped, figures });
  }
  const all = [...records.values()].sort((a, b) => a.name.localeCompare(b.name));
  writeFileSync(RECORDS, `${JSON.stringify(all, null, 2)}\n`);
  writeFileSync(PAGE, withTable(readFileSync(PAGE, 'utf8'), all));
}

export function readRecords(): CampaignRecord[] {
  return JSON.parse(readFileSync(RECORDS, 'utf8'));
}

/** Returns the page with the table of these records between its marks. */
export function withTable(page: string, records: readonly CampaignRecord[]): string {
  const [before, rest = ''] = page.split(BEGIN);
  const [, after = ''] = rest.split(END);
  return `${before}${BEGIN}\n${tableOf(records)}${END}${after}`;
}

function tableOf(records: readonly CampaignRecord[]): string {
  const head = '| Campaign | Last run | Commit | Time | Result |\n|---|---|---|---|---|\n';
  const rows = records.map(
    ({ name, date, commit, seconds, passed, tests, skipped }) =>
      `| [${name}](../../test/campaigns/${name}.test.ts) | ${date} | \`${commit}\` | ${Math.ceil(seconds)} s | ${resultOf(passed, tests, skipped)} |\n`,
  );
  return head + rows.join('');
}

function resultOf(passed: boolean, tests: number, skipped: number): string {
  const left = skipped > 0 ? `, ${skipped} skipped` : '';
  return `${passed ? 'passed' : '**failed**'}: ${tests} ${tests === 1 ? 'test' : 'tests'}${left}`;
}

function commitNow(): string {
  const changed = git('status', '--porcelain', '--untracked-files=no', '--', ':!docs/evidence');
  const isChanged = changed !== '';
  return `${headCommit()}${isChanged ? '+' : ''}`;
}

/** Returns the short name of the commit that is checked out. */
export function headCommit(): string {
  return git('rev-parse', '--short=8', 'HEAD');
}

function git(...args: string[]): string {
  return execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).trim();
}
