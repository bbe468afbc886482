/** A copy that is not finished leaves what the earlier copy covers. */
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { formatEntries } from '#tlog';
import { LogCopy } from '../../src/cli/log/copy.ts';
import { Findings } from '../../src/ledger/admin.ts';

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
