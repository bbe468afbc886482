/** `phm log check`: what it reads, keeps, prints and exits with. What it compares is in `test/inspection/`. */
import assert from 'node:assert/strict';
import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { CliContext } from '../../../src/cli/context.ts';
import { defaultSeenFile } from '../../../src/cli/log/seen.ts';
import { FolderServer } from '../../support/browsers/folder-server.ts';
import { killAtCommit } from '../../support/faults/kill-at-commit.ts';
import { LogLedger } from '../../support/ledgers/log-ledger.ts';
import { type HeldKey, ORIGIN } from '../../support/ledgers/log-writer.ts';
import { runPhm } from '../../support/servers/server.ts';

/** More than one full tile. */
const KEYS = 300;

const UNKNOWN = Buffer.alloc(32, 7);

let ledger: LogLedger;
let keys: HeldKey[];
before(async () => {
  ledger = await LogLedger.create();
  keys = await ledger.addKeys(KEYS);
  await ledger.publish();
  ledger.backUp();
});
after(() => ledger.remove());

interface CheckJson {
  readonly findings: readonly { readonly problem: string; readonly examples: readonly string[] }[];
}

/** Runs the check, and returns its findings as lines. */
async function findings(...args: string[]): Promise<string[]> {
  const { code, stdout, stderr } = await ledger.run('log', 'check', '--json', ...args);
  const found = (JSON.parse(stdout) as CheckJson).findings;
  assert.equal(code, found.length === 0 ? 0 : 1, stderr);
  assert.doesNotMatch(stderr, /\n {4}at /);
  return found.map(({ problem, examples }) => `${problem}: ${examples.join(', ')}`);
}

describe('phm log check beside a database', () => {
  it('finds nothing in a sound ledger, and counts what it compared', async () => {
    const { code, stdout } = await ledger.run('log', 'check', '--json');
    const { logs, rows, audit_records, pending, set_aside } = JSON.parse(stdout);
    assert.equal(code, 0);
    assert.deepEqual(
      logs.map(({ origin, size }: { origin: string; size: number }) => [origin, size]),
      [[ORIGIN, KEYS + 1]],
    );
    assert.deepEqual(rows, { logged: KEYS, pending: 0, older: 0, pruned: 0, recovered: 0 });
    assert.deepEqual([audit_records, pending, set_aside], [1, 0, 0]);
  });

  it('is counted in the summary of an export, with its entries', async () => {
    const { stderr } = await ledger.run('export', join(ledger.folder, 'moved'));
    assert.match(stderr, /^Exported .*, 300 ledger rows, 1 log, 301 log entries; SHA-256 /m);
  });

  it('compares the checkpoint that a witness showed and the server kept', async () => {
    const shown = `${ledger.stateFile}.seen`;
    cpSync(ledger.stateFile, shown);
    assert.deepEqual(await findings(), []);
    writeFileSync(shown, readFileSync(shown, 'utf8').replace('\n301\n', '\n302\n'));
    assert.match((await findings()).join(), /^a known checkpoint does not fit .*\.seen: /);
    rmSync(shown);
  });

  it('compares the checkpoint of --state, and replaces it by the newest', async () => {
    const state = join(ledger.folder, 'seen');
    cpSync(ledger.stateFile, state);
    await ledger.addKeys(1);
    await ledger.publish();
    assert.deepEqual(await findings('--state', state), []);
    assert.deepEqual(readFileSync(state), readFileSync(ledger.stateFile));
    ledger = await ledger.restore();
    ledger.restoreState();
    assert.match(
      (await findings('--state', state)).join(),
      /^a known checkpoint does not fit .* but the database has 301$/,
    );
    for (const [text, expected] of [
      ['?', /: no checkpoint$/],
      [
        readFileSync(state, 'utf8').replaceAll(ORIGIN, 'other.example/log'),
        /: of the log other\.example\/log$/,
      ],
    ] as const) {
      writeFileSync(state, text);
      assert.match((await findings('--state', state)).join(), expected);
    }
  });

  it('is what phm ledger verify suggests for a row that is missing', async () => {
    ledger.execute('DELETE FROM ledger WHERE key_id = ?', keys[100]?.id ?? UNKNOWN);
    const { stderr } = await ledger.run('ledger', 'verify');
    ledger = await ledger.restore();
    ledger.restoreState();
    assert.match(
      stderr,
      /^1 key in the sums has no row, perhaps because retention removed .* To compare .* log check$/m,
    );
  });

  it('names what it finds, with what to do, and ends with code 1', async () => {
    const { id, keyId } = keys[100] as HeldKey;
    ledger.execute('UPDATE ledger SET source = ? WHERE key_id = ?', 'qrng', id);
    const { code, stdout, stderr } = await ledger.run('log', 'check');
    const json = await findings();
    ledger = await ledger.restore();
    ledger.restoreState();
    assert.deepEqual([code, stdout], [1, '']);
    assert.match(
      stderr,
      new RegExp(
        `^rows that differ from their entry in the log: 1 \\(${keyId}\\)\n {2}These rows were changed\\. Restore them from a ` +
          'backup\\.\nCompared 299 rows and 1 audit record with their entries\\..*\nphm: the check failed: 1 finding\n$',
        'm',
      ),
    );
    assert.deepEqual(json, [`rows that differ from their entry in the log: ${keyId}`]);
  });

  it('says that there is no state file, and phm doctor that a new log has none yet', async () => {
    const compared = await ledger.run('log', 'check');
    assert.doesNotMatch(compared.stderr, /No state file/);
    assert.match((await ledger.run('doctor')).stdout, /^ok +log .*, fits the state file$/m);
    rmSync(ledger.stateFile);
    const { code, stderr } = await ledger.run('log', 'check');
    assert.equal(code, 0, stderr);
    assert.ok(
      stderr.includes(`\nNo state file was read at ${ledger.stateFile}: nothing was compared`),
    );
    assert.match((await ledger.run('doctor')).stdout, /^ok +log .* new, without a state file: /m);
    ledger.restoreState();
  });

  it('takes rows without a statement only from before --since', async () => {
    const day = 86_400_000;
    const [key] = await ledger.addKeys(1, Date.now() - 9 * day);
    const id = key?.id ?? UNKNOWN;
    ledger.execute('DELETE FROM log_pending WHERE entry_id = ?', id);
    ledger.execute(
      'UPDATE ledger SET key_commitment = NULL, salt = NULL, strength_bits = NULL, software_id = NULL, sources = NULL WHERE key_id = ?',
      id,
    );
    const all = await findings('--since', '2020-01-01');
    const later = await findings('--since', new Date(Date.now() - day).toISOString());
    ledger = await ledger.restore();
    ledger.restoreState();
    assert.deepEqual([all, later], [[`rows without a statement: ${key?.keyId}`], []]);
  });
});

