/** `phm generate`, `validate` and `metrics` and their messages, against a real server. */
import assert from 'node:assert/strict';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { after, before, describe, it, type MockTracker } from 'node:test';
import { newApiKey } from '../../../src/accounts/index.ts';
import { duration } from '../../../src/cli/client/connection.ts';
import { decodeKey, encodeKey, KEY_FORMATS } from '../../../src/cli/client/key-formats.ts';
import { sparkline } from '../../../src/cli/client/terminal.ts';
import { runCli } from '../../../src/cli/index.ts';
import { AppError } from '../../../src/errors.ts';
import { problemBody } from '../../../src/http/wire/problem.ts';
import { ANY_ANSWER } from '../../sdk/support.ts';
import {
  answers,
  breaks,
  fails,
  page,
  ScriptedServer,
  staysSilent,
} from '../../support/clients/scripted-server.ts';
import {
  type CommandResult,
  DEMO_KEY,
  type Environment,
  makeDataDir,
  removeDataDir,
  Server,
} from '../../support/servers/server.ts';

let server: Server;
let folder: string;
/** Outside the folder of the commands: a server makes temporary files beside its data directory. */
let dataDir: string;
before(async () => {
  // Each command adds one listener for an output whose reader has gone.
  process.stdout.setMaxListeners(0);
  folder = makeDataDir();
  dataDir = makeDataDir();
  server = await Server.start(join(dataDir, 'data'), { PHM_RATE_LIMITS: 'off' });
});
after(async () => {
  await server?.stop();
  removeDataDir(dataDir);
  removeDataDir(folder);
});

interface Result extends CommandResult {
  readonly bytes: Buffer;
}

/** Runs a command line in this process, which saves starting Node each time. Uses the demo key by default. */
async function phm(args: readonly string[], env: Environment = {}): Promise<Result> {
  const output: Uint8Array[] = [];
  let stderr = '';
  const code = await runCli(args, {
    env: { PHM_URL: server.address, PHM_API_KEY: DEMO_KEY, ...env },
    log: null,
    launcher: 'phm',
    umask: 0o022,
    leaveOutput: () => {},
    onVerdict: () => {},
    outputIsShared: () => false,
    outputState: () => 'open',
    out: (data) => output.push(Buffer.from(data)),
    // Copy the bytes, because the command wipes them after writing.
    outBytes: async (data) => {
      output.push(Buffer.from(data));
    },
    err: (words) => {
      stderr += words;
    },
    serve: () => Promise.reject(new Error('no server was asked for')),
  });
  const bytes = Buffer.concat(output);
  return { code, stdout: bytes.toString(), stderr, bytes };
}

function inFolder(name: string): string {
  return join(folder, name);
}

/** Writes an input file for a command and returns its path. */
function file(content: string | Uint8Array): string {
  writeFileSync(inFolder('input'), content);
  return inFolder('input');
}

const validate = (content: string | Uint8Array, ...args: string[]) =>
  phm(['validate', '--file', file(content), ...args]);

/** Returns the number of requests that the account has made so far. */
async function metered(): Promise<number> {
  return (await server.metrics()).body.metrics.usage.total_usage;
}

describe('phm generate', () => {
  it('writes the key and a line feed, and nothing else', async () => {
    for (const [level, digits] of [
      ['128', 32],
      ['256', 64],
      ['384', 96],
    ] as const) {
      const { code, stdout, stderr } = await phm(['generate', '--level', level]);
      assert.deepEqual([code, stderr], [0, '']);
      assert.match(stdout, new RegExp(`^[0-9a-f]{${digits}}\n$`));
    }
  });

  it('writes every format, and validate accepts each', async () => {
    const forms: [string[], RegExp | number][] = [
      [['hex'], /^[0-9a-f]{96}\n$/],
      [['base64'], /^[0-9A-Za-z+/]{64}\n$/],
      [['raw'], 48],
      [['jwk'], /^\{"kty":"oct","k":"[0-9A-Za-z_-]{64}","kid":"phm_\d+"\}\n$/],
      [['env'], /^PHM_KEY=[0-9a-f]{96}\n$/],
      [['env', '--env-name', 'DATA_KEY'], /^DATA_KEY=[0-9a-f]{96}\n$/],
    ];
    for (const [form, shape] of forms) {
      const made = await phm(['generate', '--level', '384', '--format', ...form]);
      if (typeof shape === 'number') assert.equal(made.bytes.length, shape);
      else assert.match(made.stdout, shape);
      const { code, stdout } = await validate(made.bytes);
      assert.deepEqual([code, stdout.split('\n')[0]], [0, 'valid'], form.join(' '));
    }
  });

  it('writes the same key in every format and length', () => {
    for (const key of ['0f', 'a7', 'fe'].flatMap((byte) =>
      [16, 32, 48].map((n) => byte.repeat(n)),
    )) {
      for (const format of KEY_FORMATS) {
        assert.deepEqual(
          decodeKey(encodeKey({ key, key_id: 'phm_1' }, format, 'K')),
          { key },
          format,
        );
      }
    }
    const quoted = Buffer.from(`export K="${'0f'.repeat(16)}"`);
    assert.deepEqual(decodeKey(quoted), { key: '0f'.repeat(16) });
    // A key in the wrong case is left to the service and not read as base64 of a longer key.
    for (const key of ['A7', '12'].map((byte) => byte.repeat(32))) {
      assert.deepEqual(decodeKey(Buffer.from(`${key}\n`)), { key });
    }
  });

  it('sends its options, and writes the whole answer with --json', async () => {
    const options = ['--validate', '--source', 'quantum-simulator', '--modulation', 'none'];
    const include = ['--include', 'hash_proof', 'nist_report'];
    const { code, stdout } = await phm(['generate', '--json', ...options, ...include]);
    assert.equal(code, 0);
    const { success, source, nist_report, hash_proof } = JSON.parse(stdout);
    assert.deepEqual([success, source, nist_report.bits], [true, 'quantum-simulator', 2 ** 20]);
    // A whole answer is validated with its own proof, unless another is given.
    assert.equal((await validate(stdout)).code, 0);
    assert.equal((await validate(stdout, '--proof', `${hash_proof}1`)).code, 1);
  });

  it('writes a file that only its owner can read, and prints its path and the verdict', async () => {
    const path = inFolder('new.bin');
    const options = ['--validate', '--format', 'raw', '--output', path];
    const { code, stdout, stderr } = await phm(['generate', ...options]);
    assert.deepEqual([code, stdout], [0, '']);
    assert.match(
      stderr,
      /^Wrote a 256-bit key, phm_\d+, to \/.*\/new\.bin\nTests: 1\d of 1[35] passed, gate passed \(p = [\d.e-]+\)\n$/,
    );
    const { mode, size } = statSync(path);
    assert.deepEqual([mode & 0o777, size], [0o600, 32]);
    assert.equal((await phm(['validate', '--file', path])).code, 0);
  });

  it('generates no key if its file cannot be created', async () => {
    writeFileSync(inFolder('there.key'), 'old');
    symlinkSync('nowhere', inFolder('dangling'));
    mkdirSync(inFolder('closed'), { mode: 0o500 });
    mkdirSync(inFolder('directory'));
    const before = await metered();
    const cases: [string[], RegExp, number][] = [
      [[inFolder('there.key')], /there\.key exists: name another file, or use --force/, 1],
      [[inFolder('dangling')], /dangling exists and is not a regular file/, 1],
      [[inFolder('directory'), '--force'], /directory exists and is not a regular file/, 1],
      [['/dev/null', '--force'], /\/dev\/null exists and is not a regular file/, 1],
      [[inFolder('none/new.key')], /new\.key cannot be written: there is no such directory/, 1],
      [[inFolder('there.key/x')], /there is no such directory/, 1],
      [['-'], /--output needs the name of a file/, 2],
    ];
    // Root can write anywhere.
    if (process.getuid?.() !== 0) cases.push([[inFolder('closed/x')], /permission denied/, 1]);
    for (const [output, words, expected] of cases) {
      const { code, stdout, stderr } = await phm(['generate', '--output', ...output]);
      assert.match(stderr, words);
      assert.deepEqual([code, stdout], [expected, ''], output.join(' '));
    }
    chmodSync(inFolder('closed'), 0o700);
    assert.equal(await metered(), before);
    assert.equal(readFileSync(inFolder('there.key'), 'utf8'), 'old');
  });

  it('replaces a file only with --force and only after it has a key', async () => {
    const path = inFolder('old.key');
    writeFileSync(path, 'old', { mode: 0o644 });
    const replace = ['generate', '--output', path, '--force'];
    assert.equal((await phm([...replace, '--source', 'jitter'])).code, 1);
    assert.equal(readFileSync(path, 'utf8'), 'old');
    assert.equal((await phm(replace)).code, 0);
    assert.match(readFileSync(path, 'utf8'), /^[0-9a-f]{64}\n$/);
    assert.equal(statSync(path).mode & 0o777, 0o600);
  });

  it('leaves no file if there is no key', async () => {
    const path = inFolder('none.key');
    assert.equal((await phm(['generate', '--output', path, '--source', 'jitter'])).code, 1);
    const left = readdirSync(folder).filter((name) => /none|\.new$/.test(name));
    assert.deepEqual(left, []);
  });

  it('rejects options that exclude or require each other', async () => {
    for (const [args, words] of [
      [['--env-name', 'X'], /--env-name needs --format env/],
      [['--format', 'env', '--env-name', '1X'], /letters, digits/],
      [
        ['--include', 'hash_proof'],
        /--include needs --json, because .* nist_report also needs --validate/,
      ],
      [
        ['--json', '--include', 'nist_report'],
        /needs --validate, because no test runs without it\n$/,
      ],
      [['--json', '--format', 'raw'], /cannot be used with/],
      [['--force'], /--force needs --output/],
      [['--level', '512'], /128, 256, 384/],
      [['--url', 'localhost:8080'], /--url is not a usable address/],
      [['--url', 'http://user:word@localhost'], /without user/],
      [['--url', 'http://keys.example'], /in the clear\. Use https:/],
    ] as const) {
      const { code, stdout, stderr } = await phm(['generate', ...args]);
      assert.match(stderr, words);
      assert.deepEqual([code, stdout], [2, ''], args.join(' '));
      assert.doesNotMatch(stderr, /word/);
    }
  });
});

