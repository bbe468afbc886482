/** `phm deliveries` and API keys that only receive, from the operator's commands to the opened key, against a server. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { commandJson, runCommand } from '../../support/servers/run-command.ts';
import { makeDataDir, removeDataDir, Server } from '../../support/servers/server.ts';

const SITES = ['paris', 'lyon'];

describe('phm deliveries', () => {
  const dataDir = makeDataDir();
  const folder = mkdtempSync(join(tmpdir(), 'phm-deliveries-'));
  const operator = { PHM_DATA_DIR: dataDir, PHM_PORT: '0' };
  const place = (name: string) => join(folder, name);
  /** API keys: of the account, and of each site. */
  const apiKeys: Record<string, string> = {};
  let account: string;
  let server: Server;

  const admin = (...args: string[]) => commandJson<Record<string, string>>(args, operator);
  const phm = (who: string, ...args: string[]) =>
    runCommand(args, { PHM_URL: server.address, PHM_API_KEY: apiKeys[who] ?? '' });

  before(async () => {
    const create = ['account', 'create', '--init', '--name', 'Ada', '--plan', 'professional'];
    account = (await admin(...create)).account_id ?? '';
    const issue = ['api-key', 'issue', '--account', account];
    apiKeys.account = (await admin(...issue)).api_key ?? '';
    for (const site of SITES) {
      const made = await runCommand(['recipient', 'new', '--output', place(site)], operator);
      assert.equal(made.code, 0, made.stderr);
      await admin(
        'recipient',
        'add',
        site,
        '--account',
        account,
        '--public-key',
        place(`${site}.recipient`),
      );
      const bound = ['--scope', 'receive', '--recipient', site];
      apiKeys[site] = (await admin(...issue, ...bound)).api_key ?? '';
    }
    server = await Server.start(dataDir, { PHM_RATE_LIMITS: 'off' });
  });
  after(async () => {
    await server.stop();
    removeDataDir(dataDir);
    rmSync(folder, { recursive: true });
  });

  async function deliver(count: number): Promise<string[]> {
    const ids = Array.from({ length: count }, () => randomUUID());
    const seal_to = SITES.map((recipient) => ({ recipient }));
    const body = { security_level: 256, count, seal_to, deliver: { ids } };
    const path = '/api/v2/generate/sealed/batch';
    const { status } = await server.post(path, body, apiKeys.account ?? '');
    assert.equal(status, 200);
    return ids;
  }

  it('begin with phm generate, under a new ID or a given one', async () => {
    const to = SITES.flatMap((site) => ['--recipient', site]);
    const own = randomUUID();
    const context = Buffer.alloc(32, 7).toString('base64');
    const more = ['--deliver-for', '2h', '--deliver-context', context];
    for (const options of [[], [own, ...more]]) {
      const made = await phm('account', 'generate', ...to, '--deliver', ...options);
      assert.equal(made.code, 0, made.stderr);
      const { key_id, delivery, sealed_keys: copies } = JSON.parse(made.stdout);
      const shown = await phm('account', 'keys', 'show', key_id);
      assert.match(shown.stdout, new RegExp(`^delivery +${delivery.id}$`, 'm'));
      assert.equal(copies.length, 2);
      assert.ok(made.stderr.includes(`Delivery: ${delivery.id}, for paris, lyon, until 20`));
      const ids = [delivery.id];
      for (const site of SITES) {
        const fetched = await phm(site, 'deliveries', 'fetch', ...ids, '--recipient', site);
        const { header: text } = JSON.parse(fetched.stdout).sealed_key;
        const header = JSON.parse(Buffer.from(text, 'base64url').toString());
        assert.deepEqual(header.delivery, { id: ids[0], context: options[0] ? context : null });
        await phm(site, 'deliveries', 'remove', ...ids, '--recipient', site);
      }
      if (options[0]) assert.equal(delivery.id, own);
    }
  });

  it('are refused by phm generate where they cannot be', async () => {
    const cases: [string[], RegExp][] = [
      [['--deliver'], /--deliver needs --recipient/],
      [['--seal-to', place('paris.recipient'), '--deliver'], /only registered recipients/],
      [['--recipient', 'paris', '--deliver', 'ABC'], /a UUID in lower case/],
      [['--recipient', 'paris', '--deliver-for', '1h'], /--deliver-for needs --deliver/],
      [['--recipient', 'paris', '--deliver-context', 'x'], /--deliver-context needs --deliver/],
      [
        ['--recipient', 'paris', '--deliver', '--count', '2', '--output-dir', 'x'],
        /for one key: leave --count out/,
      ],
    ];
    for (const [options, message] of cases) {
      const { code, stderr } = await phm('account', 'generate', ...options);
      assert.equal(code, 2, stderr);
      assert.match(stderr, message);
    }
  });

  it('fetch, open and remove what waits for a site', async () => {
    const ids = await deliver(3);
    const listed = await phm('paris', 'deliveries', 'list', '--recipient', 'paris', '--json');
    const lines = listed.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    assert.deepEqual(lines.map(({ delivery_id: id }) => id).sort(), ids.toSorted());
    const policy = place('log.policy');
    writeFileSync(policy, await (await fetch(`${server.address}/log/policy`)).text());
    const opened: string[][] = [];
    for (const site of SITES) {
      const keys = place(`${site}-sealed`);
      const fetched = await phm(
        site,
        'deliveries',
        'fetch',
        '--recipient',
        site,
        '--output-dir',
        keys,
      );
      assert.equal(fetched.code, 0, fetched.stderr);
      assert.match(fetched.stderr, /^Wrote 3 of 3 sealed keys to /);
      const files = readdirSync(keys).map((file) => join(keys, file));
      const out = place(`${site}-opened`);
      const open = ['open', ...files, '--recipient-key', place(`${site}.recipient-key`)];
      const result = await phm(site, ...open, '--policy', policy, '--output-dir', out);
      assert.equal(result.code, 0, result.stderr);
      opened.push(
        readdirSync(out)
          .sort()
          .map((file) => readFileSync(join(out, file), 'utf8')),
      );
    }
    assert.equal(opened[0]?.length, 3);
    assert.deepEqual(opened[0], opened[1]);
    const again = await phm('paris', 'deliveries', 'fetch', '--recipient', 'paris');
    assert.deepEqual([again.code, again.stdout, again.stderr], [0, '', 'No copy waits.\n']);
    const removed = await phm('paris', 'deliveries', 'remove', ...ids, '--recipient', 'paris');
    assert.equal(removed.code, 0, removed.stderr);
    assert.equal(removed.stdout.match(/removed/g)?.length, 3);
    const state = await phm('account', 'deliveries', 'show', ids[0] ?? '');
    assert.match(state.stdout, /^lyon +received +\d{4}-/m);
    assert.match(state.stdout, /^paris +removed +\d{4}-/m);
    const gone = await phm('paris', 'deliveries', 'fetch', ids[0] ?? '', '--recipient', 'paris');
    assert.equal(gone.code, 1);
    assert.match(gone.stderr, /None of these copies can be fetched any more|delivery_gone/);
  });

  it('write one to standard output, which phm open reads', async () => {
    const [id = ''] = await deliver(1);
    const fetched = await phm('lyon', 'deliveries', 'fetch', id, '--recipient', 'lyon');
    assert.equal(fetched.code, 0, fetched.stderr);
    const { delivery_id, state, sealed_key } = JSON.parse(fetched.stdout);
    assert.deepEqual([delivery_id, state, typeof sealed_key], [id, 'received', 'object']);
  });

  it('say what is wrong with the arguments, and what a site may not do', async () => {
    const wrong: [string[], number, RegExp][] = [
      [['list'], 2, /--recipient <name>' not specified/],
      [['list', '--recipient', 'paris', '--wait', '31'], 2, /30/],
      [
        ['list', '--recipient', 'paris', '--wait', '3', '--state', 'received'],
        2,
        /--wait does not go/,
      ],
      [['fetch', 'X', '--recipient', 'paris'], 2, /lower-case UUID/],
      [['remove', '--recipient', 'paris'], 2, /missing required argument/],
      [['show', randomUUID()], 1, /scope "generate" or the scope "read"/],
      [['list', '--recipient', 'lyon'], 1, /cannot be used for this recipient/],
    ];
    for (const [args, code, text] of wrong) {
      const result = await phm('paris', 'deliveries', ...args);
      assert.equal(result.code, code, `${args}: ${result.stderr}`);
      assert.match(result.stderr, text);
    }
  });
});

