/** Rounds of witnesses: c2sp.org/tlog-witness against a witness on loopback. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, describe, it } from 'node:test';
import { type Policy, parsePolicy, parseVerifierKey } from '#tlog';
import {
  EMPTY_ROOT,
  extendTree,
  newLogKeysText,
  openCheckpoint,
  parseLogKeys,
  signCheckpoint,
  type Tile,
} from '../../../src/log/index.ts';
import { Cosigning, type WitnessedHead } from '../../../src/service/log/cosigning.ts';
import type { SignedHead } from '../../../src/service/log/heads.ts';
import { openCosigning } from '../../../src/service/log/open-cosigning.ts';
import { Witness } from '../../../src/service/log/witness.ts';
import { FakeWitness } from './fake-witness.ts';

const KEYS = parseLogKeys(newLogKeysText('log.example/1'));
const LOG_KEYS = Object.values(KEYS.verifierKeys).map(parseVerifierKey);

/** A tree of up to 256 entries, with a head at each size. */
class Tree {
  readonly #entries = Array.from({ length: 200 }, () => randomBytes(32));

  head(size: number): SignedHead {
    const { root } = this.#extension(size);
    return { size, root, note: signCheckpoint(KEYS, { size, root }, 1_800_000_000) };
  }

  async tile(level: number, index: number, width: number): Promise<Uint8Array> {
    assert.deepEqual([level, index], [0, 0]);
    // 256 entries fill the tile, whose hashes are then known.
    const filled = [...this.#entries, ...Array.from({ length: 56 }, () => Buffer.alloc(32))];
    const { tiles } = extendTree({ size: 0, root: EMPTY_ROOT, tiles: [] }, filled);
    const full = tiles.find((one: Tile) => one.level === 0);
    assert.ok(full);
    return full.hashes.subarray(0, width * 32);
  }

  #extension(size: number) {
    return extendTree({ size: 0, root: EMPTY_ROOT, tiles: [] }, this.#entries.slice(0, size));
  }
}

const witnesses: FakeWitness[] = [];
after(() => {
  for (const witness of witnesses) witness.stop();
});

/** A policy whose quorum is two of three witnesses, and the means of a log to ask them. */
async function setUp() {
  const tree = new Tree();
  const own = ['one', 'two', 'three'].map((name) => new FakeWitness(`${name}.example`, LOG_KEYS));
  witnesses.push(...own);
  const urls = await Promise.all(own.map((witness) => witness.start()));
  const policy = parsePolicy(
    [
      ...own.map(({ name, key }, i) => `witness ${name} ${key.text} ${urls[i]}/`),
      `group most 2 ${own.map(({ name }) => name).join(' ')}`,
      'quorum most',
      '',
    ].join('\n'),
  );
  const changes: [string, string | null][] = [];
  const saved: SignedHead[] = [];
  const clock = { ms: 1_800_000_000_000 };
  const stored: { head: WitnessedHead | null } = { head: null };
  const examined: string[] = [];
  const cosigning = new Cosigning({
    policy,
    witnesses: policy.witnesses.map(
      ({ name, key, url }) =>
        new Witness({
          name,
          key,
          url: url ?? '',
          tiles: tree,
          origin: 'log.example/1',
          examine: async (note) => void examined.push(note),
          onChange: (witness, reason) => changes.push([witness, reason]),
          monotonicMs: () => clock.ms,
        }),
    ),
    stored: async () => stored.head,
    save: async (head) => void saved.push(head),
    nowMs: () => clock.ms,
  });
  return { tree, own, policy, cosigning, changes, saved, clock, stored, examined };
}

function namesIn(policy: Policy, note: string): string[] {
  const keys = [...LOG_KEYS, ...policy.witnesses.map(({ key }) => key)];
  return openCheckpoint(note, keys).signedBy.map(({ name }) => name);
}

describe('a round of witnesses', () => {
  it('proves consistency with what each has cosigned, and keeps their signatures', async () => {
    const { tree, own, policy, cosigning, saved } = await setUp();
    for (const size of [3, 130, 131]) await cosigning.round(tree.head(size));
    assert.deepEqual(
      saved.map(({ size }) => size),
      [3, 130, 131],
    );
    const logAndWitnesses = ['log.example/1', 'log.example/1', ...own.map(({ name }) => name)];
    for (const { note } of saved) {
      assert.deepEqual(namesIn(policy, note).sort(), logAndWitnesses.sort());
    }
    assert.equal(cosigning.witnessed?.note, saved.at(-1)?.note);
    for (const { answers } of own) assert.deepEqual(answers, [200, 200, 200]);
  });

  it('keeps no head without a cosignature, also if the quorum is none', async () => {
    const { tree, policy } = await setUp();
    const saved: SignedHead[] = [];
    const none = new Cosigning({
      policy: { ...policy, quorum: 'none' },
      witnesses: [{ name: 'mute', cosign: async () => null, shown: async () => null }],
      stored: async () => null,
      save: async (head) => void saved.push(head),
      nowMs: () => 0,
    });
    await none.round(tree.head(3));
    assert.deepEqual([none.witnessed, saved], [null, []]);
  });

  it('learns from 409 what a witness has cosigned, as after a restart', async () => {
    const first = await setUp();
    await first.cosigning.round(first.tree.head(7));
    const again = new Cosigning({
      policy: first.policy,
      witnesses: first.policy.witnesses.map(
        ({ name, key, url }) =>
          new Witness({
            name,
            key,
            url: url ?? '',
            tiles: first.tree,
            origin: 'log.example/1',
            examine: assert.fail,
            onChange: assert.fail,
            monotonicMs: Date.now,
          }),
      ),
      stored: async () => null,
      save: async () => {},
      nowMs: Date.now,
    });
    await again.round(first.tree.head(9));
    assert.equal(again.witnessed?.size, 9);
    for (const { answers } of first.own) assert.deepEqual(answers, [200, 409, 200]);
  });

  it('is enough with the quorum, and keeps nothing below it', async () => {
    const { tree, own, policy, cosigning, changes, saved, clock } = await setUp();
    const [one, two] = own as [FakeWitness, FakeWitness, FakeWitness];
    one.broken = { status: 503, body: '' };
    await cosigning.round(tree.head(2));
    assert.equal(namesIn(policy, saved[0]?.note ?? '').length, 4);
    two.broken = { status: 404, body: '' };
    clock.ms += 5_000;
    await cosigning.round(tree.head(3));
    assert.equal(saved.length, 1);
    assert.match(changes[0]?.[1] ?? '', /answered 503/);
    assert.match(changes.find(([name]) => name === 'two.example')?.[1] ?? '', /does not know this/);
  });

  it('refuses cosignatures that are forged, missing or malformed', async () => {
    for (const broken of [
      { status: 200, body: '' },
      { status: 200, body: '— two.example AAAA\n' },
      { status: 409, body: 'many\n' },
      { status: 302, body: '' },
    ]) {
      const { tree, own, cosigning, saved, changes } = await setUp();
      for (const witness of own) witness.broken = broken;
      await cosigning.round(tree.head(2));
      assert.deepEqual([saved.length, changes.length], [0, 3], JSON.stringify(broken));
    }
    const { tree, own, cosigning, changes } = await setUp();
    for (const witness of own) witness.forges = true;
    await cosigning.round(tree.head(2));
    assert.equal(cosigning.witnessed, null);
    for (const [, reason] of changes) assert.match(reason ?? '', /is not valid under the key/);
  });

  it('keeps no cosignature from the future, which verifiers of receipts refuse', async () => {
    const { tree, own, cosigning, changes } = await setUp();
    for (const witness of own) witness.aheadSeconds = 400;
    await cosigning.round(tree.head(2));
    assert.equal(cosigning.witnessed, null);
    for (const [, reason] of changes) assert.match(reason ?? '', /is from the future/);
  });

  it('reports a fork that a witness refuses, and a witness that is ahead', async () => {
    const { tree, own, cosigning, changes, clock, examined } = await setUp();
    await cosigning.round(tree.head(5));
    assert.deepEqual(examined, [], 'no witness refused');
    const fork = new Tree();
    await cosigning.round(fork.head(8));
    assert.equal(cosigning.witnessed?.size, 5);
    assert.match(changes[0]?.[1] ?? '', /does not continue: the log may have forked/);
    const sizeOf = (note: string) => openCheckpoint(note, LOG_KEYS).checkpoint.size;
    assert.deepEqual(examined.map(sizeOf), [5, 5, 5], 'each shows what it cosigned');
    for (const witness of own) witness.size = 50;
    clock.ms += 60_000;
    await cosigning.round(tree.head(9));
    assert.match(changes.at(-1)?.[1] ?? '', /has cosigned 50 entries of this log/);
  });

  it('leaves a failing witness alone for longer and longer', async () => {
    const { tree, own, cosigning, changes, clock } = await setUp();
    for (const witness of own) witness.broken = { status: 500, body: '' };
    let size = 1;
    for (let second = 0; second < 160; second += 5, clock.ms += 5_000) {
      await cosigning.round(tree.head(size++));
    }
    // After 0, 5, 15, 35, 75 and 155 seconds.
    assert.equal(own[0]?.answers.length, 6);
    for (const witness of own) witness.broken = null;
    clock.ms += 300_000;
    await cosigning.round(tree.head(size));
    assert.equal(cosigning.witnessed?.size, size);
    assert.deepEqual(
      changes.slice(-3).map(([, reason]) => reason),
      [null, null, null],
    );
  });

  it('skips a head if another server had one cosigned in the last five seconds', async () => {
    const { tree, own, cosigning, clock, stored } = await setUp();
    stored.head = { ...tree.head(4), atMs: clock.ms - 4_000 };
    await cosigning.round(tree.head(6));
    assert.deepEqual([cosigning.witnessed?.size, own[0]?.answers.length], [4, 0]);
    await cosigning.round(tree.head(6));
    assert.deepEqual([cosigning.witnessed?.size, own[0]?.answers.length], [6, 1]);
  });

  it('skips none for which a receipt waits', async () => {
    const { tree, own, cosigning, clock, stored } = await setUp();
    stored.head = { ...tree.head(4), atMs: clock.ms - 4_000 };
    await cosigning.round(tree.head(6), true);
    assert.deepEqual([cosigning.witnessed?.size, own[0]?.answers.length], [6, 1]);
  });
});

describe('the pause after a failure', () => {
  it('does not follow a wall clock that jumps', async (t) => {
    const { tree, own, policy } = await setUp();
    for (const witness of own) witness.broken = { status: 500, body: '' };
    const opened = openCosigning(policy, {
      tiles: tree,
      origin: 'log.example/1',
      publisher: { published: null, examine: assert.fail },
      verifierKeys: LOG_KEYS,
      stored: async () => ({ witnessed: null }),
      save: () => assert.fail(),
      notify: () => {},
    });
    const still = process.hrtime.bigint();
    t.mock.method(process.hrtime, 'bigint', () => still);
    await opened.round(tree.head(3));
    const jumped = Date.now() + 86_400_000;
    t.mock.method(Date, 'now', () => jumped);
    await opened.round(tree.head(4));
    assert.equal(own[0]?.answers.length, 1);
  });
});

describe('a cosigned head in the database', () => {
  it('counts only with the quorum, and if the published tree continues it', async () => {
    const { tree, policy, cosigning, saved } = await setUp();
    await cosigning.round(tree.head(5));
    const note = saved[0]?.note ?? '';
    const read = async (witnessed: string, published: SignedHead) => {
      const open = openCosigning(
        { ...policy, witnesses: policy.witnesses.map((one) => ({ ...one, url: null })) },
        {
          tiles: tree,
          origin: 'log.example/1',
          publisher: { published, examine: assert.fail },
          verifierKeys: LOG_KEYS,
          stored: async () => ({ witnessed }),
          save: () => assert.fail(),
          notify: () => assert.fail(),
        },
      );
      await open.round(published);
      return open.witnessed?.size ?? null;
    };
    assert.equal(await read(note, tree.head(9)), 5);
    assert.equal(await read(note, tree.head(4)), null, 'ahead of the published tree');
    assert.equal(await read(note, new Tree().head(9)), null, 'of another tree');
    assert.equal(await read(tree.head(5).note, tree.head(9)), null, 'without cosignatures');
    const [line = ''] = note.split('\n').slice(-2);
    const at = line.length - 8;
    const forged = `${line.slice(0, at)}${line[at] === 'A' ? 'B' : 'A'}${line.slice(at + 1)}`;
    assert.equal(await read(note.replace(line, forged), tree.head(9)), null, 'with a forged one');
  });
});
