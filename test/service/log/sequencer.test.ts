/** The order of writes: nothing that crashes between two steps forks the log, and no served head lacks its state file. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import { FormatError } from '#tlog';
import {
  EMPTY_ROOT,
  leafHash,
  newLogKeysText,
  openCheckpoint,
  parseLogKeys,
  rootAt,
  signCheckpoint,
} from '../../../src/log/index.ts';
import { LogStopped } from '../../../src/service/log/stopped.ts';
import { StoredTiles } from '../../../src/service/log/tile-source.ts';
import { FakeFile, newStore, ORIGIN, sealsOf, startServer, VERIFIER_KEYS } from './fake-server.ts';
import type { FakeLogStore } from './fake-store.ts';

class Crash extends Error {}

/** Checks that every served head is a prefix of the tree in the database. */
async function assertNoFork(store: FakeLogStore, served: readonly string[]): Promise<void> {
  const tiles = new StoredTiles(store, 1);
  for (const note of served) {
    const { checkpoint } = openCheckpoint(note, VERIFIER_KEYS);
    assert.deepEqual(Buffer.from(checkpoint.root), await rootAt(tiles, checkpoint.size));
  }
}

describe('the sequencer', () => {
  it('publishes an empty log first, then each turn', async () => {
    const [store, file] = [newStore(), new FakeFile()];
    const { sequencer, served } = startServer(store, file);
    store.add();
    store.add();
    const { head } = await sequencer.turn();
    assert.equal(head.size, 2);
    assert.deepEqual(
      served.map((note) => openCheckpoint(note, VERIFIER_KEYS).checkpoint.size),
      [0, 2],
    );
    assert.equal(file.text, head.note);
    assert.equal(store.contents.record.checkpoint, head.note);
    await sequencer.turn();
    assert.equal(served.length, 2, 'a turn without entries signs nothing');
  });

  it('signs nothing while the rows of the logs are as no server leaves them', async () => {
    const [store, file] = [newStore(), new FakeFile()];
    const { sequencer, served } = startServer(store, file);
    await sequencer.turn();
    store.add();
    store.fault = { origin: ORIGIN, found: 'ends before its successor begins' };
    await assert.rejects(sequencer.turn(), (error) => {
      assert.ok(error instanceof LogStopped, String(error));
      assert.match(
        error.message,
        /ends before its successor begins: no server and no command does/,
      );
      assert.equal(error.halt, 'altered');
      return true;
    });
    assert.equal(served.length, 1);
  });

  it('rests between the transactions of a turn, and not after the last one', async () => {
    const [store, file] = [newStore(), new FakeFile()];
    for (let i = 0; i < 2 * 256 + 1; i++) store.add();
    const waiting: number[] = [];
    const { head } = await startServer(store, file).sequencer.turn(async (workedMs) => {
      assert.ok(workedMs >= 0);
      waiting.push(store.contents.pending.length);
    });
    assert.deepEqual([waiting, head.size], [[257, 1], 513]);
  });

  it('sets an entry with a wrong MAC aside, and goes on', async () => {
    const [store, file] = [newStore(), new FakeFile()];
    store.add();
    store.contents.pending[0] = { ...store.contents.pending[0], mac: Buffer.alloc(32) } as never;
    store.add();
    const { setAside, head } = await startServer(store, file).sequencer.turn();
    assert.deepEqual([setAside, head.size], [1, 1]);
  });

  it('waits for a server with the version of an entry, and sets made-up versions aside', async () => {
    const [store, file] = [newStore(), new FakeFile()];
    const { sequencer } = startServer(store, file);
    for (const secretVersion of [1, 3, 1, 3]) {
      store.add();
      const last = store.contents.pending.pop();
      store.contents.pending.push({ ...last, secretVersion } as never);
    }
    const { setAside, head } = await sequencer.turn();
    assert.deepEqual([setAside, head.size], [2, 2]);
    store.add();
    const foreign = store.contents.pending.pop();
    store.contents.pending.push({ ...foreign, secretVersion: 2 } as never);
    await assert.rejects(sequencer.turn(), /made under version 2 of the master secret, which this/);
    await assert.rejects(sequencer.turn(), /made under version 2/);
    assert.deepEqual([store.contents.pending.length, store.contents.setAside.length], [1, 2]);
  });

  it('survives a crash at every step without a fork, and serves no head that the file lacks', async () => {
    for (const step of ['logs', 'takeTurn', 'commit', 'committed', 'write', 'saveCheckpoint']) {
      for (const nth of [1, 2, 3, 4, 5]) {
        const [store, file] = [newStore(), new FakeFile()];
        const served: string[] = [];
        let seen = 0;
        const crash = (name: string) => {
          if (name === step && ++seen === nth) throw new Crash(step);
        };
        for (let i = 0; i < 300; i++) store.add();
        store.onCall = crash;
        file.onWrite = () => crash('write');
        const run = async () => {
          const { sequencer } = startServer(store, file, served);
          for (let turn = 0; turn < 3; turn++) {
            await sequencer.turn();
            for (let i = 0; i < 5; i++) store.add();
          }
        };
        await run().catch((error) => assert.ok(error instanceof Crash, String(error)));
        for (const note of served) assert.ok(sizeOf(file.text) >= sizeOf(note), `${step} ${nth}`);
        store.onCall = () => {};
        file.onWrite = () => {};
        await run();
        assert.equal(store.contents.pending.length, 5);
        await assertNoFork(store, served);
      }
    }
  });

  it('keeps the signed head of the file after a crash before it was served', async () => {
    const [store, file] = [newStore(), new FakeFile()];
    await startServer(store, file).sequencer.turn();
    store.add();
    store.onCall = (name) => {
      if (name === 'saveCheckpoint') throw new Crash();
    };
    const first = startServer(store, file);
    await assert.rejects(first.sequencer.turn(), Crash);
    store.onCall = () => {};
    const { sequencer, served } = startServer(store, file);
    await sequencer.turn();
    assert.equal(served.at(-1), file.text);
    await assertNoFork(store, served);
  });

  it('stops on a restored database, and neither extends nor serves it', async () => {
    const [store, file] = [newStore(), new FakeFile()];
    const { sequencer } = startServer(store, file);
    store.add();
    await sequencer.turn();
    const backup = store.backup();
    store.add();
    await sequencer.turn();
    store.restore(backup);
    store.add();
    const again = startServer(store, file);
    await assert.rejects(again.sequencer.turn(), /has 1 entries in the database, but 2 were/);
    assert.deepEqual([store.contents.record.size, again.served.length], [1, 0]);
    await assert.rejects(sequencer.turn(), LogStopped, 'also the server that kept running');
  });

  it('stops on a database that moved, although its state file fits, until an operator accepts that', async () => {
    const [store, file] = [newStore(), new FakeFile()];
    const { sequencer, served } = startServer(store, file);
    store.add();
    await sequencer.turn();
    store.contents.record = { ...store.contents.record, isMoved: true };
    store.add();
    for (const server of [startServer(store, file, served), { sequencer }]) {
      await assert.rejects(server.sequencer.turn(), (error: Error) => {
        assert.ok(error instanceof LogStopped);
        assert.match(
          error.message,
          /was restored or promoted.* \/srv\/phm\.log-state\. Then run, .*: phm log recover --accept$/,
        );
        return true;
      });
    }
    assert.deepEqual([store.contents.record.size, served.length], [1, 2]);
    store.contents.record = { ...store.contents.record, isMoved: false };
    assert.equal((await sequencer.turn()).head.size, 2);
    await assertNoFork(store, served);
  });

  it('publishes nothing of a database that moves during a turn', async () => {
    const [store, file] = [newStore(), new FakeFile()];
    const { sequencer, served } = startServer(store, file);
    await sequencer.turn();
    const before = served.length;
    store.add();
    store.onCall = (name) => {
      if (name !== 'committed') return;
      store.contents.record = { ...store.contents.record, isMoved: true };
    };
    await assert.rejects(sequencer.turn(), /restored or promoted/);
    assert.equal(served.length, before);
  });

  it('names the lost entries rather than the move, if the state file shows them', async () => {
    const [store, file] = [newStore(), new FakeFile()];
    const { sequencer } = startServer(store, file);
    const backup = store.backup();
    store.add();
    await sequencer.turn();
    store.restore({ ...backup, record: { ...backup.record, isMoved: true } });
    await assert.rejects(sequencer.turn(), /has 0 entries in the database, but 1 were/);
  });

  it('stops on a tree of the same size or a larger one that does not continue the published tree', async () => {
    const [store, file] = [newStore(), new FakeFile()];
    for (let i = 0; i < 5; i++) store.add();
    const { sequencer } = startServer(store, file);
    await sequencer.turn();
    const other = newStore();
    const otherFile = new FakeFile();
    for (let i = 0; i < 5; i++) other.add();
    await startServer(other, otherFile).sequencer.turn();
    await assert.rejects(startServer(other, file).sequencer.turn(), /does not continue the publi/);
    for (let i = 0; i < 5; i++) other.add();
    await startServer(other, otherFile).sequencer.turn();
    await assert.rejects(startServer(other, file).sequencer.turn(), /does not continue the publi/);
  });

  it('stops if the state file is missing for a log with entries, and not for an empty one', async () => {
    const store = newStore();
    store.add();
    await startServer(store, new FakeFile()).sequencer.turn();
    const lost = startServer(store, new FakeFile());
    await assert.rejects(lost.sequencer.turn(), /log-state is missing.*has 1 entries.*phm log rec/);
    assert.equal(lost.served.length, 0);
  });

  it('lets a server join a log without a state file in its first ten minutes', async () => {
    const store = newStore();
    store.add();
    await startServer(store, new FakeFile()).sequencer.turn();
    const file = new FakeFile();
    const { head } = await startServer(store, file, [], { nowMs: 599_999 }).sequencer.turn();
    assert.deepEqual([head.size, file.text], [1, head.note]);
    for (const nowMs of [600_000, -1]) {
      await assert.rejects(startServer(store, new FakeFile(), [], { nowMs }).sequencer.turn());
    }
  });

  it('replaces the state file of the log that a rotation has closed, and no other', async () => {
    const store = newStore();
    store.add();
    await startServer(store, new FakeFile()).sequencer.turn();
    const old = parseLogKeys(newLogKeysText('phm.invalid/old'));
    const closedNote = signCheckpoint(old, { size: 0, root: EMPTY_ROOT }, 1);
    const file = new FakeFile();
    file.text = closedNote;
    await assert.rejects(startServer(store, file).sequencer.turn(), /is not a checkpoint of the/);
    const { sequencer } = startServer(store, file, [], { closedNote });
    const { head } = await sequencer.turn();
    assert.equal(file.text, head.note);
    store.restore({ ...store.backup(), record: { ...store.contents.record, size: 0 } });
    await assert.rejects(sequencer.turn(), LogStopped);
  });

  it('writes a state file again that vanished while it ran', async () => {
    const [store, file] = [newStore(), new FakeFile()];
    const { sequencer } = startServer(store, file);
    await sequencer.turn();
    file.text = null;
    const { head } = await sequencer.turn();
    assert.equal(file.text, head.note);
  });

  it('stops on a foreign or damaged state file', async () => {
    const store = newStore();
    const foreign = new FakeFile();
    const keys = parseLogKeys(newLogKeysText(ORIGIN));
    foreign.text = signCheckpoint(keys, { size: 0, root: store.contents.record.root }, 1);
    await assert.rejects(
      startServer(store, foreign).sequencer.turn(),
      /is not a checkpoint of the .* move this one away and run: phm log recover --accept$/,
    );
    const damaged = new FakeFile();
    damaged.read = () => {
      throw new FormatError('a signed note needs an empty line');
    };
    await assert.rejects(startServer(store, damaged).sequencer.turn(), LogStopped);
  });

  it('stops before a turn if the right edge was changed', async () => {
    const [store, file] = [newStore(), new FakeFile()];
    const { sequencer } = startServer(store, file);
    for (let i = 0; i < 3; i++) store.add();
    await sequencer.turn();
    store.contents.entries[1] = randomBytes(32);
    store.add();
    await assert.rejects(sequencer.turn(), /tables in the database were changed/);
    assert.equal(store.contents.record.size, 3);
  });

  it('signs no entry that a writer of the database appended, with a tree to match', async () => {
    const [store, file] = [newStore(), new FakeFile()];
    store.add();
    const { publisher, sequencer, served } = startServer(store, file);
    await sequencer.turn();
    store.contents.entries.push(randomBytes(32));
    const root = await rootAt(new StoredTiles(store, 1), 2);
    store.contents.record = { ...store.contents.record, size: 2, root };
    await assert.rejects(publisher.publish(), LogStopped);
    store.add();
    await assert.rejects(sequencer.turn(), LogStopped);
    await assert.rejects(startServer(store, file, served).publisher.publish(), LogStopped);
    assert.equal(served.length, 2, 'an empty head and that of the first entry');
  });

  it('extends no such entry that came after the check of the head', async () => {
    const [store, file] = [newStore(), new FakeFile()];
    const { sequencer } = startServer(store, file);
    store.add();
    store.onCall = (name) => {
      if (name !== 'takeTurn' || store.contents.entries.length > 0) return;
      const entry = randomBytes(32);
      store.contents.entries.push(entry);
      store.contents.record = { ...store.contents.record, size: 1, root: leafHash(entry) };
    };
    await assert.rejects(sequencer.turn(), LogStopped);
    assert.equal(store.contents.record.size, 1);
  });

  it('waits with a head under a version that it lacks, and stops on one that no server has', async () => {
    const [store, file] = [newStore(), new FakeFile()];
    store.add();
    const options = { seals: sealsOf(2, 1) };
    await startServer(store, file, [], options).sequencer.turn();
    store.add();
    const { sequencer } = startServer(store, file);
    await assert.rejects(sequencer.turn(), /sealed under version 2 .* which this server lacks/);
    assert.equal(store.contents.entries.length, 1);
    await startServer(store, file, [], options).sequencer.turn();
    const { seal } = store.contents.record;
    store.contents.record = { ...store.contents.record, seal: { ...seal, version: 3 } };
    await assert.rejects(sequencer.turn(), (error) => {
      return error instanceof LogStopped && /version 3 .* no server registered/.test(error.message);
    });
  });

  it('delays on failures of the database and of the file, and continues', async () => {
    const [store, file] = [newStore(), new FakeFile()];
    const { sequencer, served } = startServer(store, file);
    await sequencer.turn();
    for (let i = 0; i < 20; i++) {
      store.add();
      const name = ['logs', 'takeTurn', 'saveCheckpoint'][i % 3];
      store.onCall = (call) => {
        if (call === name) throw new Crash();
      };
      if (i % 4 === 0) file.onWrite = () => assert.fail('ENOSPC');
      await assert.rejects(sequencer.turn());
      store.onCall = () => {};
      file.onWrite = () => {};
      await sequencer.turn();
    }
    assert.equal(sizeOf(served.at(-1) ?? null), 20);
    await assertNoFork(store, served);
  });

  it('serves no head whose state file is in place but was never synced', async () => {
    const [store, file] = [newStore(), new FakeFile()];
    const { sequencer, served } = startServer(store, file);
    await sequencer.turn();
    store.add();
    file.onSync = () => assert.fail('EIO');
    await assert.rejects(sequencer.turn(), /EIO/);
    assert.equal(sizeOf(file.text), 1, 'the rename is done');
    await assert.rejects(sequencer.turn(), /EIO/, 'and the next turn finds the file equal');
    assert.equal(served.length, 1);
    // Neither does a process that starts then.
    const restarted = startServer(store, file);
    await assert.rejects(restarted.sequencer.turn(), /EIO/);
    assert.deepEqual([restarted.served, sizeOf(file.durable)], [[], 0]);
    file.onSync = () => {};
    await sequencer.turn();
    await restarted.sequencer.turn();
    assert.deepEqual([sizeOf(served.at(-1) ?? null), sizeOf(file.durable)], [1, 1]);
  });

  it('brings a state file up to date that was put back while it ran', async () => {
    const [store, file] = [newStore(), new FakeFile()];
    const { sequencer, publisher } = startServer(store, file);
    await sequencer.turn();
    const old = file.text;
    store.add();
    await sequencer.turn();
    file.text = old;
    await publisher.publish();
    assert.equal(sizeOf(file.text), 1);
  });

  it('signs nothing after it was halted, also in a turn whose entries are stored', async () => {
    const [store, file] = [newStore(), new FakeFile()];
    const { sequencer, publisher, served } = startServer(store, file);
    await sequencer.turn();
    store.add();
    store.onCall = (name) => {
      if (name === 'committed') publisher.halt('the ledger is damaged: staged');
    };
    await assert.rejects(sequencer.turn(), LogStopped);
    assert.deepEqual([store.contents.record.size, served.length, sizeOf(file.text)], [1, 1, 0]);
    await assert.rejects(publisher.admit(), LogStopped);
  });

  it('lets servers share a database, with a state file each or one for all', async () => {
    for (const isShared of [true, false]) {
      const store = newStore();
      const file = new FakeFile();
      await startServer(store, file).sequencer.turn();
      const servers = [0, 1, 2].map(() => {
        if (isShared) return startServer(store, file);
        const own = new FakeFile();
        own.text = file.text;
        return startServer(store, own);
      });
      for (let round = 0; round < 20; round++) {
        for (let i = 0; i < 30; i++) store.add();
        await Promise.all(servers.map(({ sequencer }) => sequencer.turn().catch(ignoreOvertaken)));
      }
      await Promise.all(servers.map(({ sequencer }) => sequencer.turn()));
      for (const { served } of servers) {
        assert.equal(sizeOf(served.at(-1) ?? null), 600);
        await assertNoFork(store, served);
      }
      assert.equal(store.contents.entries.length, 600);
    }
  });

  it('never replaces the state file by a smaller head', async () => {
    const [store, file] = [newStore(), new FakeFile()];
    const [one, two] = [startServer(store, file), startServer(store, file)];
    await one.sequencer.turn();
    for (let i = 0; i < 10; i++) {
      store.add();
      await one.sequencer.turn();
      const size = sizeOf(file.text);
      await two.publisher.publish();
      assert.ok(sizeOf(file.text) >= size);
    }
  });

  it('does not replace the head that another server kept between its look and its lock', async () => {
    const [store, file] = [newStore(), new FakeFile()];
    const { sequencer, publisher, served } = startServer(store, file);
    await sequencer.turn();
    store.add();
    await sequencer.turn();
    const [newerStore, newerFile] = [newStore(), new FakeFile()];
    newerStore.restore(store.backup());
    newerFile.text = file.text;
    newerStore.add();
    await startServer(newerStore, newerFile).sequencer.turn();
    const { writes } = file;
    const { alone } = FakeFile.prototype;
    file.alone = (work) => {
      file.alone = alone;
      file.text = newerFile.text;
      store.restore(newerStore.backup());
      return alone.call(file, work) as ReturnType<typeof work>;
    };
    assert.equal((await publisher.publish()).size, 2);
    assert.deepEqual([file.text, file.writes], [newerFile.text, writes]);
    assert.equal(sizeOf(served.at(-1) ?? null), 2);
  });

  it('stops once another log was started', async () => {
    const [store, file] = [newStore(), new FakeFile()];
    const { sequencer } = startServer(store, file);
    await sequencer.turn();
    store.contents.record = { ...store.contents.record, closedMs: 5 };
    await assert.rejects(sequencer.turn(), /is closed, because another log was started/);
  });

  it('names the rotation, not the state file that the rotation gave to the next log', async () => {
    const [store, file] = [newStore(), new FakeFile()];
    const { sequencer } = startServer(store, file);
    await sequencer.turn();
    store.contents.record = { ...store.contents.record, closedMs: 5 };
    file.text = 'another.example/log\n1\n';
    await assert.rejects(sequencer.turn(), /is closed, because another log was started/);
  });
});

function sizeOf(note: string | null): number {
  return note === null ? -1 : openCheckpoint(note, VERIFIER_KEYS).checkpoint.size;
}

function ignoreOvertaken(error: Error): void {
  if (error instanceof LogStopped) throw error;
}
