/** A log from outside and a copy of it: changed files, other trees, and checkpoints that do not fit. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, afterEach, before, describe, it } from 'node:test';
import {
  ED25519_COSIGNATURE,
  formatVerifierKey,
  keyIdMessage,
  parseCheckpoint,
  parseNote,
  readKeyId,
} from '#tlog';
import {
  checkCopy,
  checkPublished,
  type EarlierCheckpoint,
  type LogSource,
  storeSource,
  type TreeCopy,
  trustEarlier,
  trustNewest,
  verifyAudits,
} from '../../src/inspection/index.ts';
import { Findings } from '../../src/ledger/admin.ts';
import {
  newLogKeysText,
  openPolicy,
  parseLogKeys,
  policyText,
  signCheckpoint,
} from '../../src/log/index.ts';
import { NOW } from '../ledger/contract.ts';
import { ORIGIN } from '../support/ledgers/log-writer.ts';
import { assertFound, LoggedStore, linesOf } from './logged-store.ts';
import { KEYS, UNKNOWN } from './tamperings.ts';

const SIZE = KEYS + 1;

let logged: LoggedStore;
let source: LogSource;
/** The newest checkpoint, and one that is older. */
let note: string;
let older: string;

before(async () => {
  logged = await LoggedStore.sqlite();
  await logged.begin();
  await logged.addKeys(9, NOW);
  older = await logged.publish();
  await logged.addKeys(KEYS - 9, NOW);
  note = await logged.publish();
  source = storeSource(logged.store, await logged.openLog());
  await logged.save();
});
after(() => logged.remove());

const policy = (quorum = 'quorum none') => {
  const { verifierKeys } = logged.keys;
  const text = policyText({ origin: ORIGIN, verifierKeys });
  return openPolicy(text.replace('quorum none', quorum));
};

/** Returns a source whose tile or bundle is changed; null: it is missing. */
function changed(
  part: 'entries' | 'tile',
  path: string,
  change: ((bytes: Buffer) => Buffer) | null,
): LogSource {
  const apply = (bytes: Uint8Array) => change?.(Buffer.from(bytes)) ?? null;
  return {
    async tile(level, index, width) {
      const hashes = await source.tile(level, index, width);
      return part === 'tile' && path === `${level}/${index}` ? hashes && apply(hashes) : hashes;
    },
    async entries(index, width) {
      const entries = await source.entries(index, width);
      if (part === 'tile' || path !== String(index) || !entries) return entries;
      const first = apply(entries[0] as Uint8Array);
      return first && [first, ...entries.slice(1)];
    },
  };
}

function flipped(bytes: Buffer): Buffer {
  bytes[0] = (bytes[0] ?? 0) ^ 1;
  return bytes;
}

/** Returns a source with what the log holds now. */
async function kept(): Promise<LogSource> {
  const rest = SIZE - 256;
  const bundles = [await source.entries(0, 256), await source.entries(1, rest)];
  const tiles = [await source.tile(0, 0, 256), await source.tile(0, 1, rest)];
  const top = await source.tile(1, 0, 1);
  return {
    entries: async (index) => bundles[index] ?? null,
    tile: async (level, index) => (level === 0 ? (tiles[index] ?? null) : top),
  };
}

interface Check {
  readonly of?: LogSource;
  readonly newest?: string;
  readonly earlier?: readonly EarlierCheckpoint[];
  readonly copy?: TreeCopy;
}

async function check({ of = source, newest = note, earlier = [], copy }: Check): Promise<string[]> {
  const findings = new Findings();
  await checkPublished({
    source: of,
    trusted: trustNewest('here', newest, policy()),
    earlier,
    findings,
    copy: copy ?? null,
    signal: new AbortController().signal,
    onProgress: () => {},
  });
  return linesOf(findings.list);
}

