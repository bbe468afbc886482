/**
 * The commands as users see them: stdout, stderr, exit code. They run in this process, except for tests of the process
 * itself: its start, its outputs, its working directory.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  closeSync,
  cpSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { SEAL_SUITES } from '#sealing';
import { ENVIRONMENT } from '../../src/config/environment.ts';
import { commandJson, runCommand, runCommandUnheard } from '../support/servers/run-command.ts';
import {
  type Environment,
  lastReason,
  logLines,
  MAIN,
  makeDataDir,
  removeDataDir,
  runPhm,
} from '../support/servers/server.ts';

let dataDir: string;
before(() => {
  dataDir = makeDataDir();
});
after(() => removeDataDir(dataDir));

const phm = (args: readonly string[], folder: string, env: Environment = {}) =>
  runCommand(args, { PHM_DATA_DIR: folder, ...env });
const phmJson = <T = Record<string, unknown>>(args: readonly string[], folder: string) =>
  commandJson<T>(args, { PHM_DATA_DIR: folder });

const COMMANDS = [
  ['serve'],
  ['generate'],
  ['validate'],
  ['metrics'],
  ['account', 'create'],
  ['account', 'list'],
  ['account', 'set-plan'],
  ['account', 'set'],
  ['recipient', 'new'],
  ['recipient', 'show'],
  ['recipient', 'add'],
  ['recipient', 'list'],
  ['recipient', 'remove'],
  ['api-key', 'issue'],
  ['api-key', 'list'],
  ['api-key', 'rotate'],
  ['api-key', 'find'],
  ['api-key', 'revoke'],
  ['secret', 'new'],
  ['secret', 'rotate'],
  ['secret', 'retire'],
  ['secret', 'reinstate'],
  ['secret', 'list'],
  ['migrate'],
  ['ledger', 'prune'],
  ['log', 'init'],
  ['log', 'show'],
  ['log', 'check'],
  ['log', 'recover'],
  ['audit', 'list'],
  ['audit', 'verify'],
  ['receipt', 'verify'],
  ['open'],
  ['assess'],
  ['assess-entropy'],
  ['assess-conditioning'],
  ['assess-ais31'],
  ['sources'],
  ['sources', 'test'],
  ['selftest'],
  ['ledger', 'backup'],
  ['ledger', 'restore'],
  ['export'],
  ['import'],
];

describe('phm', () => {
  it('lists the commands first, and the variables in a help of their own', async () => {
    const help = await phm(['--help'], dataDir);
    assert.match(help.stdout, /^Usage: .*\n\n.*\n\nCommands:\n {2}serve /);
    assert.doesNotMatch(help.stdout, /^ +PHM_/m);
    assert.match(help.stdout, /phm help environment\n$/);
    const { code, stdout, stderr } = await phm(['help', 'environment'], dataDir);
    assert.deepEqual([code, stderr], [0, '']);
    for (const name of Object.keys(ENVIRONMENT))
      assert.match(stdout, new RegExp(`^  ${name} {2}`, 'm'));
  });

  it('has the same text in help and in --help', async () => {
    for (const words of [[], ['keys'], ['keys', 'revoke']]) {
      const help = await phm(['help', ...words], dataDir);
      assert.deepEqual(help, await phm([...words, '--help'], dataDir), words.join(' '));
    }
    const { code, stdout, stderr } = await phm(['help', 'keys', 'frobnicate'], dataDir);
    assert.deepEqual([code, stdout], [2, '']);
    assert.match(stderr, /there is no command keys frobnicate\. To list them: .*phm --help\n$/);
  });

  it('has --help and --json on every command', async () => {
    const help = await Promise.all(COMMANDS.map((command) => phm([...command, '--help'], dataDir)));
    for (const [i, { code, stdout, stderr }] of help.entries()) {
      assert.equal(code, 0, COMMANDS[i]?.join(' '));
      assert.match(stdout, new RegExp(`Usage: phm ${COMMANDS[i]?.join(' ')}`));
      assert.match(stdout, /--json/);
      assert.equal(stderr, '');
    }
  });

  it('keeps compiled code in build/ or in NODE_COMPILE_CACHE', () => {
    const own = join(dataDir, 'compiled');
    for (const [folder, given] of [
      [resolve(import.meta.dirname, '../../build/compile-cache'), {}],
      [own, { NODE_COMPILE_CACHE: own }],
    ] as const) {
      const env = { NODE_DEBUG_NATIVE: 'COMPILE_CACHE', ...given };
      const { status, stderr } = spawnSync(process.execPath, [MAIN, '--version'], {
        env,
        encoding: 'utf8',
        // Several lines for each module, with its path: about 1 MB.
        maxBuffer: 2 ** 24,
      });
      assert.equal(status, 0);
      assert.ok(stderr.includes(`resolved path ${folder} `), stderr.slice(0, 200));
      assert.match(stderr, /StrippedTypeScript .*\/src\/cli\/index\.ts/);
    }
  });

  it('names the missing package of an installation, and keeps its compile cache private', () => {
    const root = join(dataDir, 'incomplete');
    for (const part of ['src', 'packages/platform/src', 'package.json']) {
      cpSync(resolve(dirname(MAIN), '..', part), join(root, part), { recursive: true });
    }
    const command = `umask 000; exec "${process.execPath}" "${root}/src/main.mjs" serve`;
    const { status, stderr } = spawnSync('sh', ['-c', command], {
      env: { PATH: process.env.PATH },
      encoding: 'utf8',
    });
    assert.equal(status, 1);
    assert.match(lastReason(stderr), /^Cannot find package 'commander' .*: run "npm ci"$/);
    const made = readdirSync(join(root, 'build'), { recursive: true, encoding: 'utf8' });
    assert.ok(made.some((path) => /^compile-cache\/[^/]+\/[^/]+$/.test(path)));
    for (const path of made) {
      assert.equal(statSync(join(root, 'build', path)).mode & 0o077, 0, path);
    }
  });

  it('exits with code 2 and lines of JSON if a server with a JSON log cannot start', async () => {
    const wrong = { PHM_PORT: 'x', PHM_WORKERS: 'y', PHM_PROT: '1' };
    const [unset, pretty, usage] = await Promise.all([
      runPhm(['serve'], dataDir, wrong),
      runPhm(['serve'], dataDir, { ...wrong, PHM_LOG_FORMAT: 'pretty' }),
      runPhm(['serve', '--port', '1'], dataDir),
    ]);
    assert.deepEqual([unset.code, pretty.code, usage.code], [2, 2, 2]);
    const [warning, failure, ...more] = logLines(unset.stderr);
    assert.deepEqual(more, []);
    assert.deepEqual([warning.level, warning.msg], [40, 'a variable has no effect']);
    assert.match(warning.reason, /^PHM_PROT is not a variable/);
    assert.deepEqual([failure.level, failure.msg], [60, 'the configuration is invalid']);
    assert.equal(failure.problems.length, 2);
    assert.match(failure.problems[0], /^PHM_PORT is "x": use a whole number/);
    assert.match(
      pretty.stderr,
      /^warning: .*\nphm: the configuration is invalid:\n {2}PHM_PORT is/,
    );
    assert.equal(logLines(usage.stderr).length, 1);
    assert.match(lastReason(usage.stderr), /unknown option '--port'/);
  });

  it('exits with code 2 and a message on stderr for wrong usage', async () => {
    const wrong: [string[], RegExp][] = [
      [[], /Usage: phm/],
      [['frobnicate'], /unknown command/],
      [['ledger', 'frobnicate'], /unknown command/],
      [['account'], /^Usage: phm account .*\n\n[^\n]+\n\nCommands:\n/],
      [['account', 'create', '--plan', 'research'], /--name/],
      [
        ['account', 'create', '--name', 'x', '--plan', 'gold'],
        /research, professional, enterprise/,
      ],
      [['account', 'create', '--name', ' ', '--plan', 'research'], /--name/],
      [
        ['account', 'set-plan', 'x', 'gold'],
        /'gold' is invalid .* Allowed choices are research, .*, enterprise\.$/m,
      ],
      [['api-key', 'issue'], /--account/],
      [['serve', '--port', '1'], /unknown option/],
      [['assess', 'x', '--bits', 'many'], /--bits/],
      [['assess', 'x', '--format', 'morse'], /use one of the forms that --help lists/],
      [['export', '--json'], /--json needs a file/],
      [['import'], /missing required argument 'file'/],
    ];
    const results = await Promise.all(wrong.map(([args]) => phm(args, dataDir)));
    for (const [i, { code, stdout, stderr }] of results.entries()) {
      const [args, words] = wrong[i] as [string[], RegExp];
      assert.equal(code, 2, args.join(' '));
      assert.match(stderr, words);
      assert.equal(stdout, '', args.join(' '));
    }
    const { code, stderr } = await phm(['account', 'list'], dataDir, {
      PHM_PORT: 'x',
      PHM_WORKERS: 'y',
    });
    assert.equal(code, 2);
    assert.match(stderr, /PHM_PORT[\s\S]*PHM_WORKERS/);
  });

  it('refuses file names that a shell should have changed, in every option and argument for files', async () => {
    for (const args of [
      ['generate', '--output=~/key'],
      ['generate', '--count', '1', '--output-dir=~/keys'],
      ['generate', '--receipt', '$HOME/receipt'],
      ['recipient', 'new', '--output', '~/backup'],
      ['open', '~/key.sealed', '--recipient-key', 'key'],
      ['open', 'a', '"b"', '--recipient-key', 'key'],
      ['ledger', 'backup', '~/backup.db'],
      ['ledger', 'restore', '%USERPROFILE%/backup.db'],
      ['export', '~/export'],
      ['log', 'copy', '~/log'],
      ['log', 'check', '~/log', '--state', '~/state'],
      ['log', 'check', '--state=~/state'],
      ['log', 'recover', '--from=~/log'],
      ['assess', 'a', '--html=~/page.html'],
    ]) {
      const { code, stderr } = await phm(args, dataDir);
      assert.equal(code, 2, args.join(' '));
      assert.match(
        stderr,
        /^phm: .*(begins with "~"|has the variable|is in quotes)/m,
        args.join(' '),
      );
    }
    assert.ok(!existsSync('~'));
  });

  it('creates no ledger in a folder that a variable names by mistake', async () => {
    const create = ['account', 'create', '--init', '--name', 'A', '--plan', 'research'];
    for (const folder of ['"/srv/phm"', '~/phm', '$HOME/phm', '%USERPROFILE%/phm']) {
      const { code, stderr } = await phm(create, folder);
      assert.equal(code, 2, stderr);
      assert.match(stderr, /PHM_DATA_DIR (is in quotes|begins with|has the variable)/);
    }
  });

  it('creates and lists accounts and API keys', async () => {
    const account = await phmJson(
      ['account', 'create', '--init', '--name', 'Ada', '--plan', 'research'],
      dataDir,
    );
    assert.match(String(account.account_id), /^acct_[0-9a-f]{32}$/);
    const id = String(account.account_id);
    const issued = await phmJson(['api-key', 'issue', '--account', id], dataDir);
    assert.match(String(issued.api_key), /^phmsk_live_/);
    const listed = await phm(['api-key', 'list', '--json'], dataDir);
    assert.ok(!listed.stdout.includes(String(issued.api_key)), 'the key is shown once');
    assert.deepEqual(
      JSON.parse(listed.stdout).api_keys.map((row: { api_key_id: string }) => row.api_key_id),
      [issued.api_key_id],
    );
    assert.deepEqual(await phmJson(['account', 'set-plan', id, 'enterprise'], dataDir), {
      account_id: id,
      plan: 'enterprise',
    });
    const { stdout } = await phm(['account', 'list'], dataDir);
    assert.match(stdout, /^ACCOUNT .*\nacct_[0-9a-f]{32} +enterprise .*Ada\n$/);
    assert.ok(!readFileSync(join(dataDir, 'phm.db')).includes(Buffer.from(String(issued.api_key))));
  });

  it('writes the bare result to stdout and messages to stderr without --json', async () => {
    const made = await phm(['account', 'create', '--name', 'B', '--plan', 'professional'], dataDir);
    assert.match(made.stdout, /^acct_[0-9a-f]{32}\n$/);
    assert.match(made.stderr, / api-key issue --account acct_[0-9a-f]{32}\n$/);
    const issued = await phm(['api-key', 'issue', '--account', made.stdout.trim()], dataDir);
    assert.match(issued.stdout, /^phmsk_live_[0-9A-Za-z]{28}_[0-9A-Za-z]{6}\n$/);
    const [id = ''] = /key_[0-9a-f]{32}/.exec(issued.stderr) ?? [];
    const revoked = await phm(['api-key', 'revoke', id], dataDir);
    assert.equal(revoked.code, 0);
    assert.equal(revoked.stdout, '');
    assert.match(revoked.stderr, /refuse it within 2 seconds/);
  });

  it('exits with code 1 if its data cannot be written', { skip: !existsSync('/dev/full') }, () => {
    const full = openSync('/dev/full', 'w');
    const { status, stderr } = spawnSync(process.execPath, [MAIN, 'account', 'list', '--json'], {
      env: { PHM_DATA_DIR: dataDir },
      stdio: ['ignore', full, 'pipe'],
      encoding: 'utf8',
    });
    closeSync(full);
    assert.equal(status, 1);
    assert.match(stderr, /^phm: the output cannot be written: no space left\n$/m);
  });

  it('refuses to create a secret while nobody can read its output, which shows it only once', async () => {
    const env = { PHM_DATA_DIR: dataDir, PHM_URL: 'http://127.0.0.1:9' };
    const before = await phmJson(
      ['account', 'create', '--init', '--name', 'B', '--plan', 'research'],
      dataDir,
    );
    const account = String(before.account_id);
    const { api_key_id: id } = await phmJson(['api-key', 'issue', '--account', account], dataDir);
    const recipient = join(dataDir, 'unread');
    await phm(['recipient', 'new', '--output', recipient], dataDir);
    const audits = (await phm(['audit', 'list', '--json'], dataDir)).stdout;
    for (const args of [
      ['generate'],
      ['generate', '--json'],
      ['generate', '--seal-to', `${recipient}.recipient`],
      ['api-key', 'issue', '--account', account],
      ['api-key', 'rotate', String(id), '--overlap', '1h'],
      ['secret', 'new', '--print'],
      ['log', 'init', '--print'],
    ]) {
      for (const state of ['ignored', 'closed'] as const) {
        const { code, stdout, stderr } = await runCommandUnheard(state, args, env);
        assert.deepEqual([code, stdout], [1, ''], args.join(' '));
        assert.match(stderr, /standard output is closed or ignored, .* nothing was done\n$/);
      }
    }
    assert.equal((await phm(['audit', 'list', '--json'], dataDir)).stdout, audits);
  });

  it('exits with code 1 if its output is closed', () => {
    const bin = resolve(import.meta.dirname, '../../bin/phm');
    const list = spawnSync('sh', ['-c', `"${bin}" sources --json >&-`], { encoding: 'utf8' });
    assert.deepEqual([list.status, list.stdout], [1, '']);
    assert.match(list.stderr, /^phm: the output cannot be written: standard output is closed$/m);
    const secret = spawnSync('sh', ['-c', `"${bin}" secret new --print >&-`], { encoding: 'utf8' });
    assert.equal(secret.status, 1);
    assert.match(secret.stderr, /closed or ignored, so the result would be lost: nothing was done/);
    // Without the launcher, and with a parent that ignores the output.
    const ignored = spawnSync(process.execPath, [MAIN, 'secret', 'new', '--print'], {
      stdio: ['ignore', 'ignore', 'pipe'],
      encoding: 'utf8',
    });
    assert.equal(ignored.status, process.platform === 'linux' ? 1 : 0, ignored.stderr);
  });

  it('exits quietly with code 141 when the reader of its output has closed the pipe', () => {
    const line = `("$0" "$1" account list --json; echo "code $?" >&2) | true`;
    const { stderr } = spawnSync('sh', ['-c', line, process.execPath, MAIN], {
      env: { PHM_DATA_DIR: dataDir },
      encoding: 'utf8',
    });
    assert.equal(stderr.trim().split('\n').at(-1), 'code 141');
    assert.doesNotMatch(stderr, /cannot be written/);
  });

  it('exits with code 1 for an unknown account or API key', async () => {
    for (const args of [
      ['api-key', 'issue', '--account', 'acct_none'],
      ['account', 'set-plan', 'acct_none', 'research'],
      ['api-key', 'rotate', 'key_none', '--overlap', '7d'],
      ['api-key', 'revoke', 'key_none'],
    ]) {
      const { code, stderr } = await phm(args, dataDir);
      assert.equal(code, 1, args.join(' '));
      assert.match(stderr, /there is no/);
    }
  });
});

describe('phm migrate and phm ledger prune', () => {
  it('create the schema once, and prune by the option or the variable', async () => {
    const folder = makeDataDir();
    try {
      await phmJson(['secret', 'new'], folder);
      const { from, to, store } = await phmJson(['migrate'], folder);
      assert.deepEqual({ from, store }, { from: 0, store: 'sqlite' });
      assert.deepEqual(await phmJson(['migrate'], folder), {
        store: 'sqlite',
        from: to,
        to,
        program: to,
      });
      const prune = ['ledger', 'prune'];
      const nothing = { dry_run: true, rows: 0, minute_sums: 0, partitions: [], partial: false };
      const [asked, configured, unknown, tooLong] = await Promise.all([
        phmJson([...prune, '--older-than', '90', '--dry-run'], folder),
        phm(prune, folder, { PHM_RETENTION_DAYS: '30' }),
        phm(prune, folder),
        phm([...prune, '--older-than', '36501'], folder),
      ]);
      const { before, ...counted } = asked;
      assert.match(String(before), /^\d{4}-\d\d-\d\dT/);
      assert.deepEqual(counted, { days: 90, ...nothing });
      assert.equal(configured.code, 0);
      assert.match(configured.stderr, /Removed 0 rows older than 30 days/);
      assert.equal(unknown.code, 2);
      assert.match(unknown.stderr, /--older-than.*PHM_RETENTION_DAYS/);
      assert.equal(tooLong.code, 2);
    } finally {
      removeDataDir(folder);
    }
  });
});

describe('phm in a removed directory', () => {
  it('exits with a message of one sentence', () => {
    const gone = join(dataDir, 'gone');
    const script = `mkdir "${gone}" && cd "${gone}" && rmdir "${gone}" && exec "$@"`;
    const env = { PATH: process.env.PATH, PHM_PORT: '0' };
    const args = ['-c', script, 'sh', process.execPath, MAIN, 'account', 'list'];
    const { status, stderr } = spawnSync('sh', args, { env, encoding: 'utf8' });
    assert.equal(status, 1);
    assert.equal(stderr, 'phm: the working directory no longer exists: change to one that does\n');
  });
});

describe('phm secret', () => {
  it('creates, rotates and lists versions without showing a secret', async () => {
    const folder = makeDataDir();
    try {
      assert.equal((await phmJson(['secret', 'new'], folder)).version, 1);
      const again = await phm(['secret', 'new'], folder);
      assert.equal(again.code, 1);
      assert.match(again.stderr, /: .* secret rotate\n$/);
      const rotated = await phm(['secret', 'rotate', '--json'], folder);
      assert.equal(JSON.parse(rotated.stdout).version, 2);
      assert.match(
        rotated.stderr,
        /1\. .* PHM_MASTER_KEY_VERSION=1\.\n.*2\. .* PHM_MASTER_KEY_VERSION=2/,
      );
      const { stdout } = await phm(['secret', 'list', '--json'], folder);
      const { versions } = JSON.parse(stdout);
      assert.deepEqual(
        versions.map(({ version, status }: { version: number; status: string }) => [
          version,
          status,
        ]),
        [
          [1, 'verify-only'],
          [2, 'current'],
        ],
      );
      const first = await phm(['secret', 'list'], folder, { PHM_MASTER_KEY_VERSION: '1' });
      assert.match(first.stdout, /^1 +current .*\n2 +verify-only /m);
      assert.match(first.stderr, /When every server .* PHM_MASTER_KEY_VERSION=2 on all/);
      for (const [, hex = '-'] of readFileSync(join(folder, 'master.key'), 'utf8').matchAll(
        /:(\S+)/g,
      )) {
        assert.ok(!stdout.includes(hex));
      }
    } finally {
      removeDataDir(folder);
    }
  });

  it('prints a secret for PHM_MASTER_KEY, and says how to rotate it', async () => {
    const { stdout } = await phm(['secret', 'new', '--print'], dataDir);
    assert.match(stdout, /^[0-9a-f]{64}\n$/);
    const env = { PHM_MASTER_KEY: stdout.trim() };
    assert.equal((await phm(['secret', 'list'], dataDir, env)).code, 0);
    const rotated = await phm(['secret', 'rotate'], dataDir, env);
    assert.equal(rotated.code, 1);
    assert.match(rotated.stderr, /PHM_MASTER_KEY="1:<old>,2:<new>".*PHM_MASTER_KEY_VERSION=1/);
    assert.ok(!rotated.stderr.includes(stdout.trim()));
  });
});

describe('phm selftest', () => {
  it('passes all known-answer tests', async () => {
    const report = await phmJson<{
      readonly passed: number;
      readonly failed: number;
      readonly skipped: number;
      readonly tests: readonly {
        readonly name: string;
        readonly result: string;
        readonly approved: boolean | null;
      }[];
    }>(['selftest'], dataDir);
    const { passed, failed, skipped, tests } = report;
    assert.ok(passed >= 8);
    const sealing = tests.filter(({ name }) => name.startsWith('sealing with '));
    assert.deepEqual(
      sealing.map(({ name, approved }) => [name, approved]),
      SEAL_SUITES.map(({ name }) => [`sealing with ${name}`, false]),
    );
    assert.equal(tests.filter(({ result }) => result === 'pass').length, passed);
    // A clone has no manifest.
    const other = tests.filter(({ result }) => result !== 'pass');
    assert.deepEqual([failed, skipped, other.map(({ result }) => result)], [0, 1, ['skip']]);
    assert.match(other[0]?.name ?? '', /^files: a clone has no manifest/);
  });

  it('counts the vectors of a NIST response file and fails on a wrong one', async () => {
    const good = [
      '[AES-256 use df]',
      '[PredictionResistance = False]',
      '[EntropyInputLen = 256]',
      '[NonceLen = 128]',
      '[PersonalizationStringLen = 0]',
      '[AdditionalInputLen = 0]',
      '[ReturnedBitsLen = 512]',
      '',
      'COUNT = 0',
      'EntropyInput = 36401940fa8b1fba91a1661f211d78a0b9389a74e5bccfece8d766af1a6d3b14',
      'Nonce = 496f25b0f1301b4f501be30380a137eb',
      'PersonalizationString = ',
      'AdditionalInput = ',
      'AdditionalInput = ',
      'ReturnedBits = 5862eb38bd558dd978a696e6df164782ddd887e7e9a6c9f3f1fbafb78941b535a64912dfd224c6dc7454e5250b3d97165e16260c2faf1cc7735cb75fb4f07e1d',
      '',
    ].join('\n');
    const file = join(dataDir, 'vectors.rsp');
    writeFileSync(file, good);
    assert.deepEqual(await phmJson(['selftest', '--cavp', file], dataDir), {
      passed: 1,
      failed: 0,
      skipped: 0,
    });
    writeFileSync(file, good.replace('5862eb38', '5862eb39'));
    const wrong = await phm(['selftest', '--cavp', file, '--json'], dataDir);
    assert.equal(wrong.code, 1);
    assert.deepEqual(JSON.parse(wrong.stdout), { passed: 0, failed: 1, skipped: 0 });
    const missing = await phm(['selftest', '--cavp', join(dataDir, 'none.rsp')], dataDir);
    assert.equal(missing.code, 2);
    assert.match(missing.stderr, /cannot be read: .*none\.rsp: there is no such file/);
    writeFileSync(file, 'no vectors here');
    assert.equal((await phm(['selftest', '--cavp', file], dataDir)).code, 2);
  });
});
