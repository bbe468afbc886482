/** The store of a command: messages, refusals, and that commands that only read create nothing. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, beforeEach, describe, it } from 'node:test';
import { openSqliteStore } from '../../../src/ledger/index.ts';
import { PATIENCE_MS, until } from '../../support/run/until.ts';
import { runCommand as phm, runCommandOn as phmOn } from '../../support/servers/run-command.ts';
import {
  type CommandResult,
  DEMO_KEY,
  type Environment,
  lastReason,
  MAIN,
  makeDataDir,
  removeDataDir,
  Server,
} from '../../support/servers/server.ts';

const CREATE = ['account', 'create', '--name', 'A', '--plan', 'research'];

/** Commands that change nothing. */
const READING = [
  ['account', 'list'],
  ['recipient', 'list'],
  ['api-key', 'list'],
  ['ledger', 'prune', '--older-than', '1', '--dry-run'],
  ['ledger', 'find', 'phm_1'],
  ['log', 'show'],
  ['log', 'check'],
  ['audit', 'list'],
];

/** Commands that change the store, or would if their target existed. */
const CHANGING = [
  CREATE,
  ['account', 'set-plan', 'acct_1', 'research'],
  ['account', 'set', 'acct_1', '--sealed-only', 'on'],
  ['account', 'suspend', 'acct_1', '--reason', 'r'],
  ['account', 'resume', 'acct_1'],
  ['account', 'delete', 'acct_1', '--confirm', 'acct_1'],
  ['recipient', 'remove', 'backup', '--account', 'acct_1'],
  ['api-key', 'issue', '--account', 'acct_1'],
  ['api-key', 'rotate', 'key_1', '--overlap', '0'],
  ['api-key', 'revoke', 'key_1'],
  ['ledger', 'prune', '--older-than', '1'],
  ['log', 'init'],
  ['log', 'recover', '--accept'],
];

/** All commands that need an existing store. */
const ALL = [
  ...READING,
  ...CHANGING,
  ['ledger', 'backup', 'copy.db'],
  ['migrate'],
  ['export', 'out.ndjson'],
];

/** Returns every file of a folder with its size and the time of its last change. */
function listing(folder: string): string[] {
  return readdirSync(folder)
    .sort()
    .map((name) => {
      const { size, mtimeMs } = statSync(join(folder, name));
      return `${name} ${size} ${mtimeMs}`;
    });
}

// ./data is relative to the working directory, so the tests have their own.
const start = process.cwd();
const root = makeDataDir();
let folder: string;
beforeEach(() => {
  folder = join(root, 'here');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  process.chdir(folder);
});
after(() => {
  process.chdir(start);
  removeDataDir(root);
});