describe('a command that is killed at a commit', () => {
  after(async () => {
    ledger = await ledger.restore();
    ledger.restoreState();
  });

  const phm = async (...args: string[]) => {
    const { code, stdout, stderr } = await ledger.run(...args, '--json');
    assert.equal(code, 0, stderr);
    return JSON.parse(stdout);
  };

  /** Returns whether the command was killed. */
  const killed = async (commit: number, when: 'before' | 'after', args: readonly string[]) => {
    const NODE_OPTIONS = killAtCommit(commit, when, 'command');
    const { code, stderr } = await runPhm(args, ledger.dataDir, { ...ledger.env, NODE_OPTIONS });
    assert.ok(code === -1 || code === 0, stderr);
    return code === -1;
  };

  const commands: readonly [string, (account: string, apiKey: string) => readonly string[]][] = [
    ['account suspend', (account) => ['account', 'suspend', account, '--reason', 'a test']],
    ['account delete', (account) => ['account', 'delete', account, '--confirm', account]],
    ['key rotate', (_, apiKey) => ['api-key', 'rotate', apiKey, '--overlap', '1d']],
    ['key revoke', (_, apiKey) => ['api-key', 'revoke', apiKey]],
  ];

  for (const [name, argsOf] of commands) {
    it(`has changed all or nothing: ${name}`, async () => {
      const { account_id } = await phm('account', 'create', '--name', 'n', '--plan', 'research');
      const { api_key_id } = await phm('api-key', 'issue', '--account', account_id);
      const args = argsOf(account_id, api_key_id);
      const records = async () => (await phm('audit', 'list')).records.length;
      const before = await records();
      for (const [when, added] of [
        ['before', 0],
        ['after', 1],
      ] as const) {
        assert.ok(await killed(1, when, args), when);
        assert.equal(await records(), before + added, when);
        assert.deepEqual(await findings(), []);
        // The keys of this ledger name an API key that it lacks.
        const { stderr } = await ledger.run('ledger', 'verify');
        assert.match(stderr, /^Checked \d+ accounts/m);
        assert.doesNotMatch(stderr, /^(?:accounts|api_keys): /m);
      }
    });
  }
});

