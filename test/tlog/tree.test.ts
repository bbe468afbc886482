/** Arithmetic of Merkle trees (RFC 6962 §2.1) and paths of tiles. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  consistencySubtrees,
  FormatError,
  formatEntries,
  inclusionSides,
  inclusionSubtrees,
  leafMessage,
  nodeMessage,
  parseEntries,
  parseTilePath,
  perfectSubtrees,
  rootFromInclusion,
  rootFromSubtrees,
  rootSubtrees,
  rootsFromConsistency,
  type Subtree,
  tilePath,
  tileWidth,
} from '#tlog';
import {
  auditPath,
  consistencyPath,
  sha256,
  syntheticEntries,
  treeHash,
} from '../support/ledgers/merkle.ts';
import { C2SP, MERKLE } from './vectors.ts';

const join = (left: Uint8Array, right: Uint8Array): Uint8Array => sha256(nodeMessage(left, right));
const hex = (hashes: readonly Uint8Array[]) =>
  hashes.map((one) => Buffer.from(one).toString('hex'));
const unhex = (hashes: readonly string[]) => hashes.map((one) => Buffer.from(one, 'hex'));

const published = unhex(MERKLE.entries);
const rootOf = (size: number) => Buffer.from(MERKLE.roots[size - 1] as string, 'hex');

/** Hashes of subtrees by the definition. */
const hashesOf = (entries: readonly Uint8Array[], subtrees: readonly Subtree[]) =>
  subtrees.map(({ start, end }) => treeHash(entries.slice(start, end)));

describe('the published tree of eight entries', () => {
  it('has the published roots', () => {
    assert.equal(treeHash([]).toString('hex'), MERKLE.empty_root);
    for (const [i, root] of MERKLE.roots.entries()) {
      const hashes = hashesOf(published, rootSubtrees(i + 1));
      assert.equal(Buffer.from(rootFromSubtrees(hashes, join)).toString('hex'), root);
      assert.equal(treeHash(published.slice(0, i + 1)).toString('hex'), root);
    }
  });

  it('has the published inclusion proofs', () => {
    for (const { index, size, proof } of MERKLE.inclusion) {
      const subtrees = inclusionSubtrees(index, size);
      assert.deepEqual(hex(hashesOf(published, subtrees)), proof);
      const leaf: Uint8Array = sha256(leafMessage(published[index] as Uint8Array));
      const root = rootFromInclusion({ leaf, index, size, proof: unhex(proof) }, join);
      assert.deepEqual(root, rootOf(size));
    }
  });

  it('has the published consistency proofs', () => {
    for (const { from, to, proof } of MERKLE.consistency) {
      assert.deepEqual(hex(hashesOf(published, consistencySubtrees(from, to))), proof);
      const fromRoot: Uint8Array = rootOf(from);
      const roots = rootsFromConsistency({ from, fromRoot, to, proof: unhex(proof) }, join);
      assert.deepEqual(roots, { from: rootOf(from), to: rootOf(to) });
    }
  });
});

describe('the arithmetic', () => {
  const entries = syntheticEntries(70);

  it('agrees with RFC 6962 for all sizes up to 40', () => {
    for (let size = 1; size <= 40; size++) {
      const some = entries.slice(0, size);
      for (let index = 0; index < size; index++) {
        assert.deepEqual(hashesOf(some, inclusionSubtrees(index, size)), auditPath(index, some));
        assert.equal(inclusionSides(index, size).length, inclusionSubtrees(index, size).length);
      }
      for (let from = 1; from <= size; from++) {
        const proof = hashesOf(some, consistencySubtrees(from, size));
        assert.deepEqual(proof, consistencyPath(from, some));
      }
    }
  });

  it('joins promises as it joins hashes', async () => {
    const [index, size] = [11, 70];
    const proof = auditPath(index, entries).map((hash) => Promise.resolve<Uint8Array>(hash));
    const leaf = Promise.resolve<Uint8Array>(sha256(leafMessage(entries[index] as Uint8Array)));
    const root = rootFromInclusion({ leaf, index, size, proof }, async (left, right) =>
      join(await left, await right),
    );
    assert.deepEqual(await root, treeHash(entries));
  });

  it('covers each entry once, up to 2^53 − 1', () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), fc.maxSafeNat(), (a, b) => {
        const [index, size] = [Math.min(a, b), Math.max(a, b) + (a === b ? 1 : 0)];
        if (!Number.isSafeInteger(size)) return;
        const siblings = [...inclusionSubtrees(index, size), { start: index, end: index + 1 }];
        assertPartition(siblings, size);
        assertPartition(rootSubtrees(size), size);
        assert.ok(rootSubtrees(size).every(isPerfect));
        for (const one of siblings) {
          assert.ok(perfectSubtrees(one).every(isPerfect));
          assert.equal(perfectSubtrees(one)[0]?.start, one.start);
        }
        const sides = inclusionSides(index, size);
        assert.deepEqual(
          sides,
          siblings.slice(0, -1).map(({ start }) => (start > index ? 'right' : 'left')),
        );
      }),
    );
  });

  it('refuses an index outside the tree, and a proof of another length', () => {
    assert.throws(() => inclusionSides(3, 3), RangeError);
    assert.throws(() => inclusionSides(-1, 3), RangeError);
    assert.throws(() => consistencySubtrees(0, 3), RangeError);
    assert.throws(() => consistencySubtrees(4, 3), RangeError);
    assert.throws(() => rootSubtrees(2 ** 53), RangeError);
    assert.throws(() => rootFromSubtrees([], join), RangeError);
    const hash: Uint8Array = Buffer.alloc(32);
    assert.equal(rootFromInclusion({ leaf: hash, index: 0, size: 2, proof: [] }, join), null);
    for (const proof of [[], [hash]]) {
      assert.equal(rootsFromConsistency({ from: 3, fromRoot: hash, to: 4, proof }, join), null);
    }
  });
});

