/** Growth of the tree, and proofs from its tiles. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { tileWidth } from '#tlog';
import {
  consistencyProof,
  EMPTY_ROOT,
  extendTree,
  inclusionProof,
  leafHash,
  nodeHash,
  rootAt,
  rootOfEdge,
  TreeError,
  verifyConsistency,
  verifyInclusion,
} from '../../src/log/index.ts';
import {
  auditPath,
  consistencyPath,
  syntheticEntries,
  treeHash,
} from '../support/ledgers/merkle.ts';
import { MERKLE } from '../tlog/vectors.ts';
import { MemoryLog } from './memory-log.ts';

/** Sizes on both sides of a full tile, of a full tile of level 1, and between. */
const SIZE = 66_000;
const ENTRIES = syntheticEntries(SIZE);
const SIZES = [1, 2, 3, 255, 256, 257, 511, 512, 1000, 65_535, 65_536, 65_537, SIZE];

const log = new MemoryLog();
log.append(ENTRIES);

describe('extendTree', () => {
  it('gives the published roots', () => {
    const published = new MemoryLog();
    assert.equal(EMPTY_ROOT.toString('hex'), MERKLE.empty_root);
    for (const [i, entry] of MERKLE.entries.entries()) {
      const { root, size } = published.append([Buffer.from(entry, 'hex')]);
      assert.deepEqual([root.toString('hex'), size], [MERKLE.roots[i], i + 1]);
    }
  });

  it('gives the root of RFC 6962', () => {
    assert.deepEqual(log.root, treeHash(ENTRIES));
    for (const size of [0, 1, 255, 256, 257, 600]) {
      const { root } = new MemoryLog().append(ENTRIES.slice(0, size));
      assert.deepEqual(root, treeHash(ENTRIES.slice(0, size)));
    }
  });

  it('gives the same tree and tiles in any chunks', () => {
    const chunks = fc.array(fc.oneof(fc.nat(5), fc.nat(300), fc.integer({ min: 250, max: 260 })), {
      minLength: 1,
      maxLength: 8,
    });
    fc.assert(
      fc.property(chunks, (chunks) => {
        const grown = new MemoryLog();
        for (const chunk of chunks) grown.append(ENTRIES.slice(grown.size, grown.size + chunk));
        const whole = new MemoryLog();
        whole.append(ENTRIES.slice(0, grown.size));
        assert.deepEqual(Buffer.from(grown.root), Buffer.from(whole.root));
        assert.deepEqual(grown.tiles, whole.tiles);
        assert.deepEqual(rootOfEdge(grown.edge()), Buffer.from(grown.root));
      }),
      { numRuns: 30 },
    );
  });

  it('returns full tiles of level 0 and changed tiles above, no others', () => {
    const grown = new MemoryLog();
    const named = (count: number) =>
      grown
        .append(ENTRIES.slice(grown.size, grown.size + count))
        .tiles.map(({ level, index, hashes }) => `${level}/${index}:${hashes.length / 32}`);
    assert.deepEqual(named(255), []);
    assert.deepEqual(named(1), ['0/0:256', '1/0:1']);
    assert.deepEqual(named(1), []);
    assert.deepEqual(named(600), ['0/1:256', '0/2:256', '1/0:3']);
    const last = named(65_536 - grown.size);
    assert.equal(last.length, 253 + 2);
    assert.deepEqual(last.slice(-3), ['0/255:256', '1/0:256', '2/0:1']);
  });

  it('leaves edge and entries unchanged', () => {
    const edge = log.edge();
    const before = structuredClone(edge);
    extendTree(edge, ENTRIES.slice(0, 300));
    assert.deepEqual(structuredClone(edge), before);
  });

  it('extends nothing if a stored hash or the root was changed', () => {
    const edge = log.edge();
    for (const [level, hashes] of edge.tiles.entries()) {
      for (let at = 0; at < hashes.length; at += 32) {
        const changed = Buffer.from(hashes);
        changed[at] = (changed[at] as number) ^ 1;
        const tiles = edge.tiles.with(level, changed);
        assert.throws(() => extendTree({ ...edge, tiles }, []), TreeError);
      }
      const tiles = edge.tiles.with(level, Buffer.concat([hashes, Buffer.alloc(32)]));
      assert.throws(() => extendTree({ ...edge, tiles }, []), /of level \d has \d+ bytes, not/);
    }
    assert.throws(() => extendTree({ ...edge, root: Buffer.alloc(32) }, []), TreeError);
    assert.throws(() => extendTree({ ...edge, tiles: [] }, []), TreeError);
    assert.throws(() => extendTree({ size: 0, root: Buffer.alloc(32), tiles: [] }, []), TreeError);
    assert.deepEqual(extendTree({ size: 0, root: EMPTY_ROOT, tiles: [] }, []).root, EMPTY_ROOT);
  });
});