describe('phm api-key issue --scope receive', () => {
  const dataDir = makeDataDir();
  const env = { PHM_DATA_DIR: dataDir, PHM_PORT: '0' };
  const phm = (...args: string[]) => runCommand(args, env);
  const json = (...args: string[]) => commandJson<Record<string, string>>(args, env);
  const folder = mkdtempSync(join(tmpdir(), 'phm-receive-'));
  let issue: string[];

  before(async () => {
    const create = ['account', 'create', '--init', '--name', 'Ada', '--plan', 'research'];
    const { account_id: account = '' } = await json(...create);
    issue = ['api-key', 'issue', '--account', account];
    await phm('recipient', 'new', '--output', join(folder, 'paris'));
    const file = join(folder, 'paris.recipient');
    await json('recipient', 'add', 'paris', '--account', account, '--public-key', file);
  });
  after(() => {
    removeDataDir(dataDir);
    rmSync(folder, { recursive: true });
  });

  it('needs recipients that the account has, and recipients need it', async () => {
    for (const [args, code, text] of [
      [['--scope', 'receive'], 2, /needs --recipient/],
      [['--recipient', 'paris'], 2, /needs --scope receive/],
      [['--scope', 'read', '--recipient', 'paris'], 2, /needs --scope receive/],
      [['--scope', 'receive', '--recipient', 'rome'], 1, /has no recipient rome/],
      [['--scope', 'receive', '--recipient', 'a,b'], 2, /name of a recipient/],
      [['--scope', 'receive', '--recipient', 'paris', '--recipient', 'paris'], 2, /once/],
    ] as [string[], number, RegExp][]) {
      const result = await phm(...issue, ...args);
      assert.equal(result.code, code, `${args}: ${result.stderr}`);
      assert.match(result.stderr, text);
    }
  });

  it('binds the API key, also after a rotation, in the list and in the audit', async () => {
    const made = await json(...issue, '--scope', 'receive', '--recipient', 'paris');
    const { api_key_id: next = '' } = await json(
      'api-key',
      'rotate',
      made.api_key_id ?? '',
      '--overlap',
      '0',
    );
    const { api_keys: rows } = await commandJson<{
      api_keys: { api_key_id: string; scopes: string[]; recipients: string[] | null }[];
    }>(['api-key', 'list'], env);
    for (const id of [made.api_key_id, next]) {
      const row = rows.find(({ api_key_id }) => api_key_id === id);
      assert.deepEqual([row?.scopes, row?.recipients], [['receive'], ['paris']]);
    }
    const audits = await phm('audit', 'list', '--json');
    assert.match(audits.stdout, /"recipients": ?\[\s*"paris"\s*\]/);
    const verified = await phm('ledger', 'verify');
    assert.equal(verified.code, 0, verified.stdout + verified.stderr);
  });
});
