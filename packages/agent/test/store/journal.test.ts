/** The journal remembers what was handed out, whatever part of its last write is lost. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { type Handed, Journal, JournalError, type JournalFile } from '../../src/store/journal.ts';
import { DirectoryJournal } from '../../src/store/journal-file.ts';
import { newFolder } from '../support/folders.ts';

const HOUR_MS = 3_600_000;

const one = (id: string, reader = 'master a', isLast = true): Handed => ({
  id,
  reader,
  isLast,
  expiresAtMs: 1_000,
});

class Memory implements JournalFile {
  content = '';
  readonly writes: string[] = [];
  release: (() => void) | null = null;

  async read(): Promise<string> {
    return this.content;
  }

  async append(text: string): Promise<void> {
    this.writes.push(text);
    await new Promise<void>((resolve) => {
      this.release = resolve;
    });
    this.content += text;
  }

  async replace(text: string): Promise<void> {
    this.content = text;
  }
}

describe('the journal', () => {
  it('has what was recorded after a restart, by ID and reader', async () => {
    const file = new DirectoryJournal(newFolder());
    const journal = await Journal.open(file);
    await journal.record([one('x', 'master a', false)]);
    await journal.record([one('x', 'slave b'), one('y', 'slave "b"\n')]);
    await file.close();
    const again = await Journal.open(file);
    assert.ok(again.has('x', 'master a') && again.has('x', 'slave b'));
    assert.ok(again.has('y', 'slave "b"\n'));
    assert.ok(!again.has('y', 'master a') && !again.has('z', 'master a'));
    assert.ok(again.isDone('x'));
    assert.equal(again.size, 2);
  });

  it('takes what comes during a sync in one group, and answers nobody before the sync of its group', async () => {
    const file = new Memory();
    const journal = await Journal.open(file);
    await journal.record([one('first')]);
    const answered: string[] = [];
    const record = (id: string) => journal.record([one(id)]).then(() => answered.push(id));
    const all = [record('a'), record('b'), record('c')];
    await new Promise(setImmediate);
    assert.equal(file.writes.length, 1);
    assert.deepEqual(answered, []);
    file.release?.();
    await all[0];
    await new Promise(setImmediate);
    assert.deepEqual(answered, ['a']);
    assert.equal(file.writes.length, 2);
    file.release?.();
    await Promise.all(all);
    assert.deepEqual(answered, ['a', 'b', 'c']);
  });

  it('forgets a torn end, at each of its bytes', async () => {
    const file = new Memory();
    const journal = await Journal.open(file);
    await journal.record([one('kept')]);
    const { length } = file.content;
    void journal.record([one('torn'), one('torn too')]);
    await new Promise(setImmediate);
    file.release?.();
    await journal.settled();
    const whole = file.content;
    // Only its line end missing, the group counts.
    for (let i = length; i < whole.length - 1; i += 1) {
      file.content = whole.slice(0, i);
      const again = await Journal.open(file);
      assert.deepEqual(
        [again.has('kept', 'master a'), again.has('torn', 'master a')],
        [true, false],
      );
      await again.record([one('next')]);
      const last = await Journal.open(file);
      assert.equal(last.size, 2, `cut at ${i}`);
    }
  });

  it('refuses damage before its end, at each of its bytes', async () => {
    const file = new Memory();
    const journal = await Journal.open(file);
    await journal.record([one('first')]);
    void journal.record([one('second')]);
    await new Promise(setImmediate);
    file.release?.();
    await journal.settled();
    const end = file.content.indexOf('\n');
    for (let i = 0; i < end; i += 1) {
      const bytes = Buffer.from(file.content);
      bytes[i] = (bytes[i] ?? 0) ^ 1;
      const damaged = new Memory();
      damaged.content = bytes.toString('latin1');
      await assert.rejects(Journal.open(damaged), JournalError, `byte ${i}`);
    }
  });

  it('holds no bytes but IDs and names', async () => {
    const folder = newFolder();
    const file = new DirectoryJournal(folder);
    const journal = await Journal.open(file);
    const key = new Uint8Array(32).fill(7);
    await journal.record([{ ...one('x'), key } as Handed]);
    await journal.record([{ ...one('y'), key } as Handed]);
    await file.close();
    assert.deepEqual(
      readFileSync(join(folder, 'journal'), 'utf8')
        .split('\n')
        .map((line) => line.slice(17)),
      ['[["x","master a",true,1000]]', '[["y","master a",true,1000]]', ''],
    );
  });

  it('keeps records for an hour after the end of their keys, and longer if their copies are not removed', async () => {
    const journal = await Journal.open(new Memory());
    await journal.record([one('x'), one('y')]);
    journal.prune(1_000 + HOUR_MS - 1, () => false);
    assert.equal(journal.size, 2);
    journal.prune(1_000 + HOUR_MS, (id) => id === 'y');
    assert.ok(!journal.has('x', 'master a') && journal.has('y', 'master a'));
  });

  it('is written anew when most of it is forgotten', async () => {
    const folder = newFolder();
    const file = new DirectoryJournal(folder);
    const journal = await Journal.open(file);
    const many = Array.from({ length: 10_001 }, (_, i) => one(`key ${i}`));
    await journal.record(many);
    journal.prune(HOUR_MS * 2, () => false);
    await journal.record([one('last')]);
    assert.equal(readFileSync(join(folder, 'journal'), 'utf8').split('\n').length, 2);
    await file.close();
  });

  it('keeps what it records after a write that failed in part', async () => {
    const file = new Memory();
    const journal = await Journal.open(file);
    await journal.record([one('first')]);
    const append = file.append.bind(file);
    file.append = async (text) => {
      file.content += text.slice(0, 20);
      throw new Error('ENOSPC: no space left on device, write');
    };
    await assert.rejects(journal.record([one('failed')]), JournalError);
    file.append = append;
    await journal.record([one('next')]);
    const again = await Journal.open(file);
    assert.ok(again.has('first', 'master a') && again.has('next', 'master a'));
  });

  it('refuses a file of something else', async () => {
    const folder = newFolder();
    writeFileSync(join(folder, 'journal'), 'two\nlines\n');
    await assert.rejects(Journal.open(new DirectoryJournal(folder)), JournalError);
  });
});