describe('a command in a directory without a server', () => {
  it('prints where it looked and what to do, and creates nothing', async () => {
    for (const args of ALL) {
      const { code, stdout, stderr } = await phm(args);
      const title = args.join(' ');
      assert.deepEqual([code, stdout], [1, ''], title);
      assert.ok(stderr.startsWith(`Ledger: ${folder}/data/phm.db\n`), stderr);
      assert.match(stderr, /there is no ledger in \/.*\/here\/data\n/);
      assert.match(stderr, /PHM_DATA_DIR is not set, so this is \.\/data in the working directory/);
      assert.match(stderr, /: bin\/phm account create --init --name "My team" --plan research\n/);
      assert.deepEqual(readdirSync(folder), [], title);
    }
  });

  it('does the same in every directory that PHM_DATA_DIR names', async () => {
    mkdirSync('empty');
    writeFileSync('file', '');
    for (const name of ['empty', 'file', 'none', 'none/deeper']) {
      const { code, stderr } = await phm(['api-key', 'list'], { PHM_DATA_DIR: name });
      assert.equal(code, 1);
      assert.match(stderr, /PHM_DATA_DIR names this data directory/);
      assert.match(stderr, new RegExp(`: PHM_DATA_DIR=${name} bin/phm account create --init`));
    }
    const { stderr } = await phm(['api-key', 'list'], { PHM_DATA_DIR: 'file' });
    assert.match(stderr, /there is no ledger in \/.*\/file, which is not a directory\n/);
    assert.deepEqual(readdirSync(folder).sort(), ['empty', 'file']);
    assert.deepEqual(readdirSync('empty'), []);
  });

  it('refuses to import or restore without a master secret', async () => {
    writeFileSync('in', '');
    for (const command of [
      ['import', 'in'],
      ['ledger', 'restore', 'in'],
    ]) {
      const { code, stderr } = await phm(command);
      assert.equal(code, 1);
      assert.match(stderr, /there is no master secret \/.*\/here\/data\/master\.key\n/);
      const told = await phm([...command, '--init']);
      assert.doesNotMatch(told.stderr, /there is no master secret/);
      rmSync('data', { recursive: true, force: true });
    }
  });

  it('neither lists nor rotates a missing secret', async () => {
    for (const command of ['list', 'rotate']) {
      const { code, stderr } = await phm(['secret', command]);
      assert.equal(code, 1);
      assert.match(stderr, /there is no master secret \/.*\/here\/data\/master\.key\n/);
      assert.match(
        stderr,
        /PHM_DATA_DIR is not set, so this is \.\/data .*\n.*: bin\/phm secret new\n$/,
      );
    }
    assert.deepEqual(readdirSync(folder), []);
  });

  it('never suggests a new secret beside a ledger', async () => {
    await phm([...CREATE, '--init']);
    for (const damage of [
      () => writeFileSync('data/master.key', 'x'),
      () => rmSync('data/master.key'),
    ]) {
      damage();
      for (const command of ['list', 'rotate']) {
        const { code, stderr } = await phm(['secret', command]);
        assert.equal(code, 1);
        assert.match(stderr, /restore the file from its backup/);
        assert.doesNotMatch(stderr, /secret new/);
      }
      const started = spawnSync(process.execPath, [MAIN, 'serve'], {
        env: { PATH: process.env.PATH, PHM_PORT: '0' },
        encoding: 'utf8',
      });
      assert.equal(started.status, 1);
      assert.match(lastReason(started.stderr), /restore the file from its backup$/);
    }
  });

  it('says which user can read a closed directory', { skip: asRoot() }, async () => {
    mkdirSync('data', { mode: 0 });
    const { code, stderr } = await phm(['account', 'list']);
    assert.equal(code, 1);
    assert.match(stderr, /permission denied.*; run this as the user of the server\n$/);
    chmodSync('data', 0o700);
  });
});

describe('a new data directory', () => {
  it('is created by account create --init, and then accepts every command', async () => {
    const made = await phm([...CREATE, '--init']);
    assert.equal(made.code, 0);
    assert.deepEqual(readdirSync('data').sort(), ['master.key', 'phm.db']);
    assert.equal(statSync('data').mode & 0o777, 0o700);
    const account = made.stdout.trim();
    assert.ok(made.stderr.endsWith(`Next:\n  bin/phm api-key issue --account ${account}\n`));
    assert.equal((await phm(['api-key', 'issue', '--account', account])).code, 0);
    assert.match((await phm(['account', 'list'])).stdout, new RegExp(account));
    // A second run, here beside a server's ledger whose secret is elsewhere, changes nothing.
    rmSync('data/master.key');
    assert.equal((await phm([...CREATE, '--init'])).code, 0);
    assert.deepEqual(readdirSync('data'), ['phm.db']);
  });

  it('is not one that lost its database: no command creates an empty one there', async ({
    mock,
  }) => {
    // Each command would wait for another process that might be creating the database.
    mock.method(Atomics, 'wait', () => 'timed-out');
    await phm([...CREATE, '--init']);
    writeFileSync('data/directory.id', 'ab'.repeat(16));
    for (const lose of [() => rmSync('data/phm.db'), () => writeFileSync('data/phm.db', '')]) {
      lose();
      for (const args of [...ALL, ['ledger', 'verify'], [...CREATE, '--init'], ['import', 'x']]) {
        if (args[0] === 'import') writeFileSync('x', '');
        const before = listing('data');
        const { code, stderr } = await phm(args);
        assert.deepEqual([code, listing('data')], [1, before], args.join(' '));
        assert.match(stderr, /directory\.id shows .*: bin\/phm ledger restore FILE\nTo start/s);
        assert.doesNotMatch(stderr, /--init/);
      }
    }
  });

  it('may start with its master secret only', async () => {
    assert.equal((await phm(['secret', 'new'])).code, 0);
    const early = await phm(['account', 'list']);
    assert.match(early.stderr, /no server has started yet, so there is no ledger in /);
    assert.deepEqual(readdirSync('data'), ['master.key']);
    assert.equal((await phm(CREATE)).code, 0);
  });

  it('is not one that an older release created by accident, before a server or --init accepts it', async () => {
    mkdirSync('data');
    const store = openSqliteStore({ path: 'data/phm.db', quotas: {} });
    await store.close();
    const refused = await phm(['account', 'list']);
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /no server has started on the ledger in \/.*\/data\n/);
    assert.equal((await phm(CREATE)).code, 1);
    assert.equal((await phm([...CREATE, '--init'])).code, 0);
    assert.equal((await phm(['account', 'list'])).code, 0);
  });

  it('is not created with PostgreSQL, whose address is printed without the user', async () => {
    const url = 'postgres://ada:secret@db.invalid/keys';
    const { code, stderr } = await phm([...CREATE, '--init'], { PHM_DATABASE_URL: url });
    assert.deepEqual([code, readdirSync(folder)], [2, []]);
    assert.match(stderr, /--init needs a data directory/);
    const away = await phm(['account', 'list'], { PHM_DATABASE_URL: url });
    assert.match(away.stderr, /^Ledger: PostgreSQL, database keys on db\.invalid:5432\n/);
    assert.doesNotMatch(away.stderr, /ada|secret/);
  });
});