describe('rootAt', () => {
  it('gives the root of every earlier size', async () => {
    for (const size of [0, ...SIZES]) {
      const whole = new MemoryLog();
      whole.append(ENTRIES.slice(0, size));
      assert.deepEqual(await rootAt(log, size), Buffer.from(whole.root), `${size}`);
    }
  });
});

describe('proofs from tiles', () => {
  it('equal the proofs of RFC 6962', async () => {
    const some = ENTRIES.slice(0, 600);
    for (const index of [0, 1, 255, 256, 511, 599]) {
      assert.deepEqual(await inclusionProof(log, index, 600), auditPath(index, some));
    }
    for (const from of [1, 2, 255, 256, 257, 512, 599, 600]) {
      assert.deepEqual(await consistencyProof(log, from, 600), consistencyPath(from, some));
    }
  });

  it('verify, and read each tile once', async () => {
    for (const size of SIZES) {
      const root = await rootAt(log, size);
      for (const index of [0, size >> 1, size - 1]) {
        log.reads = 0;
        const proof = await inclusionProof(log, index, size);
        // One tile of each level around the entry, and one at the right edge.
        assert.ok(log.reads <= 6, `${log.reads} tiles`);
        const entry = ENTRIES[index] as Uint8Array;
        assert.equal(verifyInclusion({ entry, index, size, root, proof }), true);
      }
      for (const from of [0, ...SIZES].filter((one) => one <= size)) {
        const proof = await consistencyProof(log, from, size);
        const fromRoot = await rootAt(log, from);
        assert.equal(
          verifyConsistency({ from, fromRoot, to: size, toRoot: root, proof }),
          true,
          `${from} to ${size}`,
        );
      }
    }
  });

  it('refuse a tile of another width', async () => {
    const source = { tile: async () => Buffer.alloc(31) };
    await assert.rejects(inclusionProof(source, 0, 2), RangeError);
  });

  it('need an index within the tree', async () => {
    assert.throws(() => inclusionProof(log, 5, 5), RangeError);
    await assert.rejects(consistencyProof(log, 6, 5), RangeError);
  });
});

/** Returns the hash with one bit changed. */
function flipped(hash: Uint8Array, bit: number): Buffer {
  const changed = Buffer.from(hash);
  changed[(bit >> 3) % hash.length] =
    (changed[(bit >> 3) % hash.length] as number) ^ (1 << (bit & 7));
  return changed;
}

/** A pair of integers, the first at most the second. */
const ordered = (min: number, max: number) =>
  fc
    .tuple(fc.integer({ min, max }), fc.integer({ min, max }))
    .map(([a, b]) => [Math.min(a, b), Math.max(a, b)] as const);

