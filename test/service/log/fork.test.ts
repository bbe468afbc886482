/** Two copies of one server sign different trees. What each sees of the other is signed with its own keys, and stops it. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { newLogKeysText, parseLogKeys, rootAt, signCheckpoint } from '../../../src/log/index.ts';
import { LogStopped } from '../../../src/service/log/stopped.ts';
import { StoredTiles } from '../../../src/service/log/tile-source.ts';
import { FakeFile, FakeShownFile, KEYS, newStore, ORIGIN, startServer } from './fake-server.ts';
import type { FakeLogStore } from './fake-store.ts';

/** One server with three entries, and a copy of its database and its state file. */
async function copies() {
  const [store, file] = [newStore(), new FakeFile()];
  for (let i = 0; i < 3; i++) store.add();
  await startServer(store, file).sequencer.turn();
  const otherStore = newStore();
  otherStore.restore(store.backup());
  const otherFile = new FakeFile();
  otherFile.text = file.text;
  const other = startServer(otherStore, otherFile);
  return { store, file, other, otherStore, otherFile };
}

/** Has a server take entries of its own, and returns its checkpoint. */
async function grow(
  server: ReturnType<typeof startServer>,
  store: FakeLogStore,
  entries: number,
): Promise<string> {
  for (let i = 0; i < entries; i++) store.add();
  return (await server.sequencer.turn()).head.note;
}

const stops = (halt: 'forked' | null, said: RegExp) => (error: unknown) => {
  assert.ok(error instanceof LogStopped, String(error));
  assert.match(error.message, said);
  assert.equal(error.halt, halt);
  return true;
};
const FORKED = stops('forked', /has forked: its keys have signed a checkpoint of \d entries that/);

describe('a checkpoint of this log that others show', () => {
  for (const [entries, what] of [
    [1, 'a smaller tree'],
    [2, 'a tree of the same size'],
  ] as const) {
    it(`halts the log if it contradicts it with ${what}, also after a restart`, async () => {
      const { store, file, other, otherStore } = await copies();
      const shownFile = new FakeShownFile();
      const server = startServer(store, file, [], { shownFile });
      const shown = await grow(other, otherStore, entries);
      await grow(server, store, 2);
      await assert.rejects(server.publisher.examine(shown), FORKED);
      await assert.rejects(server.publisher.admit(), FORKED);
      assert.equal(shownFile.text, shown, 'the evidence is kept');
      const served: string[] = [];
      const again = startServer(store, file, served, { shownFile });
      store.add();
      await assert.rejects(again.sequencer.turn(), FORKED);
      assert.deepEqual(served, []);
    });
  }

  it('stops the log while the database has fewer entries, and no longer', async () => {
    const { store, file, other, otherStore } = await copies();
    const shownFile = new FakeShownFile();
    const server = startServer(store, file, [], { shownFile });
    const shown = await grow(other, otherStore, 2);
    const ahead = stops(null, /signed a checkpoint of 5 entries, but the database has 3/);
    await assert.rejects(server.publisher.examine(shown), ahead);
    store.add();
    await assert.rejects(server.sequencer.turn(), ahead);
    store.restore(otherStore.backup());
    assert.equal((await server.sequencer.turn()).head.size, 5);
    assert.equal(shownFile.text, null);
  });

  it('counts for nothing unless the keys of this log have signed it', async () => {
    const { store, file } = await copies();
    const served: string[] = [];
    const shownFile = new FakeShownFile();
    const server = startServer(store, file, served, { shownFile });
    await grow(server, store, 1);
    const foreign = parseLogKeys(newLogKeysText(ORIGIN));
    const head = { size: 3, root: Buffer.alloc(32, 7) };
    const signed = signCheckpoint(KEYS, head, 1_800_000_000);
    const renamed = parseLogKeys(newLogKeysText('other.example/log'));
    for (const note of [
      signCheckpoint(foreign, head, 1_800_000_000),
      signCheckpoint(renamed, head, 1_800_000_000),
      signed.replace(/^— .*\n/gm, ''),
      signed.replace('\n3\n', '\n4\n'),
      'nonsense',
      '',
      await rootAt(new StoredTiles(store, 1), 2).then((root) =>
        signCheckpoint(KEYS, { size: 2, root }, 1_800_000_000),
      ),
    ]) {
      await server.publisher.examine(note);
    }
    assert.equal((await grow(server, store, 1)).split('\n')[1], '5');
    assert.deepEqual([served.length, shownFile.text], [3, null]);
  });

  it('keeps a server from its first signature', async () => {
    const { store, file, other, otherStore } = await copies();
    const shown = await grow(other, otherStore, 1);
    const served: string[] = [];
    const { writes } = file;
    const server = startServer(store, file, served, { askWitnesses: async () => [shown] });
    store.add();
    await assert.rejects(server.sequencer.turn(), stops(null, /of 4 entries, but the database/));
    assert.deepEqual([served, file.writes], [[], writes]);
  });

  it('halts the log although it cannot be kept', async () => {
    const { store, file, other, otherStore } = await copies();
    const shownFile = new FakeShownFile();
    shownFile.onWrite = () => assert.fail('ENOSPC');
    const server = startServer(store, file, [], { shownFile });
    const shown = await grow(other, otherStore, 1);
    await grow(server, store, 1);
    await assert.rejects(server.publisher.examine(shown), FORKED);
    await assert.rejects(server.publisher.admit(), stops('forked', /could not be written to/));
  });

  it('halts the log if another server of the database published it', async () => {
    const { store, file, other, otherStore } = await copies();
    const server = startServer(store, file);
    await grow(server, store, 1);
    await store.saveCheckpoint(1, 4, await grow(other, otherStore, 1), 'checkpoint');
    await assert.rejects(server.publisher.admit(), FORKED);
  });

  it('halts the log if the state file shows it, and the database a signed one that contradicts it', async () => {
    const { store, file, other, otherStore, otherFile } = await copies();
    await grow(startServer(store, file), store, 1);
    await grow(other, otherStore, 1);
    const moved = startServer(store, otherFile);
    await assert.rejects(
      moved.publisher.admit(),
      stops('forked', /does not continue the published/),
    );
  });
});