describe('a data directory that cannot be created', () => {
  const PROC = { skip: process.platform !== 'linux' && 'there is no /proc' };

  it('ends the command if the system denies that its parent exists', PROC, async () => {
    const env = { PHM_PORT: '0', PHM_DATA_DIR: '/proc/x' };
    const options = { env, encoding: 'utf8', timeout: PATIENCE_MS } as const;
    const { status, stderr } = spawnSync(process.execPath, [MAIN, 'serve'], options);
    const words = /^(?:phm: )?cannot .*\/proc\/x.*: ENOENT.*; check .*PHM_DATA_DIR.*$/m;
    assert.equal(status, 1);
    assert.match(lastReason(stderr), words);
    for (const args of [
      [...CREATE, '--init'],
      ['secret', 'new'],
    ]) {
      const ended = await phm(args, env);
      assert.equal(ended.code, 1, args.join(' '));
      assert.match(ended.stderr, words);
    }
  });

  it('has a file in its path; created parent directories are private', async () => {
    const deep = { PHM_DATA_DIR: 'a/b/c' };
    assert.equal((await phm([...CREATE, '--init'], deep)).code, 0);
    for (const made of ['a', 'a/b', 'a/b/c']) assert.equal(statSync(made).mode & 0o777, 0o700);
    writeFileSync('file', '');
    for (const name of ['file', 'file/deeper']) {
      const { code, stderr } = await phm([...CREATE, '--init'], { PHM_DATA_DIR: name });
      assert.equal(code, 1);
      assert.match(
        stderr,
        /phm: cannot open the database .*; check that PHM_DATA_DIR names .*, and run this as the user of the server\n$/,
      );
    }
  });
});

describe('a command that only reads', () => {
  it('does not change a data directory, including log and index', async () => {
    await phm([...CREATE, '--init']);
    await phm(['log', 'init']);
    const before = listing('data');
    for (const args of READING) {
      const { code, stderr } = await phm(args);
      assert.deepEqual([code, listing('data')], [0, before], stderr);
    }
    assert.equal((await phm(['ledger', 'backup', 'copy.db'])).code, 0);
    assert.equal((await phm(['export', 'out.ndjson'])).code, 0);
    assert.deepEqual(readdirSync('data').sort(), ['log.key', 'master.key', 'phm.db']);
    assert.deepEqual(readdirSync('.').sort(), ['copy.db', 'data', 'out.ndjson']);
  });
});

describe('a schema before the baseline', () => {
  const REFUSAL =
    /has schema version 2, and the migrations of this program begin at \d+\. .* the tag before-baseline: docs\/ledger\.md/;
  let before: string[];
  beforeEach(async () => {
    await phm([...CREATE, '--init']);
    const database = new DatabaseSync('data/phm.db');
    database.exec('PRAGMA user_version = 2');
    database.close();
    before = listing('data');
  });

  it('is rejected by all commands, migrate too, and not changed', async () => {
    writeFileSync('export.ndjson', '');
    const commands = [
      ...READING,
      ...CHANGING,
      [...CREATE, '--init'],
      ['secret', 'retire', '1'],
      ['secret', 'reinstate', '1'],
      ['export', 'out.ndjson'],
      ['import', 'export.ndjson'],
      ['migrate'],
    ];
    for (const args of commands) {
      const { code, stderr } = await phm(args);
      assert.deepEqual([code, listing('data')], [1, before], args.join(' '));
      assert.match(stderr, REFUSAL);
    }
  });

  it('is named by secret list, which still lists the secret', async () => {
    const { code, stdout, stderr } = await phm(['secret', 'list']);
    assert.deepEqual([code, listing('data')], [0, before]);
    assert.match(stderr, REFUSAL);
    assert.match(stdout, /^1 +current +[0-9a-f]{16} +\? +\?$/m);
  });
});