describe('a log from outside', () => {
  it('has no finding, and contains what was seen of it', async () => {
    const earlier = [older, note].map((one) => trustEarlier('seen', one, policy()));
    assert.deepEqual(await check({ earlier }), []);
  });

  it('gives its tiles and entries to a copy', async () => {
    const kept: string[] = [];
    await check({
      copy: {
        keepEntries: (index, entries) => kept.push(`entries ${index}: ${entries.length}`),
        keepTile: (level, index, hashes) => kept.push(`${level}/${index}: ${hashes.length / 32}`),
      },
    });
    assert.deepEqual(kept, [
      'entries 0: 256',
      '0/0: 256',
      `entries 1: ${SIZE - 256}`,
      `0/1: ${SIZE - 256}`,
      '1/0: 1',
    ]);
  });

  const TILE = 'tiles of the log do not match its entries';
  const ROOT = `the root of the entries is not that of the checkpoint: ${SIZE} entries with root …`;
  for (const [name, of, expected] of [
    [
      'a changed entry',
      () => changed('entries', '0', flipped),
      ['entries of the log do not match their tile: entry 0', ROOT, `${TILE}: tile/1/000.p/1`],
    ],
    [
      'a missing bundle',
      () => changed('entries', '1', null),
      ['entries of the log cannot be read: entry 256 and those after it'],
    ],
    [
      'a changed tile',
      () => changed('tile', '0/0', flipped),
      ['entries of the log do not match their tile: entry 0'],
    ],
    ['a missing tile', () => changed('tile', '0/1', null), [`${TILE}: tile/0/001.p/5`]],
    [
      'a changed tile of a higher level',
      () => changed('tile', '1/0', flipped),
      [`${TILE}: tile/1/000.p/1`],
    ],
  ] as const) {
    it(`is found with ${name}`, async () => {
      assertFound(await check({ of: of() }), expected);
    });
  }

  it('is found if it signed another tree than it serves', async () => {
    const newest = signCheckpoint(logged.keys, { size: SIZE, root: UNKNOWN }, 1);
    assertFound(await check({ newest }), [ROOT]);
  });

  it('is found if it went back, and if it was rewritten', async () => {
    const earlier = [trustEarlier('seen', note, policy())];
    assertFound(await check({ newest: older, earlier }), [
      `the log is smaller than before: ${SIZE} entries with root …`,
    ]);
    const fork = signCheckpoint(logged.keys, { size: 10, root: UNKNOWN }, 1);
    assertFound(await check({ earlier: [trustEarlier('seen', fork, policy())] }), [
      'the log does not contain an earlier checkpoint: 10 entries with root …',
    ]);
  });
});

describe('the checkpoint of a log', () => {
  it('is trusted with the key of the policy that signed', () => {
    assert.deepEqual(trustNewest('here', note, policy()).signedWith, ['ML-DSA-44']);
    assert.deepEqual(trustNewest('here', note, policy()).witnesses, []);
  });

  it('is refused if it was changed, cut or signed by others', () => {
    const strangers = parseLogKeys(newLogKeysText(ORIGIN));
    for (const [text, expected] of [
      [
        note.replace(`\n${SIZE}\n`, `\n${SIZE - 1}\n`),
        /^the checkpoint of here: the signature .* is wrong$/,
      ],
      [
        note.slice(0, -40),
        /^the checkpoint of here: the last signature line needs a final newline$/,
      ],
      [
        signCheckpoint(strangers, { size: 1, root: UNKNOWN }, 1),
        /^the checkpoint of here: no known key of keys\.example\/log has signed/,
      ],
      [
        note.replaceAll(ORIGIN, 'other.example/log'),
        /^here has the log other\.example\/log, but the policy lists keys\.example\/log\. After a rotation, /,
      ],
    ] as const) {
      assert.throws(() => trustNewest('here', text, policy()), {
        name: 'SetupError',
        message: expected,
      });
    }
  });

  it('is refused without the witnesses of the policy, unless it was seen earlier', () => {
    const [name, type, publicKey] = ['witness.example', ED25519_COSIGNATURE, Buffer.alloc(32, 3)];
    const digest = createHash('sha256')
      .update(keyIdMessage(name, type, publicKey))
      .digest();
    const witness = formatVerifierKey({ name, type, publicKey, keyId: readKeyId(digest) });
    const strict = policy(`witness w ${witness}\nquorum w`);
    assert.throws(() => trustNewest('here', note, strict), {
      name: 'SetupError',
      message: /the policy's quorum w of witnesses is not met: cosigned by none$/,
    });
    assert.equal(trustEarlier('seen', note, strict).trusted.checkpoint.size, SIZE);
  });
});