describe('phm generate --label and --expires-in', () => {
  const ends = ['--label', 'env=prod', '--label', 'note=a=b', '--expires-in', '30d'];
  const DAY = 86_400_000;

  it('are sent with a key, and shown', async () => {
    const before = Date.now();
    const { code, stdout } = await phm(['generate', '--json', ...ends]);
    assert.equal(code, 0);
    const { labels, expires_at } = JSON.parse(stdout);
    assert.deepEqual(labels, { env: 'prod', note: 'a=b' });
    const expiresIn = Date.parse(expires_at) - 30 * DAY;
    assert.ok(expiresIn >= before && expiresIn <= Date.now());
    const path = inFolder('labelled.key');
    const made = await phm([
      'generate',
      '--label',
      'env=',
      '--expires-at',
      '2999-01-31',
      '--output',
      path,
    ]);
    assert.match(made.stderr, /\nLabels: env=\nExpires: 2999-01-31T00:00:00\.000\+00:00\n$/);
    assert.equal((await phm(['validate', '--file', path])).code, 0);
  });

  it('are sent with sealed keys', async () => {
    await phm(['recipient', 'new', '--output', inFolder('ends')]);
    const { code, stdout } = await phm([
      'generate',
      '--seal-to',
      inFolder('ends.recipient'),
      ...ends,
    ]);
    assert.equal(code, 0);
    assert.deepEqual(JSON.parse(stdout).labels, { env: 'prod', note: 'a=b' });
  });

  it('are the same for all keys of a run, also when it is continued', async ({ mock }) => {
    retryAtOnce(mock);
    const lost = await ScriptedServer.start(breaks);
    const args = ['generate', '--count', '2', '--output-dir', inFolder('ends'), '--label', 'a=b'];
    const run = (...more: string[]) => phm([...args, ...more], { PHM_URL: lost.address });
    assert.equal((await run('--expires-in', '1d')).code, 1);
    assert.equal((await run('--expires-in', '24h')).code, 1);
    const bodies = new Set(lost.received.map(({ body }) => body));
    await lost.stop();
    assert.equal(bodies.size, 1);
    const state = JSON.parse(readFileSync(inFolder('ends/batch.json'), 'utf8'));
    const sent = { security_level: 256, modulation_type: 'phase', labels: { a: 'b' } };
    assert.deepEqual(JSON.parse([...bodies][0] ?? ''), {
      ...sent,
      expires_at: state.expires_at,
      count: 2,
    });
    assert.match((await run('--expires-in', '2d')).stderr, /--expires-in is 1d there and 2d here/);
    assert.match((await run()).stderr, /--expires-in is 1d there and not set here/);
    const over = { ...state, call: null, made: 1, expires_at: '2026-01-31T00:00:00.000Z' };
    writeFileSync(inFolder('ends/batch.json'), JSON.stringify(over));
    const { code, stderr } = await run('--expires-in', '1d');
    assert.equal(code, 1);
    assert.match(
      stderr,
      /expire at 2026-01-31T00:00:00\.000Z, which is past, and 1 of 2 were generated/,
    );
  });

  it('are refused with code 2 if they are wrong', async () => {
    const before = await metered();
    const many = Array.from({ length: 17 }, (_, i) => ['--label', `n${i}=`]).flat();
    for (const [args, words] of [
      [['--label', 'env'], /use NAME=VALUE, such as env=prod/],
      [['--label', 'Env=x'], /use a name of 1 to 32 characters of a-z/],
      [['--label', `env=${'x'.repeat(65)}`], /use a value of at most 64 characters/],
      [['--label', 'env=a\nb'], /use a value of at most 64 characters/],
      [['--label', 'a=b', '--label', 'a=c'], /the label a is given twice/],
      [many, /at most 16 labels/],
      [['--expires-in', '30'], /such as 90m, 12h or 30d/],
      [['--expires-in', '0d'], /such as 90m, 12h or 30d/],
      [['--expires-in', '36501d'], /of at most 36500d/],
      [['--expires-in', '1d', '--expires-in', '2d'], /--expires-in is given twice/],
      [['--expires-at', '2020-01-31'], /the time is past: use a time in the future/],
      [['--expires-at', 'tomorrow'], /a day such as .* or a time with its offset/],
      [['--expires-at', '2027-01-31T12:00'], /a time with its offset/],
      [['--expires-at', '9999-12-31T23:59-01:00'], /before the year 10000/],
      [['--expires-in', '1d', '--expires-at', '2999-01-31'], /cannot be used with/],
    ] as const) {
      const { code, stdout, stderr } = await phm(['generate', ...args]);
      assert.match(stderr, words);
      assert.deepEqual([code, stdout], [2, ''], args.join(' '));
    }
    assert.equal(await metered(), before);
  });
});