describe('a command beside a server', () => {
  let server: Server;
  before(async () => {
    // A thread that starts asks for the working directory, and ends the server if it is gone.
    process.chdir(root);
    server = await Server.start(join(root, 'served'), { PHM_DEMO_KEYS: 'on' });
  });
  after(() => server?.stop());

  const port = () => new URL(server.address).port;

  /** Repeats a command until the server answers within the second for which commands wait. A busy machine may take longer. */
  async function untilNoticed(args: readonly string[], env: Environment): Promise<CommandResult> {
    let result = await phm(args, env);
    await until('the command notices the server', async () => {
      if (!result.stderr.includes(' uses another ')) result = await phm(args, env);
      return result.stderr.includes(' uses another ');
    });
    return result;
  }

  it('reads the ledger that the server has open', async () => {
    const env = { PHM_DATA_DIR: server.dataDir, PHM_PORT: port() };
    const { code, stdout, stderr } = await phm(['account', 'list'], env);
    assert.deepEqual([code, stderr], [0, `Ledger: ${server.dataDir}/phm.db\n`]);
    assert.match(stdout, /acct_demo_research/);
  });

  it('reports that the server uses another ledger, whether it succeeds or fails', async () => {
    await phm([...CREATE, '--init']);
    const words = `The server on ${server.address} uses another ledger`;
    const done = await untilNoticed(CREATE, { PHM_PORT: port() });
    assert.equal(done.code, 0);
    assert.ok(done.stderr.includes(`note: ${words}`), done.stderr);
    const elsewhere = { PHM_PORT: port(), PHM_DATA_DIR: 'none' };
    const failed = await untilNoticed(['api-key', 'list'], elsewhere);
    assert.equal(failed.code, 1);
    assert.ok(failed.stderr.includes(`\n${words}`), failed.stderr);
    assert.ok(!failed.stderr.includes(server.dataDir));
  });

  it('names the data directory of the server if that is a usual one', async () => {
    // ./data is a usual one; here it is a link to the directory of the server.
    symlinkSync(server.dataDir, 'data');
    const env = { PHM_PORT: port(), PHM_DATA_DIR: 'none' };
    const { stderr } = await untilNoticed(['account', 'list'], env);
    assert.match(stderr, /uses another data directory: PHM_DATA_DIR=\/.*\/data\n$/);
  });

  it('receives no path over the network: the ID of the directory is random', async () => {
    const { headers } = await server.request('/livez');
    assert.match(headers.get('x-data-directory-id') ?? '', /^[0-9a-f]{32}$/);
    assert.equal((await server.request('/health')).headers.get('x-data-directory-id'), null);
  });
});