describe('phm log check after phm ledger prune', () => {
  const DAY_MS = 86_400_000;

  it('counts entries whose rows were pruned, and still finds a deleted one', async () => {
    await ledger.addKeys(5, Date.now() - 90 * DAY_MS);
    const [young] = await ledger.addKeys(1, Date.now() - 20 * DAY_MS);
    await ledger.publish();
    const pruned = await ledger.run('ledger', 'prune', '--older-than', '30', '--accept-clock');
    assert.equal(pruned.code, 0, pruned.stderr);
    for (const step of ['while its record waits', 'and when it is logged']) {
      const { code, stdout, stderr } = await ledger.run('log', 'check', '--json');
      assert.equal(code, 0, `${step}: ${stderr}`);
      assert.equal(JSON.parse(stdout).rows.pruned, 5, step);
      await ledger.publish();
    }
    ledger.execute('DELETE FROM ledger WHERE key_id = ?', young?.id ?? UNKNOWN);
    assert.deepEqual(await findings(), [`entries without their row: ${young?.keyId}`]);
    ledger = await ledger.restore();
    ledger.restoreState();
  });
});

describe('phm log check with an address or a folder', () => {
  let server: FolderServer;
  let copy: string;
  before(async () => {
    copy = join(ledger.folder, 'copy');
    const exported = join(ledger.folder, 'exported');
    await ledger.exportTo(exported);
    server = await FolderServer.start(exported);
  });
  after(() => server.stop());

  it('verifies a log by address, keeps a copy, and checks the copy', async () => {
    const { code, stderr } = await ledger.run('log', 'check', server.address, '--copy', copy);
    assert.equal(code, 0, stderr);
    assert.match(
      stderr,
      /^Log: keys\.example\/log at http:\S+, 301 entries, root \S+\nSigned with ML-DSA-44/,
    );
    assert.match(stderr, /first check of this log here/);
    assert.match(stderr, /The keys came from the log itself/);
    assert.match(stderr, /\nNo problems found\.\n$/);
    const again = await ledger.run('log', 'check', copy);
    assert.equal(again.code, 0, again.stderr);
    assert.match(again.stderr, /It contains the 301 entries of the last check/);
  });

  it('follows the log as it grows, and keeps full tiles only once', async () => {
    await ledger.addKeys(220);
    await ledger.publish();
    await ledger.exportTo(server.folder);
    const { code, stderr } = await ledger.run('log', 'check', server.address, '--copy', copy);
    assert.equal(code, 0, stderr);
    assert.match(
      stderr,
      /, 521 entries, .*\n(?:.*\n)*It contains the 301 entries of the last check/,
    );
    assert.ok(existsSync(join(copy, 'tile/0/001')));
    assert.ok(!existsSync(join(copy, 'tile/0/001.p')));
    assert.ok(existsSync(join(copy, 'tile/0/002.p/9')));
    assert.deepEqual(readFileSync(join(copy, 'tile/1/000.p/2')).length, 64);
    ledger = await ledger.restore();
    ledger.restoreState();
  });

  const damaged: [string, (folder: string) => void, RegExp][] = [
    [
      'a changed entry',
      (folder) => flip(join(folder, 'tile/entries/000'), 40),
      /do not match their tile: 1 \(entry 1\)/,
    ],
    [
      'a cut bundle',
      (folder) => cut(join(folder, 'tile/entries/001')),
      /cannot be read: 1 \(entry 256 and those after it\)/,
    ],
    [
      'a missing bundle',
      (folder) => rmSync(join(folder, 'tile/entries/000')),
      /cannot be read: 1 \(entry 0 /,
    ],
    [
      'a checkpoint of another log',
      (folder) => edit(join(folder, 'checkpoint'), /keys\.example\/log/g, 'other.example/log'),
      /^phm: .* has the log other\.example\/log, but the policy lists keys\.example\/log\. After a rotation, check the new log with its own --policy, --state and --copy$/m,
    ],
    [
      'no checkpoint',
      (folder) => rmSync(join(folder, 'checkpoint')),
      /there is no log at .*: it has no file "checkpoint"/,
    ],
    [
      'a policy that is none',
      (folder) => edit(join(folder, 'policy'), 'quorum', 'quorom'),
      /is not a policy \(c2sp\.org\/tlog-policy\): .*quorom/,
    ],
  ];
  for (const [name, damage, expected] of damaged) {
    it(`finds ${name}`, async () => {
      const folder = join(ledger.folder, 'damaged');
      cpSync(copy, folder, { recursive: true });
      damage(folder);
      const state = join(ledger.folder, 'damaged.state');
      const { code, stdout, stderr } = await ledger.run('log', 'check', folder, '--state', state);
      rmSync(folder, { recursive: true });
      // What cannot be read at all is wrong usage.
      const exitCode = name === 'a policy that is none' ? 2 : 1;
      assert.deepEqual([code, stdout], [exitCode, ''], stderr);
      assert.match(stderr, expected);
      assert.doesNotMatch(stderr, /\n {4}at /);
      assert.ok(!existsSync(state), 'a log with findings is not remembered');
    });
  }

  it('finds a log that went back, and one that was rewritten', async () => {
    await ledger.exportTo(server.folder);
    const back = await ledger.run('log', 'check', server.address);
    assert.equal(back.code, 1);
    assert.match(back.stderr, /the log is smaller than before: 1 \(521 entries with root /);
    // The same keys sign another tree of more entries.
    await ledger.addKeys(300);
    await ledger.publish();
    await ledger.exportTo(server.folder);
    const fork = await ledger.run('log', 'check', server.address, '--copy', copy);
    assert.equal(fork.code, 1);
    assert.match(
      fork.stderr,
      /the log does not contain an earlier checkpoint: 2 \(521 entries with root /,
    );
    assert.match(readFileSync(join(copy, 'checkpoint'), 'utf8'), /\n521\n/);
    assert.match(fork.stderr, /files of the copy differ from the log: \d+ \(/);
    ledger = await ledger.restore();
    ledger.restoreState();
  });

  it('refuses a policy of other keys, and accepts a pinned one', async () => {
    await ledger.exportTo(server.folder);
    const state = join(ledger.folder, 'pinned.state');
    const other = join(ledger.folder, 'other.policy');
    writeFileSync(other, 'quorum none\n');
    const check = (policy: string) =>
      ledger.run('log', 'check', server.address, '--state', state, '--policy', policy);
    const refused = await check(other);
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /no known key of keys\.example\/log has signed/);
    const { code, stderr } = await check(join(server.folder, 'policy'));
    assert.equal(code, 0, stderr);
    assert.doesNotMatch(stderr, /The keys came from the log itself/);
  });

  it('refuses wrong usage with code 2', async () => {
    const wrong: [string[], RegExp][] = [
      [['no-such-folder'], /is not a folder/],
      [['ftp://keys.example/log'], /the address of the log is not usable/],
      [['https://ada:secret@keys.example/log'], /the address of the log is not usable/],
      [['--copy', 'x'], /--copy and --policy need the address/],
      [[copy, '--since', '2026-11-01'], /--since is for rows of the database/],
      [['--since', 'yesterday'], /use a day such as/],
    ];
    for (const [args, expected] of wrong) {
      const { code, stderr } = await ledger.run('log', 'check', ...args);
      assert.equal(code, 2, args.join(' '));
      assert.match(stderr, expected);
      assert.doesNotMatch(stderr, /secret/);
    }
  });
});

function flip(path: string, offset: number): void {
  const bytes = readFileSync(path);
  bytes[offset] = (bytes[offset] ?? 0) ^ 1;
  writeFileSync(path, bytes);
}

function cut(path: string, by = 1): void {
  const bytes = readFileSync(path);
  writeFileSync(path, bytes.subarray(0, bytes.length - by));
}

function edit(path: string, from: string | RegExp, to: string): void {
  writeFileSync(path, readFileSync(path, 'utf8').replace(from, to));
}

describe('the file of a monitor', () => {
  it('needs a home directory, or a place to take instead', () => {
    const context = (env: Record<string, string>) => ({ env }) as unknown as CliContext;
    const home = process.env.HOME;
    process.env.HOME = '';
    try {
      assert.throws(() => defaultSeenFile(context({}), ORIGIN), /no home directory: .* --state/);
      assert.match(defaultSeenFile(context({ XDG_STATE_HOME: '/s' }), ORIGIN), /^\/s\/phm\/log-/);
      assert.match(defaultSeenFile(context({ HOME: '/h' }), ORIGIN), /^\/h\/\.local\/state\//);
    } finally {
      if (home === undefined) delete process.env.HOME;
      else process.env.HOME = home;
    }
  });
});