describe('phm keys', () => {
  /** Key IDs of `run=cli`, oldest first. */
  const keyIds: string[] = [];
  before(async () => {
    for (const level of ['128', '256', '256']) {
      const args = ['generate', '--json', '--level', level, '--label', 'run=cli'];
      keyIds.push(JSON.parse((await phm(args)).stdout).key_id);
    }
  });

  it('list shows the keys that meet all options, newest first', async () => {
    const { code, stdout, stderr } = await phm(['keys', 'list', '--label', 'run=cli']);
    assert.deepEqual([code, stderr], [0, '']);
    const [heading, ...rows] = stdout.trim().split('\n');
    assert.match(heading ?? '', /^KEY +CREATED +BITS +EVIDENCE +STATUS +LABELS$/);
    assert.deepEqual(
      rows.map((row) => row.split(' ')[0]),
      keyIds.toReversed(),
    );
    for (const row of rows) assert.match(row, / active {2}run=cli$/);
    const today = new Date().toISOString().slice(0, 10);
    const filters = ['--created-after', today, '--evidence', 'none', '--source', 'os', '--json'];
    const some = await phm(['keys', 'list', '--label', 'run=cli', '--level', '128', ...filters]);
    assert.deepEqual(
      some.stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).key_id),
      [keyIds[0]],
    );
    const none = await phm(['keys', 'list', '--label', 'run=cli', '--created-before', today]);
    assert.deepEqual([none.code, none.stderr], [0, 'No keys found.\n']);
  });

  it('list says if there are more keys than --limit', async () => {
    const list = (limit: string) => phm(['keys', 'list', '--label', 'run=cli', '--limit', limit]);
    const { code, stdout, stderr } = await list('2');
    assert.deepEqual([code, stdout.trim().split('\n').length], [0, 3]);
    assert.equal(stderr, 'There are more keys: --limit 2 ends the list here.\n');
    assert.equal((await list('3')).stderr, '');
  });

  it('show and revoke write the record of a key', async () => {
    const revoke = (id: string, reason: string) => [
      ...['keys', 'revoke', id, '--reason', reason, '--confirm'],
    ];
    const [keyId = ''] = keyIds;
    const shown = await phm(['keys', 'show', keyId]);
    assert.deepEqual([shown.code, shown.stderr], [0, '']);
    assert.match(shown.stdout, new RegExp(`^${keyId}\nstatus +active\n`));
    assert.match(shown.stdout, new RegExp(`\nreceipt +phm receipt get ${keyId}\n$`));
    const revoked = await phm(revoke(keyId, 'superseded'));
    assert.deepEqual([revoked.code, revoked.stderr], [0, 'The key is deactivated.\n']);
    assert.match(revoked.stdout, /\nrevoked +20[^ ]+: superseded\n/);
    const again = await phm([...revoke(keyId, 'key_compromise'), '--json']);
    const { status, revocation_reason } = JSON.parse(again.stdout);
    assert.deepEqual([status, revocation_reason], ['compromised', 'key_compromise']);
  });

  describe('revoke', () => {
    /** Makes keys with this label and returns their IDs. */
    const make = async (label: string, count = 3): Promise<string[]> => {
      const args = ['generate', '--json', '--level', '128', '--label', label];
      const ids: string[] = [];
      while (ids.length < count) ids.push(JSON.parse((await phm(args)).stdout).key_id);
      return ids;
    };
    const revoke = (...args: string[]) =>
      phm(['keys', 'revoke', '--reason', 'superseded', ...args]);
    const statesOf = async (label: string) => {
      const { stdout } = await phm(['keys', 'list', '--json', '--label', label]);
      const records = stdout.trim().split('\n');
      return records.map((line) => JSON.parse(line).status).sort();
    };

    it('does nothing without --confirm, and says how many keys it would revoke', async () => {
      const ids = await make('run=ask');
      const list = file(ids.join('\n'));
      for (const [args, words] of [
        [['--label', 'run=ask'], '3 keys'],
        [['--file', list], '3 keys'],
        [ids.slice(0, 2), '2 keys'],
        [ids.slice(0, 1), `the key ${ids[0]}`],
      ] as const) {
        const { code, stdout, stderr } = await revoke(...args);
        assert.deepEqual([code, stdout], [2, ''], stderr);
        const would = `This would revoke ${words}, for good, with the reason superseded.`;
        assert.equal(stderr, `phm: nothing was revoked\n${would} To do it, add --confirm.\n`);
      }
      assert.deepEqual(await statesOf('run=ask'), ['active', 'active', 'active']);
    });

    it('asks on a terminal', async ({ mock }) => {
      const [id = ''] = await make('run=terminal', 1);
      const answer = async (text: string) => {
        const input = Object.assign(Readable.from([Buffer.from(text)]), { isTTY: true });
        const stub = mock.getter(process, 'stdin', () => input as unknown as typeof process.stdin);
        const { isTTY } = process.stderr;
        process.stderr.isTTY = true;
        const result = await revoke(id);
        process.stderr.isTTY = isTTY;
        stub.mock.restore();
        return result;
      };
      for (const text of ['', '\n', 'no\n', 'y\n']) {
        const { code, stderr } = await answer(text);
        assert.equal(code, 1, text);
        assert.match(stderr, /^This would revoke the key phm_\d+, .* Type yes to do it:\nphm: no/);
      }
      assert.deepEqual(await statesOf('run=terminal'), ['active']);
      const { code, stdout, stderr } = await answer('yes\n');
      assert.equal(code, 0, stderr);
      assert.match(stdout, /\nstatus +deactivated\n/);
    });

    it('takes labels or an API key, and leaves out what is revoked', async () => {
      const ids = await make('run=many', 12);
      const { code, stdout, stderr } = await revoke('--label', 'run=many', '--confirm');
      assert.equal(code, 0, stderr);
      assert.equal(stderr, 'Revoking 12 keys with the reason superseded.\nRevoked 12 keys.\n');
      const lines = stdout.trim().split('\n');
      assert.deepEqual(lines.sort(), ids.map((id) => `${id}  deactivated`).sort());
      const again = await revoke('--label', 'run:many', '--confirm');
      const nothing = 'All keys that meet the options are revoked already.\n';
      assert.deepEqual([again.code, again.stdout, again.stderr], [0, '', nothing]);
      const record = JSON.parse((await phm(['keys', 'show', ids[0] ?? '', '--json'])).stdout);
      const own = ['--api-key', record.api_key_id, '--label', 'run=many', '--confirm', '--json'];
      const worse = await phm(['keys', 'revoke', '--reason', 'key_compromise', ...own]);
      assert.equal(worse.code, 0, worse.stderr);
      const records = worse.stdout.trim().split('\n');
      assert.deepEqual(records.map((line) => JSON.parse(line).key_id).sort(), ids.sort());
      assert.deepEqual(new Set(await statesOf('run=many')), new Set(['compromised']));
      const other = await revoke('--api-key', 'key_other', '--confirm');
      assert.match(other.stderr, /no key meets the options/);
    });

    it('takes a file or standard input, again too, and names each failure', async ({ mock }) => {
      const ids = await make('run=file');
      const list = ids.join(',\n');
      const good = await revoke('--file', file(list), '--confirm');
      assert.deepEqual([good.code, good.stdout.split('\n').length], [0, 4], good.stderr);
      const stdin = Readable.from([Buffer.from(`phm_1\n${list} phm_2`)], { objectMode: false });
      const stub = mock.getter(process, 'stdin', () => stdin as typeof process.stdin);
      const { code, stdout, stderr } = await revoke('-', '--confirm');
      stub.mock.restore();
      assert.equal(code, 1);
      assert.deepEqual(
        stdout.trim().split('\n').sort(),
        ids.map((id) => `${id}  deactivated`).sort(),
      );
      for (const id of ['phm_1', 'phm_2']) {
        assert.match(stderr, new RegExp(`^${id} is not revoked: .*key_not_found`, 'm'));
      }
      assert.match(stderr, /^phm: 2 of 5 keys failed\n.*Run the same command again/m);
    });

    it('stops when the service refuses everything', async () => {
      const ids = Array.from({ length: 50 }, (_, i) => `phm_${i + 1}`);
      const args = ['keys', 'revoke', '--reason', 'superseded', '--file', file(ids.join(' '))];
      const { code, stdout, stderr } = await phm([...args, '--confirm'], {
        PHM_API_KEY: newApiKey('live'),
      });
      assert.deepEqual([code, stdout], [1, '']);
      assert.ok(stderr.split(' is not revoked: ').length <= 17, stderr);
      assert.match(stderr, /^phm: \d+ of 50 keys failed, and \d+ were not tried$/m);
    });
  });

  it('refuse wrong options with code 2, and unknown keys with code 1', async () => {
    const list = ['keys', 'list'];
    const revoke = ['keys', 'revoke', '--reason', 'superseded'];
    for (const [args, words, expected] of [
      [[...list, '--label', 'env'], /use NAME=VALUE/, 2],
      [[...list, '--label', 'a=b', '--label', 'a=c'], /given twice/, 2],
      [[...list, '--level', 'x'], /128, 256, 384/, 2],
      [[...list, '--limit', '0'], /whole number from 1 to 100000/, 2],
      [[...list, '--created-after', 'yesterday'], /a day such as/, 2],
      [
        [...list, '--created-after', '2026-02-01', '--created-before', '2026-01-01'],
        /--created-before must not be earlier than --created-after/,
        2,
      ],
      [['keys', 'show', 'phm_1'], /key_not_found/, 1],
      [['keys', 'show', 'x'], /KEY_ID is phm_ and a number/, 2],
      [['keys', 'revoke', 'phm_1'], /--reason/, 2],
      [['keys', 'revoke', 'phm_1', '--reason', 'lost'], /key_compromise, superseded/, 2],
      [['keys', 'revoke', 'x', '--reason', 'superseded'], /KEY_ID is/, 2],
      [[...revoke], /give exactly one of: key IDs, -/, 2],
      [[...revoke, 'phm_1', '--label', 'run=cli'], /give exactly one of/, 2],
      [[...revoke, '--file', 'ids', '--api-key', 'key_1'], /give exactly one of/, 2],
      [[...revoke, 'phm_1', '--created-after', '2026-01-01'], /need --label or --api-key/, 2],
      [[...revoke, '--file', '/nowhere'], /cannot be read/, 2],
      [[...revoke, 'phm_1', 'x'], /KEY_ID is/, 2],
      [[...revoke, 'phm_1', '--confirm'], /key_not_found/, 1],
      [[...revoke, '--label', 'run=none', '--confirm'], /no key meets the options/, 1],
    ] as const) {
      const { code, stdout, stderr } = await phm(args);
      assert.match(stderr, words);
      assert.deepEqual([code, stdout], [expected, ''], args.join(' '));
    }
  });
});