function isPerfect({ start, end }: Subtree): boolean {
  const width = BigInt(end) - BigInt(start);
  return (width & (width - 1n)) === 0n && BigInt(start) % width === 0n;
}

/** Asserts that the subtrees cover the entries from 0 to `size` without a gap. */
function assertPartition(subtrees: readonly Subtree[], size: number): void {
  let at = 0;
  for (const { start, end } of subtrees.toSorted((a, b) => a.start - b.start)) {
    assert.equal(start, at);
    at = end;
  }
  assert.equal(at, size);
}

describe('paths of tiles', () => {
  it('equal the example of C2SP', () => {
    for (const { index, path } of C2SP.tile_paths.paths) {
      assert.equal(tilePath(3, index), `tile/3/${path}`);
      assert.equal(tilePath('entries', index, 255), `tile/entries/${path}.p/255`);
    }
    assert.equal(tilePath(0, 0), 'tile/0/000');
    assert.equal(tilePath(63, 1234, 5), 'tile/63/x001/234.p/5');
  });

  it('are parsed back, and no other text is a path', () => {
    const level = fc.oneof(fc.nat(63), fc.constant('entries' as const));
    const width = fc.integer({ min: 1, max: 256 });
    fc.assert(
      fc.property(level, fc.maxSafeNat(), width, (level, index, width) => {
        const parsed = parseTilePath(tilePath(level, index, width));
        assert.deepEqual(parsed, { level, index, width: width === 256 ? null : width });
      }),
    );
    for (const wrong of [
      '',
      'tile/0/0',
      'tile/00/000',
      'tile/64/000',
      'tile/0/x000/001',
      'tile/0/001/x234',
      'tile/0/000.p/0',
      'tile/0/000.p/05',
      'tile/0/000.p/256',
      'tile/0/x999/x999/x999/x999/x999/999',
      '/tile/0/000',
      'tile/0/000\n',
      'tile/data/000',
    ]) {
      assert.equal(parseTilePath(wrong), null, wrong);
    }
  });

  it('are refused out of range', () => {
    assert.throws(() => tilePath(64, 0), RangeError);
    assert.throws(() => tilePath(0, -1), RangeError);
    assert.throws(() => tilePath(0, 0, 0), RangeError);
    assert.throws(() => tilePath(0, 0, 257), RangeError);
  });
});

describe('tileWidth', () => {
  it('gives the tiles of C2SP for 70,000 and 256 entries', () => {
    for (const { size, levels } of C2SP.tile_widths.trees) {
      for (const [level, { full, partial }] of levels.entries()) {
        assert.equal(full === 0 || tileWidth(level, full - 1, size) === 256, true);
        assert.equal(tileWidth(level, full, size), partial);
        assert.equal(tileWidth(level, full + 1, size), 0);
      }
      assert.equal(tileWidth(levels.length, 0, size), 0);
      assert.equal(tileWidth(63, 0, size), 0);
    }
  });
});

describe('entry bundles', () => {
  it('return the entries that they were given', () => {
    const entries = fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 10 });
    fc.assert(
      fc.property(entries, (entries) => {
        assert.deepEqual(parseEntries(formatEntries(entries)), entries);
      }),
    );
    const large = Buffer.alloc(65_535, 1);
    assert.deepEqual(Buffer.from(formatEntries([large]).subarray(0, 3)), Buffer.of(255, 255, 1));
    assert.throws(() => formatEntries([Buffer.alloc(65_536)]), RangeError);
  });

  it('are refused when cut, and above 256 entries', () => {
    const bundle = formatEntries([Buffer.alloc(3), Buffer.alloc(4)]);
    assert.throws(() => parseEntries(bundle.subarray(0, -1)), /entry 1 of the bundle is cut/);
    assert.throws(() => parseEntries(bundle.subarray(0, 6)), /entry 1 of the bundle is cut/);
    assert.equal(parseEntries(Buffer.alloc(512)).length, 256);
    assert.throws(() => parseEntries(Buffer.alloc(514)), FormatError);
  });
});
