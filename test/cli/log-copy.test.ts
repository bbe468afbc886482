/** A copy of a log in a folder, and `phm log copy`, which makes one of a database: what an earlier copy covers stays. */
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { formatEntries } from '#tlog';
import { LogCopy } from '../../src/cli/log/copy.ts';
import { Findings } from '../../src/ledger/admin.ts';
import { LogLedger } from '../support/ledgers/log-ledger.ts';
import { ORIGIN } from '../support/ledgers/log-writer.ts';

const entries = (count: number, fill: number) =>
  Array.from({ length: count }, () => Buffer.alloc(32, fill));

describe('a copy of a log', () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'phm-copy-'));
    const copy = new LogCopy(folder, 0, new Findings());
    copy.keepEntries(0, entries(3, 1));
    copy.finish('checkpoint', 'policy');
  });
  after(() => rmSync(folder, { recursive: true }));

  const partial = () => readFileSync(join(folder, 'tile/entries/000.p/3'));

  it('keeps a partial bundle that the earlier checkpoint covers', () => {
    const findings = new Findings();
    new LogCopy(folder, 3, findings).keepEntries(0, entries(3, 2));
    assert.deepEqual(partial(), Buffer.from(formatEntries(entries(3, 1))));
    assert.equal(findings.list.length, 1);
  });

  it('keeps a partial bundle beside the full one until it is finished', () => {
    const copy = new LogCopy(folder, 3, new Findings());
    copy.keepEntries(0, entries(256, 2));
    assert.deepEqual(partial(), Buffer.from(formatEntries(entries(3, 1))));
    copy.finish('checkpoint', 'policy');
    assert.deepEqual(readdirSync(join(folder, 'tile/entries')), ['000']);
  });
});

/** Returns the content of each file below a folder. */
function filesOf(folder: string): Record<string, string> {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();
  const files = names.filter((name) => statSync(join(folder, name)).isFile());
  return Object.fromEntries(
    files.map((name) => [name, readFileSync(join(folder, name)).toString('hex')]),
  );
}

describe('phm log copy', () => {
  let ledger: LogLedger;
  let folder: string;
  beforeEach(async () => {
    ledger = await LogLedger.create();
    folder = join(ledger.folder, 'copy');
    await grow();
    assert.equal(await copied(), 4);
  });
  afterEach(() => ledger.remove());

  /** Adds three keys to the published log. */
  async function grow(): Promise<void> {
    await ledger.addKeys(3);
    await ledger.publish();
  }

  /** Copies the log and checks the copy. Returns its size. */
  async function copied(): Promise<number> {
    const { code, stdout, stderr } = await ledger.run('log', 'copy', folder, '--json');
    assert.equal(code, 0, stderr);
    const { origin, size, ...rest } = JSON.parse(stdout);
    assert.deepEqual(rest, { folder });
    const [name, entries] = readFileSync(join(folder, 'checkpoint'), 'utf8').split('\n');
    assert.deepEqual([origin, size], [name, Number(entries)]);
    const checked = await ledger.run('log', 'check', folder);
    assert.equal(checked.code, 0, checked.stderr);
    return size;
  }

  it('copies the log and says so, and continues an earlier copy', async () => {
    await grow();
    const { code, stderr } = await ledger.run('log', 'copy', folder);
    assert.equal(code, 0, stderr);
    assert.ok(stderr.endsWith(`Copied 7 entries of the log ${ORIGIN} to ${folder}.\n`), stderr);
    assert.equal(await copied(), 7);
  });

  for (const [change, isLonger] of [
    ['changed', false],
    ['changed and continued', true],
  ] as const) {
    it(`leaves an earlier copy as it is if an entry was ${change}`, async () => {
      if (isLonger) await grow();
      const earlier = filesOf(folder);
      const { logId, size } = await ledger.openLog();
      const entry = await ledger.store.readEntries(logId, 1, 2);
      const write = (bytes: Uint8Array) =>
        ledger.execute('UPDATE log_entries SET entry = ? WHERE entry_index = 1', bytes);
      write(Buffer.alloc(32, 0x5a));
      const { code, stderr } = await ledger.run('log', 'copy', folder);
      write(entry);
      assert.equal(code, 1, stderr);
      assert.match(stderr, /^the entries of the database do not have the root of a checkpoint: /m);
      assert.match(stderr, /^phm: the copy was not completed$/m);
      const later = filesOf(folder);
      for (const [name, content] of Object.entries(earlier)) assert.equal(later[name], content);
      assert.equal(await copied(), size);
    });
  }

  it('refuses a folder with a larger copy', async () => {
    ledger.backUp();
    await grow();
    assert.equal(await copied(), 7);
    ledger = await ledger.restore();
    ledger.restoreState();
    const earlier = filesOf(folder);
    const { code, stderr } = await ledger.run('log', 'copy', folder);
    assert.equal(code, 1, stderr);
    assert.match(stderr, /has 7 entries already, and this database 4: name another folder$/m);
    assert.deepEqual(filesOf(folder), earlier);
  });
});