describe('phm generate --receipt and phm receipt get', () => {
  const policy = async (): Promise<string> => {
    const response = await fetch(`${server.address}/log/policy`);
    writeFileSync(inFolder('policy'), await response.text());
    return inFolder('policy');
  };

  it('write a receipt that verifies with its key', async () => {
    const [key, receipt] = [inFolder('receipted.key'), inFolder('receipted.receipt')];
    const { code, stdout, stderr } = await phm(['generate', '--output', key, '--receipt', receipt]);
    assert.deepEqual([code, stdout], [0, ''], stderr);
    assert.match(stderr, /\nWrote the receipt and the opening to \/.*\/receipted\.receipt\n$/);
    assert.equal(statSync(receipt).mode & 0o777, 0o600);
    const { key_id: keyId, ...rest } = JSON.parse(readFileSync(receipt, 'utf8'));
    assert.deepEqual(Object.keys(rest), ['receipt', 'opening', 'receipt_url']);
    const verify = (path: string, ...args: string[]) =>
      phm(['receipt', 'verify', path, '--key-file', key, ...args]);
    const verified = await verify(receipt, '--policy', await policy());
    assert.equal(verified.code, 0, verified.stdout);
    assert.match(verified.stdout, /The given key is the key of this receipt/);
    const got = inFolder('got.receipt');
    assert.equal((await phm(['receipt', 'get', keyId, '--output', got])).code, 0);
    const opened = await verify(got, '--policy', await policy(), '--opening', rest.opening);
    assert.equal(opened.code, 0, opened.stdout);
  });

  it('add the receipt to the whole answer, which verifies with its report', async () => {
    const options = ['--validate', '--json', '--include', 'nist_report', 'receipt'];
    const { stdout } = await phm(['generate', ...options]);
    const args = ['receipt', 'verify', file(stdout), '--policy', await policy()];
    const { code, stdout: verdict } = await phm(args);
    assert.equal(code, 0, verdict);
    const tampered = stdout.replace(
      /("p_values":\[0\.)(\d)/,
      (_, start, digit) => `${start}${(Number(digit) + 1) % 10}`,
    );
    assert.equal((await phm([...args.slice(0, 2), file(tampered), ...args.slice(3)])).code, 1);
  });

  it('wait for a receipt that comes late, after the key is delivered', async () => {
    const late = await ScriptedServer.start(
      answers({ ...ANY_ANSWER, receipt: null }),
      answers(ANY_ANSWER),
    );
    const [key, receipt] = [inFolder('late.key'), inFolder('late.receipt')];
    const args = ['generate', '--output', key, '--receipt', receipt];
    const { code, stderr } = await phm(args, { PHM_URL: late.address });
    await late.stop();
    assert.equal(code, 0, stderr);
    assert.deepEqual(JSON.parse(readFileSync(receipt, 'utf8')).receipt, ANY_ANSWER.receipt);
  });

  it('keep the key and the opening if no receipt comes', async () => {
    const none = await ScriptedServer.start(
      answers({ ...ANY_ANSWER, receipt: null }),
      fails('receipt_not_found'),
    );
    const [key, receipt] = [inFolder('no.key'), inFolder('no.receipt')];
    const args = ['generate', '--output', key, '--receipt', receipt];
    const { code, stderr } = await phm(args, { PHM_URL: none.address });
    await none.stop();
    assert.equal(code, 1);
    assert.match(
      stderr,
      /The key is complete, but .* has only its opening\. .*: phm receipt get phm_\d+\n$/,
    );
    assert.ok(statSync(key).size > 32);
    const { receipt: missing, opening } = JSON.parse(readFileSync(receipt, 'utf8'));
    assert.deepEqual([missing, opening], [null, ANY_ANSWER.opening]);
  });

  it('refuse unknown keys, and generate no key if a file cannot be created', async () => {
    const unknown = await phm(['receipt', 'get', 'phm_1']);
    assert.deepEqual([unknown.code, unknown.stdout], [1, '']);
    assert.match(unknown.stderr, /\(receipt_not_found\)/);
    const before = await metered();
    const there = inFolder('there.receipt');
    writeFileSync(there, 'old');
    const out = inFolder('unmade.key');
    for (const [args, words, expected] of [
      [['--receipt', there], /there\.receipt exists/, 1],
      [['--receipt', out], /name the same file/, 2],
      [['--receipt', '-'], /--receipt needs the name of a file/, 2],
    ] as const) {
      const { code, stderr } = await phm(['generate', '--output', out, ...args]);
      assert.equal(code, expected);
      assert.match(stderr, words);
    }
    assert.ok(!existsSync(out));
    assert.equal(await metered(), before);
  });
});

describe('phm generate --seal-to', () => {
  const recipient = () => inFolder('ada.recipient');
  const open = (path: string, ...args: string[]) =>
    phm(['open', path, '--recipient-key', inFolder('ada.recipient-key'), ...args]);
  before(() => phm(['recipient', 'new', '--output', inFolder('ada')]));

  it('writes the answer of the service, which only the recipient opens', async () => {
    const path = inFolder('data.sealed');
    const made = await phm(['generate', '--seal-to', recipient(), '--output', path, '--validate']);
    assert.deepEqual([made.code, made.stdout], [0, ''], made.stderr);
    const { stdout: thumbprint } = await phm(['recipient', 'show', recipient()]);
    assert.ok(made.stderr.includes(`sealed to ${thumbprint.trim()}, to ${path}\nTests: 1`));
    const answer = JSON.parse(readFileSync(path, 'utf8'));
    assert.deepEqual([answer.success, answer.key, answer.hash_proof], [true, undefined, undefined]);
    assert.equal(statSync(path).mode & 0o777, 0o600);
    const opened = await open(path);
    assert.equal(opened.code, 0, opened.stderr);
    assert.equal((await validate(opened.stdout)).code, 0);
    assert.equal((await validate((await open(path, '--json')).stdout)).code, 0);
  });

  it('writes a receipt with which open shows who sealed the key', async () => {
    const [sealed, receipt] = [inFolder('receipted.sealed'), inFolder('sealed.receipt')];
    const args = ['--seal-to', recipient(), '--output', sealed, '--receipt', receipt];
    const made = await phm(['generate', ...args]);
    assert.equal(made.code, 0, made.stderr);
    const policy = inFolder('pinned.policy');
    writeFileSync(policy, await (await fetch(`${server.address}/log/policy`)).text());
    for (const given of [[], ['--receipt', receipt]]) {
      const { code, stderr } = await open(sealed, '--policy', policy, ...given);
      assert.equal(code, 0, stderr);
      assert.match(
        stderr,
        /by the receipt the log of the policy recorded it for this recipient\.\n$/,
      );
    }
    const other = inFolder('other.sealed');
    await phm(['generate', '--seal-to', recipient(), '--output', other]);
    const wrong = await open(other, '--policy', policy, '--receipt', receipt);
    assert.deepEqual([wrong.code, wrong.stdout], [1, '']);
    assert.match(wrong.stderr, /other\.sealed was not opened: The receipt is of another key/);
  });

  it('gives several recipients one key, and open demands a certain set', async () => {
    await phm(['recipient', 'new', '--output', inFolder('bob'), '--suite', 'ML-KEM-1024']);
    const bob = inFolder('bob.recipient');
    const path = inFolder('link.sealed');
    const before = await metered();
    const both = ['--seal-to', recipient(), '--seal-to', bob];
    const made = await phm([
      'generate',
      ...both,
      '--receipt',
      inFolder('link.receipt'),
      '--output',
      path,
    ]);
    assert.equal(made.code, 0, made.stderr);
    assert.equal((await metered()) - before, 1);
    const names = await Promise.all(
      [recipient(), bob].map(async (one) => (await phm(['recipient', 'show', one])).stdout.trim()),
    );
    assert.ok(made.stderr.includes(`sealed to ${names.join(', ')}, to ${path}`), made.stderr);
    const policy = inFolder('link.policy');
    writeFileSync(policy, await (await fetch(`${server.address}/log/policy`)).text());
    const openAs = (owner: string, ...args: string[]) =>
      phm(['open', path, '--recipient-key', inFolder(`${owner}.recipient-key`), ...args]);
    const checked = ['--policy', policy, '--receipt', inFolder('link.receipt')];
    const opened = await openAs('ada', ...checked, '--expect-recipient', bob);
    assert.equal(opened.code, 0, opened.stderr);
    assert.match(opened.stderr, /recorded it for this recipient and 1 other\.\n$/);
    const other = await openAs('bob', ...checked, '--expect-recipient', names[0] ?? '');
    assert.deepEqual([other.code, other.stdout], [0, opened.stdout], other.stderr);
    for (const [args, words] of [
      [['--expect-recipient', recipient()], /sealed to a further recipient/],
      [
        ['--expect-recipient', bob, '--expect-recipient', `${'A'.repeat(43)}=`],
        /not sealed to a re/,
      ],
    ] as const) {
      const { code, stdout, stderr } = await openAs('ada', ...args);
      assert.deepEqual([code, stdout], [1, ''], stderr);
      assert.match(stderr, words);
    }
    const { key_id: keyId } = JSON.parse(readFileSync(path, 'utf8'));
    const shown = await phm(['keys', 'show', keyId]);
    assert.ok(shown.stdout.includes(names.join(', ')), shown.stdout + shown.stderr);
    const got = await phm(['receipt', 'get', '--sealed', path]);
    const verified = await phm(['receipt', 'verify', inFolder('link.receipt'), '--policy', policy]);
    assert.deepEqual([got.code, verified.code], [0, 0], got.stderr + verified.stderr);
    assert.ok(
      verified.stdout.includes(`2 recipients, with the thumbprints ${names.join(' and ')}.`),
    );
    const folder = inFolder('links');
    const many = ['generate', '--count', '3', '--output-dir', folder, ...both];
    for (const run of [await phm(many), await phm(many)]) assert.equal(run.code, 0, run.stderr);
    const turned = [
      'generate',
      '--count',
      '3',
      '--output-dir',
      folder,
      ...both.slice(2),
      ...both.slice(0, 2),
    ];
    assert.match((await phm(turned)).stderr, /has keys of another command: --seal-to/);
    const files = readdirSync(folder).filter((one) => /^phm_.*sealed$/.test(one));
    assert.equal(files.length, 3);
    for (const file of files) {
      const { sealed_keys: copies } = JSON.parse(readFileSync(join(folder, file), 'utf8'));
      assert.equal(copies.length, 2);
    }
  });

  it('refuses an answer that is sealed to another recipient', async () => {
    await phm(['recipient', 'new', '--output', inFolder('eve')]);
    const eve = ['generate', '--seal-to', inFolder('eve.recipient')];
    const swapped = await ScriptedServer.start(answers(JSON.parse((await phm(eve)).stdout)));
    const path = inFolder('swapped.sealed');
    const args = ['generate', '--seal-to', recipient(), '--output', path];
    const { code, stderr } = await phm(args, { PHM_URL: swapped.address });
    await swapped.stop();
    assert.equal(code, 1);
    assert.match(stderr, /sealed_key is for another recipient: check --url .* a proxy/);
    assert.ok(!existsSync(path));
  });

  it('refuses options of plaintext, files that are none, and unknown names', async () => {
    const before = await metered();
    const seal = ['--seal-to', recipient()];
    for (const [args, words, expected] of [
      [[...seal, ...seal], /"seal_to\[1\]" is the same recipient as "seal_to\[0\]"/, 1],
      [Array(9).fill(seal).flat(), /at most 8 recipients/, 2],
      [[...seal, '--format', 'hex'], /--format is for a key in plaintext: .*phm open has/, 2],
      [[...seal, '--env-name', 'K'], /--env-name is for a key in plaintext/, 2],
      [[...seal, '--include', 'hash_proof'], /the proof is inside it/, 2],
      [['--seal-to', inFolder('none')], /none: there is no such file/, 2],
      [['--seal-to', inFolder('ada.recipient-key')], /holds a private key/, 1],
      [['--recipient', 'nobody'], /recipient/, 1],
    ] as const) {
      const { code, stdout, stderr } = await phm(['generate', ...args]);
      assert.deepEqual([code, stdout], [expected, ''], stderr);
      assert.match(stderr, words);
    }
    assert.equal(await metered(), before);
  });
});

describe('phm generate --output-dir', () => {
  const filesIn = (name: string) => readdirSync(inFolder(name)).filter((one) => /^phm_/.test(one));
  const many = (name: string, count: number, ...args: string[]) =>
    phm(['generate', '--count', String(count), '--output-dir', inFolder(name), ...args]);

  it('writes each key to a file, and nothing when it is repeated', async () => {
    const before = await metered();
    const made = await many('many', 101, '--level', '128');
    assert.deepEqual([made.code, made.stdout], [0, ''], made.stderr);
    assert.match(made.stderr, /^Wrote 101 128-bit keys to \/.*\/many\n$/);
    assert.deepEqual([filesIn('many').length, await metered()], [101, before + 101]);
    const keys = filesIn('many').map((name) => readFileSync(inFolder(`many/${name}`), 'utf8'));
    for (const key of keys) assert.match(key, /^[0-9a-f]{32}\n$/);
    assert.equal(new Set(keys).size, 101);
    const again = await many('many', 101, '--level', '128');
    assert.equal(again.code, 0);
    assert.match(again.stderr, /got all 101 keys of this command by .*: nothing was generated/);
    const other = await many('many', 102, '--level', '128');
    assert.equal(other.code, 1);
    assert.match(other.stderr, /another command: --count is 101 there and 102 here\. Repeat that/);
    assert.equal(await metered(), before + 101);
  });

  it('counts no key of an earlier run whose state is gone', async () => {
    assert.equal((await many('twice', 2)).code, 0);
    const earlier = filesIn('twice');
    rmSync(inFolder('twice/batch.json'));
    const made = await many('twice', 3);
    assert.equal(made.code, 0, made.stderr);
    const list = readFileSync(inFolder('twice/batch.keys'), 'utf8');
    const listed = list.match(/phm_\d+/g) ?? [];
    const files = filesIn('twice').filter((name) => !earlier.includes(name));
    assert.deepEqual(
      files,
      listed.sort().map((keyId) => `${keyId}.key`),
    );
    assert.equal(files.length, 3);
  });

  it('writes sealed keys and whole answers', async () => {
    const sealed = await many('sealed', 3, '--seal-to', inFolder('ada.recipient'));
    assert.equal(sealed.code, 0, sealed.stderr);
    const files = filesIn('sealed').map((name) => inFolder(`sealed/${name}`));
    for (const name of files) assert.match(name, /phm_\d+\.sealed$/);
    const args = ['--recipient-key', inFolder('ada.recipient-key'), '--output-dir'];
    const opened = await phm(['open', ...files, ...args, inFolder('opened')]);
    assert.equal(opened.code, 0, opened.stderr);
    assert.equal(filesIn('opened').length, 3);
    await many('whole', 2, '--json', '--include', 'receipt');
    for (const name of filesIn('whole')) {
      const { key, receipt_url } = JSON.parse(readFileSync(inFolder(`whole/${name}`), 'utf8'));
      assert.match(key, /^[0-9a-f]{64}$/);
      assert.ok(receipt_url);
    }
  });

  it('leaves nothing behind if the service refuses the first call', async () => {
    const refused = await many('none', 5, '--source', 'jitter');
    assert.equal(refused.code, 1);
    assert.doesNotMatch(refused.stderr, /To continue/);
    assert.ok(!existsSync(inFolder('none')));
  });

  it('names the lost keys of an answer, and generates others', async () => {
    const body = { count: 2, timestamp: ANY_ANSWER.timestamp };
    const keys = ['phm_1', 'phm_2'].map((key_id) => ({ ...ANY_ANSWER, key_id }));
    const others = keys.map((one, i) => ({
      ...one,
      key_id: `phm_${i + 3}`,
      receipt: null,
      receipt_url: `/api/v2/keys/phm_${i + 3}/receipt`,
      key: `${i}${one.key.slice(1)}`,
    }));
    const lossy = await ScriptedServer.start(
      breaks,
      fails('key_already_made', {}, { key_ids: ['phm_1', 'phm_2'] }),
      answers({ ...body, keys: others }),
    );
    const args = ['generate', '--count', '2', '--output-dir', inFolder('lossy')];
    const { code, stderr } = await phm(args, { PHM_URL: lossy.address });
    await lossy.stop();
    assert.equal(code, 0, stderr);
    assert.match(
      stderr,
      /^2 keys are lost, although they were generated and counted: phm_1 phm_2\. Others take their place\.\nWrote 2 /,
    );
    assert.deepEqual(filesIn('lossy'), ['phm_3.key', 'phm_4.key']);
    const [first, second, third] = lossy.received.map(({ headers }) => headers['idempotency-key']);
    assert.ok(first && first === second && first !== third);
  });

  it('continues after a lost connection with the same call', async ({ mock }) => {
    retryAtOnce(mock);
    const lost = await ScriptedServer.start(breaks);
    const args = ['generate', '--count', '2', '--output-dir', inFolder('resumed')];
    const failed = await phm(args, { PHM_URL: lost.address });
    assert.equal(failed.code, 1);
    assert.match(failed.stderr, /has 0 of 2 keys\. To continue, run the same command again: it/);
    const other = await phm([...args, '--level', '128'], { PHM_URL: lost.address });
    assert.match(other.stderr, /--level is 256 there and 128 here/);
    await lost.stop();
    const sent = new Set(lost.received.map(({ headers }) => headers['idempotency-key']));
    const { call } = JSON.parse(readFileSync(inFolder('resumed/batch.json'), 'utf8'));
    assert.deepEqual([...sent], [call.idempotency_key]);
  });

  it('rejects options that exclude or require each other', async () => {
    const dir = ['--output-dir', inFolder('never')];
    for (const [args, words] of [
      [['--count', '2'], /--count needs --output-dir/],
      [dir, /--output-dir needs --count/],
      [['--count', '0', ...dir], /whole number from 1 to 1000000/],
      [['--count', '2', ...dir, '--output', 'x'], /--output is for one key/],
      [['--count', '2', ...dir, '--force'], /replaces no file/],
      [['--count', '2', ...dir, '--receipt', 'x'], /--json --include receipt puts each/],
      [['--count', '2', '--output-dir', ''], /needs the name of a directory/],
    ] as const) {
      const { code, stderr } = await phm(['generate', ...args]);
      assert.deepEqual([code, existsSync(inFolder('never'))], [2, false], stderr);
      assert.match(stderr, words);
    }
  });
});

describe('phm validate', () => {
  const never = 'aa55'.repeat(8);

  it('exits with code 1 and a reason for a key that was not generated here', async () => {
    const { code, stdout, stderr } = await validate('0123456789abcdef0123456789abcdef');
    assert.equal(code, 1);
    assert.match(
      stderr,
      /^The (?:key is not random|service does not recognise the key)[^\n]*\.\n$/,
    );
    const checks =
      / {2}key format +valid\n {2}entropy check +\w+\n {2}proof verification +failed\n$/;
    assert.match(stdout, new RegExp(`^not valid\n${checks.source}`));
    const json = await validate(`export X="${never}"`, '--json');
    assert.equal(json.code, 1);
    assert.equal(JSON.parse(json.stdout).valid, false);
    const malformed = await validate('not a key');
    assert.equal(malformed.code, 1);
    assert.match(malformed.stdout, /^not valid\n {2}key format +invalid\n/);
  });

  it('exits with code 2 if it cannot send the request', async () => {
    const before = await metered();
    const cases: [string[], RegExp, Environment?][] = [
      [[never], /every user of this machine can read a key/],
      [['-', '--file', 'x'], /use one of them/],
      [['--file', inFolder('missing')], /cannot be read/],
      [['--file', file(never)], /invalid_api_key/, { PHM_API_KEY: 'wrong' }],
      [['--file', file(never)], /both set/, { PHM_API_KEY_FILE: 'missing' }],
    ];
    for (const [args, words, env] of cases) {
      const { code, stdout, stderr } = await phm(['validate', ...args], env);
      assert.match(stderr, words);
      assert.deepEqual([code, stdout], [2, ''], args.join(' '));
      assert.ok(!stderr.includes(never));
    }
    for (const content of ['', 'two\nlines', '{"kty":"RSA"}', '{', Buffer.alloc(70_000, 'a')]) {
      const { code, stdout, stderr } = await validate(content);
      assert.deepEqual([code, stdout], [2, '']);
      assert.match(
        stderr,
        /contains no key in a form that "phm generate" writes; nothing was sent/,
      );
    }
    assert.equal(await metered(), before);
  });
});

describe('phm metrics', () => {
  it('writes a table, or the whole answer with --json', async () => {
    const { code, stdout, stderr } = await phm(['metrics', '--hours', '2']);
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(
      stdout,
      /^LAST 2 HOURS\nkeys generated +\d+\naverage latency +[\d.]+ ms\n[\s\S]*left this month +[89]\d\d of 1,000 requests, for .*\n$/,
    );
    const hour = await phm(['metrics', '--hours', '1']);
    assert.match(hour.stdout, /^LAST HOUR\n/);
    const json = await phm(['metrics', '--json']);
    assert.equal(JSON.parse(json.stdout).metrics.usage.api_key_count, 1);
  });

  it('accepts the same range of hours as the service', async () => {
    for (const hours of ['0', '8761', '1.5']) {
      const { code, stderr } = await phm(['metrics', '--hours', hours]);
      assert.equal(code, 2);
      assert.match(stderr, /use a whole number from 1 to 8760\./);
    }
    assert.equal((await phm(['metrics', '--hours', '8760'])).code, 0);
  });

  it('requests strict handling, and names a field that an older service does not know', async () => {
    const older = await ScriptedServer.start((response) => {
      response.writeHead(400, { 'content-type': 'application/problem+json' });
      const fields = ['?hours', '?step'].map((pointer) => ({
        pointer,
        message: 'is not a known field',
      }));
      const error = new AppError('invalid_request', { fields });
      response.end(JSON.stringify(problemBody(error, { requestId: 'one', nowMs: Date.now() })));
    });
    try {
      const { code, stderr } = await phm(['metrics'], { PHM_URL: older.address });
      assert.equal(code, 1);
      assert.match(
        stderr,
        /^phm: The request is not valid \(invalid_request\)\n.*"hours" is not a known field.*\n {2}step is not a known field\nRequest ID: [\w-]+\n$/,
      );
      assert.equal(older.received[0]?.headers.prefer, 'handling=strict');
    } finally {
      await older.stop();
    }
  });

  it('draws counts as bars and shows times in large units', () => {
    assert.equal(sparkline([0, 1, 4, 8], 60), ' ▁▄█');
    assert.equal(sparkline([0, 0, 1, 3, 8, 0], 3), ' ▄█');
    assert.equal(sparkline([0, 0], 60), '  ');
    const times = [1, 119, 120, 7200, 172_801].map(duration);
    assert.deepEqual(times, ['1 second', '119 seconds', '2 minutes', '2 hours', '3 days']);
  });
});

/** Removes the wait before the next attempt, which is a random share of the longest wait. */
const retryAtOnce = (mock: MockTracker) => mock.method(Math, 'random', () => 0);

describe('a client command', () => {
  it('uses the demo key only on this machine, and says so', async () => {
    const { code, stderr } = await phm(['metrics'], { PHM_API_KEY: '' });
    assert.equal(code, 0);
    assert.equal(
      stderr,
      'note: PHM_API_KEY is not set: the public demo key of the Research plan is used\n',
    );
    const away = { PHM_API_KEY: '', PHM_URL: 'https://keys.example' };
    const refused = await phm(['metrics'], away);
    assert.equal(refused.code, 2);
    assert.match(refused.stderr, /^phm: there is no API key: set PHM_API_KEY_FILE to a file/);
  });

  it('reads the API key from a file', async () => {
    const env = { PHM_API_KEY: '', PHM_API_KEY_FILE: file(`${DEMO_KEY}\n`) };
    assert.deepEqual((await phm(['metrics'], env)).stderr, '');
    const missing = await phm(['metrics'], { ...env, PHM_API_KEY_FILE: inFolder('none') });
    assert.equal(missing.code, 2);
    assert.match(
      missing.stderr,
      /^phm: cannot read \/.*\/none, which PHM_API_KEY_FILE names: there is no such file\n$/,
    );
  });

  it('sends nothing from a file that holds no API key', async () => {
    const secret = '5e'.repeat(32);
    for (const content of [secret, `1:${secret}`, `${DEMO_KEY}\n${DEMO_KEY}`, `${DEMO_KEY}x`, '']) {
      const env = {
        PHM_API_KEY: '',
        PHM_API_KEY_FILE: file(`${content}\n`),
        PHM_URL: 'http://127.0.0.1:9',
      };
      const { code, stderr } = await phm(['metrics'], env);
      assert.equal(code, 2);
      assert.match(
        stderr,
        /^phm: PHM_API_KEY_FILE, .*input: the file holds no API key \(phmsk_…\); nothing was sent\n$/,
      );
      assert.ok(!stderr.includes(secret) && !stderr.includes(DEMO_KEY));
    }
  });

  it('names the origin of an API key that the service rejects', async () => {
    const { code, stderr } = await phm(['metrics'], { PHM_API_KEY: `${DEMO_KEY}x` });
    assert.equal(code, 1);
    assert.match(stderr, /^phm: The API key is not valid \(invalid_api_key\)\n/);
    assert.match(stderr, /\nThe API key came from PHM_API_KEY\.\n/);
    assert.ok(!stderr.includes(DEMO_KEY));
  });

  it('uses variables that other commands do not report as misspelt', async () => {
    const env = { PHM_DATA_DIR: join(dataDir, 'data'), PHM_PORT: '0' };
    const { code, stderr } = await phm(['account', 'list'], env);
    assert.deepEqual([code, stderr], [0, `Ledger: ${join(dataDir, 'data/phm.db')}\n`]);
  });

  it('says what to do if the service is unreachable', async ({ mock }) => {
    retryAtOnce(mock);
    const away = await ScriptedServer.start(staysSilent);
    await away.stop();
    const { code, stdout, stderr } = await phm(['generate'], { PHM_URL: away.address });
    assert.deepEqual([code, stdout], [1, '']);
    assert.equal(
      stderr,
      `phm: the service cannot be reached at ${away.address}/api/v2/generate (ECONNREFUSED)\n` +
        'Set another address with --url or PHM_URL, or start the server: phm serve\n',
    );
  });

  it("rejects an answer that is not the service's, without a verdict or a stack trace", async () => {
    const other = await ScriptedServer.start(answers({}));
    const env = { PHM_URL: other.address };
    const never = 'aa55'.repeat(8);
    try {
      for (const [args, expected, member] of [
        [['generate'], 1, 'security_level'],
        [['generate', '--json'], 1, 'security_level'],
        [['generate', '--output', inFolder('lost.key')], 1, 'security_level'],
        [['metrics'], 1, 'metrics'],
        [['metrics', '--json'], 1, 'metrics'],
        [['validate', '--file', file(never)], 2, 'valid'],
        [['validate', '--json', '--file', file(never)], 2, 'valid'],
      ] as const) {
        const { code, stdout, stderr } = await phm(args, env);
        assert.deepEqual([code, stdout], [expected, ''], args.join(' '));
        const lines = stderr.split('\n');
        assert.match(lines[0] ?? '', new RegExp(`/${member} is missing: check --url or PHM_URL, `));
        assert.doesNotMatch(stderr, /\n {4}at |TypeError|baseUrl/);
        assert.equal(
          /\nA key may have been generated and counted/.test(stderr),
          args[0] === 'generate',
        );
      }
      assert.equal(readdirSync(folder).includes('lost.key'), false);
    } finally {
      await other.stop();
    }
  });

  it('asks the server that the environment configures, and says which', async ({ mock }) => {
    retryAtOnce(mock);
    const asked: string[] = [];
    const cause = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
    mock.method(globalThis, 'fetch', (url: string | URL) => {
      asked.push(new URL(url).href);
      return Promise.reject(new TypeError('fetch failed', { cause }));
    });
    const env = { PHM_URL: '', PHM_PORT: '9', PHM_BASE_PATH: '/phm' };
    const lost = await phm(['metrics'], env);
    assert.match(
      lost.stderr,
      /^note: PHM_URL is not set: the server of PHM_PORT and PHM_BASE_PATH is asked, http:\/\/127\.0\.0\.1:9\/phm\n/,
    );
    assert.match(lost.stderr, /cannot be reached at http:\/\/127\.0\.0\.1:9\/phm\//);
    const given = await phm(['metrics', '--url', 'http://127.0.0.1:1'], env);
    assert.doesNotMatch(given.stderr, /PHM_PORT|:9/);
    const free = await phm(['metrics'], { PHM_URL: '', PHM_PORT: '0' });
    assert.deepEqual([free.code, free.stdout], [2, '']);
    assert.match(free.stderr, /PHM_PORT is 0, .*: set PHM_URL to the address that it printed/);
    const ports = new Set(asked.map((url) => new URL(url).port));
    assert.deepEqual([...ports], ['9', '1'], 'the default address is not asked');
  });

  it('names the key whose answer was lost', async ({ mock }) => {
    retryAtOnce(mock);
    const lossy = await ScriptedServer.start(
      breaks,
      fails('key_already_made', {}, { key_id: 'phm_7' }),
    );
    const path = inFolder('seventh.key');
    const args = ['generate', '--output', path];
    const { code, stderr } = await phm(args, { PHM_URL: lossy.address });
    await lossy.stop();
    assert.deepEqual([code, existsSync(path)], [1, false]);
    assert.match(
      stderr,
      /^phm: the answer with the key phm_7 was lost: it was generated and counted/,
    );
  });

  it('says that a key may have been generated if no answer comes', async ({ mock }) => {
    retryAtOnce(mock);
    const redirect = page(302, { location: '/' });
    for (const [steps, words] of [
      [[breaks], /the connection to \S+ failed.*\nIf the server has a certificate, .* https:/],
      [[page(502)], /status 502/],
      // The first request may have generated a key.
      [
        [breaks, redirect],
        /not followed: set --url or PHM_URL to the address of the service itself/,
      ],
    ] as const) {
      const proxy = await ScriptedServer.start(...steps);
      const { code, stdout, stderr } = await phm(['generate'], { PHM_URL: proxy.address });
      await proxy.stop();
      assert.deepEqual([code, stdout], [1, '']);
      assert.match(stderr, words);
      assert.match(
        stderr,
        /\nA key may have been generated and counted, but you did not get it\. .*\n$/,
      );
    }
    const proxy = await ScriptedServer.start(redirect);
    const { stderr } = await phm(['generate'], { PHM_URL: proxy.address });
    await proxy.stop();
    assert.doesNotMatch(stderr, /A key may have been generated/);
  });
});