describe('a copy that gives back what a database lost', () => {
  afterEach(() => logged.restore());

  const headOf = (text: string) => parseCheckpoint(parseNote(text).text);

  /** Compares the copy with the database, which has 10 entries if nothing else is said. */
  async function compare(
    state: string | null,
    { of = source, database = older, copied = note } = {},
  ): Promise<{ found: string[]; lost: readonly Uint8Array[] }> {
    const log = { ...(await logged.openLog()), ...headOf(database) };
    const { findings, lost } = await checkCopy({
      ...{ store: logged.store, log, source: of, copied: headOf(copied) },
      state: state === null ? null : headOf(state),
      signal: new AbortController().signal,
      onProgress: () => {},
    });
    return { found: linesOf(findings.list), lost };
  }

  it('has the entries behind the end of the database', async () => {
    const { found, lost } = await compare(note);
    assert.deepEqual(found, []);
    const entries = await logged.store.readEntries(1, 10, SIZE);
    assert.deepEqual(Buffer.concat(lost), Buffer.from(entries));
  });

  it('is found if it differs from its checkpoint, the database or the state file', async () => {
    const { found } = await compare(note, { of: changed('entries', '0', flipped) });
    assertFound(found, [
      'entries of the log do not match their tile: entry 0',
      'the database and the copy disagree: 10 entries with root …',
      `the entries of the copy do not have the root of its checkpoint: ${SIZE} entries with root …`,
      `the checkpoint in the state file belongs to another tree: ${SIZE} entries with root …`,
      'tiles of the log do not match its entries: tile/1/000.p/1',
    ]);
    const fork = signCheckpoint(logged.keys, { size: 20, root: UNKNOWN }, 1);
    assertFound((await compare(fork)).found, [
      'the checkpoint in the state file belongs to another tree: 20 entries with root …',
    ]);
  });

  it('is found if it ends earlier, and the database has another tree, or lacks that of the state file', async () => {
    const fork = (size: number) => signCheckpoint(logged.keys, { size, root: UNKNOWN }, 1);
    const longer = { database: note };
    assertFound((await compare(null, { ...longer, copied: fork(10) })).found, [
      'the entries of the copy do not have the root of its checkpoint: 10 entries with root …',
      `the database and the copy disagree: ${SIZE} entries with root …`,
    ]);
    assertFound((await compare(fork(20), { ...longer, copied: older })).found, [
      'the checkpoint in the state file belongs to another tree: 20 entries with root …',
    ]);
    assert.deepEqual((await compare(note, { ...longer, copied: older })).found, []);
  });

  it('is not used for a database whose tiles do not have its root', async () => {
    const of = await kept();
    await logged.execute('UPDATE log_entries SET entry = ? WHERE entry_index = 3', UNKNOWN);
    const { found } = await compare(null, { of });
    assertFound(found, ['the tiles in the database do not have its root: 10 entries with root …']);
  });
});

describe('audit records', () => {
  afterEach(() => logged.restore());

  const verify = async () => {
    const { findings, ...counts } = await verifyAudits(logged.store);
    return { lines: linesOf(findings.list), counts };
  };

  it('are proved by the newest checkpoint', async () => {
    assert.deepEqual(await verify(), { lines: [], counts: { verified: 1, waiting: 0, older: 0 } });
  });

  it('are found if they were changed or inserted; older ones are counted', async () => {
    await logged.execute("UPDATE audit SET details = '{}'");
    for (const [id, atMs] of [
      [1, NOW],
      [2, 1],
    ] as const) {
      await logged.execute(
        "INSERT INTO audit (audit_id, at_ms, action, details, salt) VALUES (?, ?, 'plan_set', '{}', ?)",
        ...[Buffer.alloc(16, id), atMs, UNKNOWN],
      );
    }
    const { lines, counts } = await verify();
    assertFound(lines, [
      'records without an entry in the log: plan_set …',
      'records that differ from their entry in the log: log_started …',
    ]);
    assert.deepEqual(counts, { verified: 0, waiting: 0, older: 1 });
  });

  it('prove nothing under a checkpoint that is none', async () => {
    await logged.execute("UPDATE log_checkpoints SET note = '?'");
    await assert.rejects(verifyAudits(logged.store), {
      name: 'SetupError',
      message:
        /^the stored checkpoint of the log keys\.example\/log was changed: .* phm log check$/,
    });
  });
});
