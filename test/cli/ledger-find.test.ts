/** `phm ledger find`: names the owners of keys from the log, on a ledger without a server. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { formatKeyId, parseKeyId } from '../../src/keys/key-id.ts';
import { openSqliteStore } from '../../src/ledger/index.ts';
import { toRowSeal } from '../../src/ledger/row-seals.ts';
import { keyRequest, makeKeyId, makeRow, NOW } from '../ledger/contract.ts';
import { runCommand } from '../support/servers/run-command.ts';
import { MAIN, makeDataDir, removeDataDir } from '../support/servers/server.ts';

const dataDir = makeDataDir();
const env = { PHM_DATA_DIR: dataDir, PHM_PORT: '0' };

const phm = (...args: string[]) => runCommand(args, env);

// More rows than fit in one query of the command, from two accounts alternately.
const OWNERS = ['acct_a', 'acct_b'];
const RECIPIENT = Buffer.alloc(32, 7);
const SECOND = Buffer.alloc(32, 9);
const SEAL = toRowSeal([
  { recipient: RECIPIENT, digest: Buffer.alloc(32, 8) },
  { recipient: SECOND, digest: Buffer.alloc(32, 8) },
]);
const ROWS = Array.from({ length: 1_003 }, (_, i) =>
  makeRow({
    keyId: makeKeyId(NOW + i),
    createdMs: NOW + i,
    ...(i === 1 && { sealed: SEAL }),
  }),
);
const KEY_IDS = ROWS.map(({ keyId }) => formatKeyId(keyId));

before(async () => {
  await phm('account', 'create', '--init', '--name', 'Ada', '--plan', 'research');
  const store = openSqliteStore({
    path: join(dataDir, 'phm.db'),
    quotas: { research: 100, enterprise: null },
  });
  for (const accountId of OWNERS) {
    const account = { accountId, name: `name of ${accountId}`, plan: 'enterprise' };
    await store.addAccount({ ...account, demo: false, createdMs: NOW });
  }
  const requests = ROWS.map((row, i) => keyRequest(OWNERS[i % 2] as string, row));
  await store.commit(requests, []);
  await store.close();
});
after(() => removeDataDir(dataDir));

describe('a key ID', () => {
  it('is parsed as it is written, and any other text is rejected', () => {
    const [smallest, largest] = [Buffer.alloc(16), Buffer.alloc(16, 0xff)];
    smallest[15] = 1;
    for (const keyId of [smallest, largest, makeKeyId()]) {
      assert.deepEqual(parseKeyId(formatKeyId(keyId)), Buffer.from(keyId));
    }
    const beyond = `phm_${2n ** 128n}`;
    for (const text of ['', 'phm_', 'phm_0', 'phm_01', 'phm_-1', 'phm_1x', ' phm_1', '1', beyond]) {
      assert.equal(parseKeyId(text), undefined, text);
    }
  });
});

describe('phm ledger find', () => {
  it('names the owner of each key of a list, also if that takes several queries', async () => {
    const file = join(dataDir, 'ids');
    writeFileSync(file, JSON.stringify(KEY_IDS));
    const { code, stdout } = await phm('ledger', 'find', '--file', file, '--json');
    assert.equal(code, 0);
    const { keys, unknown } = JSON.parse(stdout);
    assert.deepEqual(
      keys.map((key: Record<string, unknown>) => [key.key_id, key.account_id]),
      KEY_IDS.map((keyId, i) => [keyId, OWNERS[i % 2]]),
    );
    assert.deepEqual(unknown, []);
    assert.deepEqual(keys[0], {
      key_id: KEY_IDS[0],
      account_id: 'acct_a',
      account_name: 'name of acct_a',
      api_key_id: 'key_acct_a',
      created_at: '2026-11-21T12:34:56.789+00:00',
      security_level: 256,
      modulation_type: 'phase',
      validated: false,
      sealed_to: null,
      recipients: [],
    });
    const [first, second] = [RECIPIENT, SECOND].map((one) => one.toString('base64'));
    assert.equal(keys[1].sealed_to, first);
    assert.deepEqual(keys[1].recipients, [first, second]);
  });

  it('lists keys by account, each once, and IDs without a row', async () => {
    const lost = formatKeyId(makeKeyId());
    const asked = [KEY_IDS[0], lost, KEY_IDS[1], KEY_IDS[2], KEY_IDS[0]] as string[];
    const { code, stdout, stderr } = await phm('ledger', 'find', ...asked);
    assert.equal(code, 0);
    const [heading, ...lines] = stdout.trimEnd().split('\n');
    assert.match(
      heading as string,
      /^KEY ID +ACCOUNT +NAME +API KEY +CREATED +LEVEL +MODULATION +VALIDATED +SEALED TO$/,
    );
    assert.deepEqual(
      lines.map((line) => line.split(/ {2,}/).slice(0, 2)),
      [
        [KEY_IDS[0], 'acct_a'],
        [KEY_IDS[2], 'acct_a'],
        [KEY_IDS[1], 'acct_b'],
        [lost, 'unknown'],
      ],
    );
    const recipients = [RECIPIENT, SECOND].map((one) => one.toString('base64')).join(',');
    assert.ok(lines[2]?.endsWith(`  no         ${recipients}`));
    assert.ok(stderr.endsWith('Found 3 keys of 2 accounts. Without a row: 1.\n'), stderr);
  });

  it('reads standard input', () => {
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [MAIN, 'ledger', 'find', '-', '--json'],
      { env: { PATH: process.env.PATH, ...env }, input: `${KEY_IDS[5]}\n`, encoding: 'utf8' },
    );
    assert.equal(status, 0, stderr);
    assert.deepEqual(
      JSON.parse(stdout).keys.map((key: Record<string, unknown>) => key.key_id),
      [KEY_IDS[5]],
    );
  });

  it('rejects an empty list, an invalid ID and too many IDs', async () => {
    const [empty, large] = [join(dataDir, 'empty'), join(dataDir, 'large')];
    writeFileSync(empty, '[]\n');
    writeFileSync(large, Array.from({ length: 100_001 }, (_, i) => `phm_${i + 1}`).join('\n'));
    for (const [args, words] of [
      [[], /give exactly one of: key IDs, - for standard input, --file FILE$/m],
      [['phm_1', '-'], /give exactly one of: /],
      [['phm_1', '--file', empty], /give exactly one of: /],
      [['--file', join(dataDir, 'none')], /cannot be read: .*none: there is no such file$/m],
      [['--file', dataDir], /cannot be read: .*: it is a directory$/m],
      [['--file', empty], /the input contains no key IDs$/m],
      [
        ['phm_1', 'bb75'.repeat(16)],
        /word 2 of 2 is not a key ID: a key ID is phm_ and a number$/m,
      ],
      [['--file', large], /give at most 100000 key IDs at a time$/m],
    ] as const) {
      const { code, stdout, stderr } = await phm('ledger', 'find', ...args);
      assert.deepEqual([code, stdout], [2, ''], args.join(' '));
      assert.match(stderr, words);
      assert.doesNotMatch(stderr, /bb75bb75/);
    }
  });
});