describe('verifyInclusion', () => {
  it('fails if any hash, the entry, the index or the size changes', async () => {
    await fc.assert(
      fc.asyncProperty(ordered(0, 700), fc.nat(), async ([index, last], chance) => {
        const size = last + 1;
        const proof = await inclusionProof(log, index, size);
        const good = {
          entry: ENTRIES[index] as Buffer,
          index,
          size,
          root: await rootAt(log, size),
          proof,
        };
        assert.equal(verifyInclusion(good), true);
        for (const wrong of [
          { entry: flipped(good.entry, chance % 256) },
          { root: flipped(good.root, chance % 256) },
          ...proof.map((hash, i) => ({ proof: proof.with(i, flipped(hash, chance % 256)) })),
          { proof: [...proof, EMPTY_ROOT] },
          ...(proof.length > 0 ? [{ proof: proof.slice(1) }, { proof: proof.slice(0, -1) }] : []),
          ...(index > 0 ? [{ index: index - 1 }] : []),
          { index: index + 1 },
          { index: size },
          { index: -1 },
          { index: 0.5 },
          { size: 0 },
          { size: Number.NaN },
        ]) {
          assert.equal(verifyInclusion({ ...good, ...wrong }), false, JSON.stringify(wrong));
        }
      }),
      { numRuns: 40 },
    );
  });

  it('fails for another size if the path of the entry then has other sides', async () => {
    // A larger tree whose right edge lies elsewhere can share root and path: RFC 6962 binds the
    // size through the signed checkpoint.
    const proof = await inclusionProof(log, 4, 5);
    const good = {
      entry: ENTRIES[4] as Buffer,
      index: 4,
      size: 5,
      root: await rootAt(log, 5),
      proof,
    };
    for (const size of [4, 6, 7, 8, 9]) assert.equal(verifyInclusion({ ...good, size }), false);
  });
});

describe('verifyConsistency', () => {
  it('fails if any hash, either root or either size changes', async () => {
    await fc.assert(
      fc.asyncProperty(ordered(1, 700), fc.nat(255), async ([from, to], bit) => {
        const proof = await consistencyProof(log, from, to);
        const [fromRoot, toRoot] = [await rootAt(log, from), await rootAt(log, to)];
        const good = { from, fromRoot, to, toRoot, proof };
        assert.equal(verifyConsistency(good), true);
        for (const wrong of [
          { fromRoot: flipped(fromRoot, bit) },
          { toRoot: flipped(toRoot, bit) },
          ...proof.map((hash, i) => ({ proof: proof.with(i, flipped(hash, bit)) })),
          { proof: [...proof, EMPTY_ROOT] },
          ...(proof.length > 0 ? [{ proof: proof.slice(1) }] : []),
          { from: 0 },
          { from: to + 1 },
          { to: from - 1 },
          { to: 2 ** 53 },
        ]) {
          assert.equal(verifyConsistency({ ...good, ...wrong }), false, JSON.stringify(wrong));
        }
        if (from !== to) {
          assert.equal(verifyConsistency({ ...good, from: to, to }), false);
          assert.equal(verifyConsistency({ ...good, fromRoot: toRoot }), false);
        }
      }),
      { numRuns: 40 },
    );
  });

  it('knows the empty tree', () => {
    const empty = { from: 0, fromRoot: EMPTY_ROOT, to: 0, toRoot: EMPTY_ROOT, proof: [] };
    assert.equal(verifyConsistency(empty), true);
    assert.equal(verifyConsistency({ ...empty, to: 5, toRoot: Buffer.alloc(32) }), true);
    assert.equal(verifyConsistency({ ...empty, toRoot: Buffer.alloc(32) }), false);
    assert.equal(verifyConsistency({ ...empty, to: 5, fromRoot: Buffer.alloc(32) }), false);
    assert.equal(verifyConsistency({ ...empty, to: 5, proof: [EMPTY_ROOT] }), false);
  });
});

describe('leafHash and nodeHash', () => {
  it('keep leaves apart from nodes', () => {
    const [left, right] = [leafHash(Buffer.alloc(0)), leafHash(Buffer.from('00', 'hex'))];
    assert.equal(left.toString('hex'), MERKLE.roots[0]);
    assert.equal(nodeHash(left, right).toString('hex'), MERKLE.roots[1]);
    assert.notDeepEqual(leafHash(Buffer.concat([left, right])), nodeHash(left, right));
  });
});

describe('the tiles of a tree', () => {
  it('are stored for every width that a checkpoint can need', async () => {
    for (let level = 0; level < 3; level++) {
      for (const size of SIZES) {
        const index = Math.floor(size / 256 ** (level + 1));
        const width = tileWidth(level, index, size);
        if (width > 0) assert.equal((await log.tile(level, index, width)).length, width * 32);
      }
    }
  });
});