describe('the API key of api-key issue', () => {
  let account: string;
  before(async () => {
    process.chdir(root);
    account = (await phm([...CREATE, '--init'])).stdout.trim();
  });

  /** Runs a script in a shell in which `phm` is this program. */
  const shell = (script: string) =>
    spawnSync('sh', ['-c', `phm() { "${process.execPath}" "${MAIN}" "$@"; }\n${script}`], {
      cwd: root,
      env: { PATH: process.env.PATH, PHM_PORT: '0' },
      encoding: 'utf8',
    });

  it('is alone on standard output, and part of the shell line if both outputs are one', () => {
    const issue = `phm api-key issue --account ${account}`;
    const [key = '', ...words] = shell(`${issue} 2>&1 | grep -v ^Ledger`).stdout.split('\n');
    assert.match(key, /^phmsk_live_\w+$/);
    assert.deepEqual(words.slice(-2), [`  export PHM_API_KEY=${key}`, '']);
    const captured = shell(`KEY=$(${issue}); echo "<$KEY>"`);
    assert.match(captured.stdout, /^<phmsk_live_\w+>\n$/);
    assert.doesNotMatch(captured.stderr, /phmsk_/);
    assert.match(captured.stderr, /export PHM_API_KEY=<the API key from standard output>\n$/);
    assert.doesNotMatch(shell(`${issue} --json 2>&1 >/dev/null`).stdout, /phmsk_|export/);
  });

  it('is printed with the address of the server if the client commands would not find it', async () => {
    const cases: [Environment, string | null][] = [
      [{ PHM_PORT: '0' }, null],
      [{ PHM_PORT: '1' }, 'http://127.0.0.1:1'],
      [{ PHM_PORT: '1', PHM_HOST: '0.0.0.0' }, 'http://127.0.0.1:1'],
      [{ PHM_PORT: '1', PHM_HOST: '::1', PHM_BASE_PATH: '/phm' }, "'http://[::1]:1/phm'"],
      [{ PHM_PORT: '1', PHM_TLS_CERT_FILE: 'c', PHM_TLS_KEY_FILE: 'k' }, 'https://127.0.0.1:1'],
      [{ PHM_PORT: '1', PHM_URL: 'https://keys.example' }, null],
    ];
    for (const [env, url] of cases) {
      const issue = ['api-key', 'issue', '--account', account];
      const { code, stderr } = await phm(issue, { PHM_DATA_DIR: join(root, 'data'), ...env });
      assert.equal(code, 0);
      const line = url === null ? '' : `  export PHM_URL=${url}\n`;
      assert.ok(
        stderr.endsWith(
          `To use it with phm:\n${line}  export PHM_API_KEY=<the API key from standard output>\n`,
        ),
        stderr,
      );
    }
  });

  it('must be revoked if its output cannot be written', () => {
    const { stderr } = shell(`(phm api-key issue --account ${account}; echo "code $?" >&2) | true`);
    assert.match(stderr, /^phm: the output cannot be written$/m);
    assert.match(
      stderr,
      /^The API key (key_\w+) is valid but was not shown\. Revoke it .*: .+ api-key revoke \1$/m,
    );
    assert.match(stderr, /code 1\n$/);
  });

  it('is accepted by api-key revoke from standard input only', async () => {
    const env = { PHM_DATA_DIR: join(root, 'data') };
    const key = (await phm(['api-key', 'issue', '--account', account], env)).stdout.trim();
    const refused = await phm(['api-key', 'revoke', key], env);
    assert.equal(refused.code, 2);
    assert.match(
      refused.stderr,
      /every user of this machine can read an API key .*: use its ID, or - .*: .* api-key list\n$/,
    );
    const [, given = ''] = refused.stderr.split('phm: ');
    assert.doesNotMatch(given, /phmsk_/);
    const revoked = shell(`echo "${key}" | phm api-key revoke - --json`);
    assert.match(revoked.stdout, /^\{"api_key_id":"key_\w+","revoked_at":"[^"]+"\}\n$/);
    const revoke = ['api-key', 'revoke', '-'];
    assert.equal((await phmOn('phmsk_live_x\n', revoke, env)).code, 2);
    assert.equal((await phmOn(`${DEMO_KEY}\n`, revoke, env)).code, 1);
  });

  it('is found by api-key find from standard input only, and is not shown', async () => {
    const env = { PHM_DATA_DIR: join(root, 'data') };
    const issued = await phm(['api-key', 'issue', '--account', account, '--json'], env);
    const { api_key: key, api_key_id: id } = JSON.parse(issued.stdout);
    const find = (text: string, ...more: string[]) =>
      phmOn(text, ['api-key', 'find', ...more], env);
    const found = await find(`${key}\n`, '-', '--json');
    const [row] = JSON.parse(found.stdout).api_keys;
    assert.deepEqual([row.api_key_id, row.account_id, row.state], [id, account, 'active']);
    await phm(['api-key', 'revoke', id], env);
    const table = (await find(key, '-')).stdout;
    assert.match(table, new RegExp(`^${id}\naccount +${account}\nname +-\nstate +revoked\n`));
    assert.ok(!`${found.stdout}${found.stderr}${table}`.includes(key));
    for (const [text, given, code] of [
      [`${DEMO_KEY}\n`, '-', 1],
      ['phmsk_live_x\n', '-', 2],
      ['', key, 2],
      ['', id, 2],
    ]) {
      const refused = await find(text, given);
      assert.equal(refused.code, code, given);
      assert.doesNotMatch(refused.stderr, /phmsk_/, given);
    }
  });

  it('is in no message, wherever it was given', async () => {
    const env = { PHM_DATA_DIR: join(root, 'data') };
    for (const words of [
      ['api-key', 'issue', '--account'],
      ['account', 'set-plan'],
      ['account', 'list'],
      [],
    ]) {
      const { code, stderr } = await phm([...words, DEMO_KEY, 'research'], env);
      assert.notEqual(code, 0, words.join(' '));
      assert.doesNotMatch(stderr, /phmsk_/, words.join(' '));
    }
  });
});

function asRoot(): string | false {
  return process.getuid?.() === 0 && 'root may look into every directory';
}
