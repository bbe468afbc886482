/** The plans: the published ones, and those of a file. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { monthlyQuotas, type Plans, PUBLISHED_PLANS, readConfig } from '../src/config/index.ts';
import { unknownPlansProblem } from '../src/setup/index.ts';
import { runCommand as phm } from './support/servers/run-command.ts';
import { ROOT } from './support/texts/imports.ts';

const folder = mkdtempSync(join(tmpdir(), 'phm-plans-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const file = join(folder, 'plans.json');
const TEAM = { label: 'Team', monthly_quota: 20_000, requests_per_second: 2.5, burst: 50 };

function read(text: string): { plans: Plans | null; problems: string } {
  writeFileSync(file, text);
  const context = { cores: 1, knownSources: ['os', 'quantum-simulator'], serves: false };
  const result = readConfig({ PHM_PLANS_FILE: file }, context);
  return result.ok
    ? { plans: result.config.plans, problems: '' }
    : { plans: null, problems: result.problems.join('\n') };
}

const problemsOf = (plans: unknown): string => read(JSON.stringify({ plans })).problems;

describe('plans', () => {
  it("have the interface specification's monthly quotas without a file", () => {
    const quotas = { research: 1_000, professional: 100_000, enterprise: null };
    assert.deepEqual(monthlyQuotas(PUBLISHED_PLANS), quotas);
  });

  it('take changed figures and new plans from a file', () => {
    const { plans } = read(JSON.stringify({ plans: { research: { burst: 5 }, team: TEAM } }));
    assert.deepEqual(
      [...(plans?.keys() ?? [])],
      ['research', 'professional', 'enterprise', 'team'],
    );
    assert.deepEqual(plans?.get('research'), {
      ...PUBLISHED_PLANS.get('research'),
      burst: 5,
    });
    const team = { label: 'Team', monthlyQuota: 20_000, ratePerSecond: 2.5, burst: 50 };
    assert.deepEqual(plans?.get('team'), team);
    assert.deepEqual(plans?.get('enterprise'), PUBLISHED_PLANS.get('enterprise'));
  });

  it('of the example file and of the documents are valid', () => {
    const text = readFileSync(join(ROOT, 'deploy/plans.example.json'), 'utf8');
    assert.equal(read(text).problems, '');
    const page = readFileSync(join(ROOT, 'docs/configuration.md'), 'utf8');
    const [, shown] = /```json\n(\{\n {2}"plans"[^`]*)```/.exec(page) ?? [];
    assert.deepEqual([read(shown ?? '').problems, read(shown ?? '').plans?.size], ['', 4]);
  });

  it('refuse figures out of bounds, by their path in the file', () => {
    const cases: [member: object, said: string][] = [
      [{ burst: 0 }, 'plans.team.burst: expected a whole number from 1 to 1000000, got 0'],
      [{ burst: 1.5 }, 'plans.team.burst: expected a whole number from 1 to 1000000, got 1.5'],
      [{ requests_per_second: 0 }, 'expected a number from 0.001 to 1000000, got 0'],
      [{ requests_per_second: '9' }, 'expected a number from 0.001 to 1000000, got "9"'],
      [{ monthly_quota: -1 }, 'expected a whole number from 0 to 1000000000000, or null for unli'],
      [{ monthly_quota: 0.5 }, 'plans.team.monthly_quota: expected a whole number'],
      [{ label: '' }, 'plans.team.label: expected 1 to 60 printable characters'],
      [{ label: 'a\nb' }, 'plans.team.label: expected 1 to 60 printable characters'],
      [{ qouta: 1 }, 'plans.team.qouta: expected only the members label, monthly_quota'],
    ];
    for (const [member, said] of cases) {
      const problems = problemsOf({ team: { ...TEAM, ...member } });
      assert.ok(problems.startsWith(`PHM_PLANS_FILE (${file}): `), problems);
      assert.ok(problems.includes(said), problems);
      assert.equal(problems.split('\n').length, 1, problems);
    }
  });

  it('need every figure for a new plan, and accept quotas of 0 and none', () => {
    const said = problemsOf({ team: {} });
    for (const member of Object.keys(TEAM)) {
      assert.match(said, new RegExp(`plans\\.team\\.${member}: expected .*, got nothing`));
    }
    for (const monthly_quota of [0, null]) {
      assert.equal(problemsOf({ team: { ...TEAM, monthly_quota } }), '');
    }
  });

  it('refuse a file of another form, wrong names and too many plans', () => {
    const cases: [text: string, said: RegExp][] = [
      ['{"plans": {', /is not valid JSON/],
      ['[]', /the file: expected an object, got \[\]$/],
      ['{}', /plans: expected an object, got nothing/],
      ['{"plans": {}, "version": 1}', /version: expected only the members plans/],
      // A secret in place of the file.
      [`"${'c3'.repeat(32)}"`, /the file: expected an object, got "[c3]{23}$/],
      ['{"plans": {"team": null}}', /plans\.team: expected an object, got null$/],
      ['{"plans": {"Team A": {}}}', /expected names of lower-case letters.*, got "Team A"$/],
      ['{"plans": {"__proto__": {}}}', /expected names of lower-case letters.*, got "__proto__"$/],
    ];
    for (const [text, said] of cases) assert.match(read(text).problems, said);
    const many = Object.fromEntries(Array.from({ length: 98 }, (_, i) => [`p${i}`, TEAM]));
    assert.match(problemsOf(many), /expected at most 100 with the published ones, got 101/);
    delete many.p0;
    assert.equal(problemsOf(many), '');
    rmSync(file);
    const missing = readConfig(
      { PHM_PLANS_FILE: file },
      { cores: 1, knownSources: ['os', 'quantum-simulator'], serves: false },
    );
    assert.ok(!missing.ok && /^PHM_PLANS_FILE: /.test(missing.problems[0]));
  });

  it('that accounts use are named if the configuration lacks them', async () => {
    const accounts = Array.from({ length: 7 }, (_, i) => ({ accountId: `a${i}`, plan: 'team' }));
    const of = (count: number) =>
      unknownPlansProblem(
        { accountsOutside: async () => accounts.slice(0, count) },
        PUBLISHED_PLANS,
      );
    assert.equal(await of(0), null);
    assert.match((await of(1)) ?? '', /lacks the plan of a0 \(team\): add the plan to the file/);
    assert.match((await of(7)) ?? '', /a4 \(team\) and 2 more: add .* phm account set-plan$/);
  });

  it('of a file are choices of phm account, and of no other command line', async () => {
    writeFileSync(file, JSON.stringify({ plans: { team: TEAM } }));
    const env = { PHM_DATA_DIR: join(folder, 'data'), PHM_PLANS_FILE: file };
    const create = ['account', 'create', '--init', '--name', 'A', '--plan'];
    const made = await phm([...create, 'team'], env);
    assert.deepEqual([made.code, /on the Team plan/.test(made.stderr)], [0, true], made.stderr);
    const accountId = made.stdout.trim();
    const { PHM_PLANS_FILE: _, ...without } = env;
    const refused = await phm(['account', 'set-plan', accountId, 'team'], without);
    assert.equal(refused.code, 2);
    assert.match(refused.stderr, /research, professional, enterprise/);
    assert.equal((await phm(['account', 'set-plan', accountId, 'research'], without)).code, 0);
    writeFileSync(file, '{');
    const broken = await phm(['account', 'set-plan', accountId, 'team'], env);
    assert.equal(broken.code, 2);
    assert.match(broken.stderr, /PHM_PLANS_FILE .* is not valid JSON/);
  });
});
