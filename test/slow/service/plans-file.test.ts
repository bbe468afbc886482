/** Servers with `PHM_PLANS_FILE`, and accounts on plans that one of them lacks. 15 s. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { until } from '../../support/run/until.ts';
import {
  type Environment,
  lastReason,
  logLines,
  makeDataDir,
  phmJson,
  removeDataDir,
  runPhm,
  Server,
} from '../../support/servers/server.ts';

const SMALL = { label: 'Small', monthly_quota: 2, requests_per_second: 0.5, burst: 7 };

describe('a server with a file of plans', () => {
  const dataDir = makeDataDir();
  const file = join(dataDir, 'plans.json');
  const more = join(dataDir, 'more.json');
  const env: Environment = { PHM_PLANS_FILE: file };
  let server: Server;
  let accountId: string;
  let apiKey: string;
  let other: string;

  async function makeAccount(plan: string, extra: Environment): Promise<[string, string]> {
    const create = ['account', 'create', '--init', '--name', plan, '--plan', plan];
    const { account_id } = await phmJson<{ account_id: string }>(create, dataDir, extra);
    const issue = ['api-key', 'issue', '--account', account_id];
    const { api_key } = await phmJson<{ api_key: string }>(issue, dataDir, extra);
    return [account_id, api_key];
  }

  const setPlan = (plan: string, extra: Environment) =>
    phmJson(['account', 'set-plan', accountId, plan], dataDir, extra);

  const generate = (key: string) => server.generate({ security_level: 128 }, key);

  async function doctor(extra: Environment): Promise<{ status: string; detail: string }> {
    const { stdout } = await runPhm(['doctor', '--json'], dataDir, { PHM_PORT: '0', ...extra });
    const { checks } = JSON.parse(stdout);
    return checks.find(({ name }: { name: string }) => name === 'plans');
  }

  before(async () => {
    writeFileSync(file, JSON.stringify({ plans: { small: SMALL } }));
    writeFileSync(more, JSON.stringify({ plans: { small: SMALL, large: SMALL } }));
    [accountId, apiKey] = await makeAccount('small', env);
    [, other] = await makeAccount('enterprise', env);
    server = await Server.start(dataDir, env);
  });
  after(async () => {
    await server?.stop();
    removeDataDir(dataDir);
  });

  it('enforces its figures', async () => {
    const first = await generate(apiKey);
    assert.equal(first.status, 200);
    const policy = String(first.headers.get('ratelimit-policy'));
    assert.match(policy, /^"rate";q=7;w=14, "quota";q=2;w=\d+$/);
    assert.equal((await generate(apiKey)).status, 200);
    assert.equal((await generate(apiKey)).body.code, 'quota_exceeded');
  });

  it('records other plans in the log when it starts, once', async () => {
    const { stdout } = await runPhm(['audit', 'list', '--json'], dataDir, env);
    const lines = stdout.trim().split('\n').join(' ');
    assert.equal(lines.match(/plans_configured/g)?.length, 1, lines);
    assert.match(server.log, /the plans differ from those recorded last/);
    assert.equal((await doctor(env)).status, 'ok');
    const other = await doctor({ PHM_PLANS_FILE: more });
    assert.deepEqual([other.status, /started last/.test(other.detail)], ['warning', true]);
  });

  it('refuses only the account whose plan it lacks, until it has another', async () => {
    await setPlan('large', { PHM_PLANS_FILE: more });
    await until('the new plan is seen', async () => (await generate(apiKey)).status === 503);
    // Within the limit of its refusals.
    const { body, headers } = await generate(apiKey);
    assert.deepEqual([body.code, headers.get('retry-after')], ['unknown_plan', '60']);
    assert.equal((await generate(other)).status, 200);
    const known = logLines(server.log).find(({ code }) => code === 'unknown_plan');
    assert.match(known.reason, new RegExp(`account ${accountId} is on the plan "large"`));
    const { status, detail } = await doctor(env);
    assert.deepEqual([status, detail.includes(`${accountId} (large)`)], ['failed', true]);
    await setPlan('enterprise', env);
    await until('the known plan is seen', async () => (await generate(apiKey)).status === 200);
  });

  it('does not start while an account is on a plan that it lacks', async () => {
    await setPlan('large', { PHM_PLANS_FILE: more });
    await server.stop();
    const { code, stderr } = await runPhm(['serve'], dataDir, { ...env, PHM_PORT: '0' });
    assert.equal(code, 1);
    assert.match(
      lastReason(stderr),
      new RegExp(`lacks the plan of ${accountId} \\(large\\): .* phm account set-plan$`),
    );
    server = await Server.start(dataDir, { PHM_PLANS_FILE: more });
    // Its quota is that of the file: two keys, which are used up.
    assert.equal((await generate(apiKey)).body.code, 'quota_exceeded');
  });
});
