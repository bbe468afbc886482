/** The generators of the zoo: published outputs, and the linear complexities that their definitions give. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { linearComplexityOf } from '../../../sp800-22/src/thorough/plane-complexity.ts';
import { planeOf } from '../../../sp800-22/src/thorough/planes.ts';
import { bytesOf, type ZooGenerator } from '../../studies/zoo/generator.ts';
import { glibcRandom } from '../../studies/zoo/lagged.ts';
import { type Results, table } from '../../studies/zoo/table.ts';
import { ZOO } from '../../studies/zoo/zoo.ts';

function generator(name: string): ZooGenerator {
  const found = ZOO.find((one) => one.name === name);
  assert.ok(found, name);
  return found;
}

function outputs(name: string, count: number): number[] {
  const next = generator(name).start();
  return Array.from({ length: count }, next);
}

describe('the zoo', () => {
  it('has generators of different names, and three controls', () => {
    assert.equal(new Set(ZOO.map(({ name }) => name)).size, ZOO.length);
    assert.ok(ZOO.length >= 30);
    assert.equal(ZOO.filter(({ sound }) => sound).length, 3);
  });

  it('has the published outputs', () => {
    for (const [name, expected] of [
      // ISO C++, [rand.predef], names the 10,000th outputs of both.
      ['mt19937', [3499211612, 581869302, 3890346734]],
      ['xorshift32', [723471715, 2497366906, 2064144800]],
      ['xorshift128', [3701687786, 458299110, 2500872618, 3633119408]],
      // new Random(1) of Java: −1155869325, 431529176.
      ['java-nextint', [2 ** 32 - 1155869325, 431529176]],
      // srand(1) of Microsoft C: 41, 18467, 6334.
      ['msvc-rand', [41, 18467 & 255, 6334 & 255]],
      // 65539, 393225, 1769499, 7077969, …
      ['randu-top8', [65539, 393225, 1769499, 7077969].map((x) => x >>> 23)],
      // SplitMix64 from 0: e220a8397b1dcdaf, 6e789e6aa1b965f4.
      ['splitmix64', [0x7b1dcdaf, 0xe220a839, 0xa1b965f4, 0x6e789e6a]],
      ['crc32-counter', [0x2144df1c]],
      ['murmur-counter', [0, 0x514e28b7]],
    ] as const) {
      assert.deepEqual(outputs(name, expected.length), expected, name);
    }
    // drand48() after srand48(1): 0.0416303447718782, 0.454492444728629. MRG32k3a from 12345: 0.127011122046577.
    assert.deepEqual(
      outputs('drand48-top16', 2),
      [0.0416303447718782, 0.454492444728629].map((u) => Math.floor(u * 2 ** 16)),
    );
    const [first = 0] = outputs('mrg32k3a', 1);
    assert.ok(Math.abs(first / 4294967088 - 0.127011122046577) < 1e-12);
    assert.equal(outputs('mt19937', 10_000)[9_999], 4123659995);
    assert.equal(outputs('minstd-top8', 10_000)[9_999], 1043618065 >>> 23);
    // rand() of glibc after srand(1), and its TYPE_0.
    const next = glibcRandom(31, 3);
    assert.deepEqual([next(), next(), next()], [1804289383, 846930886, 1681692777]);
    const old = [1103527590, 377401575, 662824084].map((x) => x & 255);
    assert.deepEqual(outputs('glibc-type0-low8', 3), old);
  });

  it('has registers of the stated lengths', () => {
    for (const [name, width, L] of [
      ['lfsr32', 8, 32],
      ['xorshift64', 64, 64],
      ['xoroshiro64', 32, 64],
      ['xoroshiro128+', 64, 128],
      ['xorshift128+', 64, 128],
      ['lfsr113', 32, 113],
      ['well512', 32, 512],
      ['r250', 32, 250],
      ['additive-55-24', 32, 55],
      ['additive-1279-418', 32, 1279],
    ] as const) {
      const bits = planeOf(bytesOf(generator(name), 3000 * (width / 8)), { width, place: 7 }, 3000);
      assert.equal(linearComplexityOf(bits), L, name);
    }
  });

  it('writes bits from the highest of a byte on, and words from their lowest byte on', () => {
    const [first] = outputs('mt19937', 1);
    assert.deepEqual(
      [...bytesOf(generator('mt19937'), 3)],
      [first & 255, (first >>> 8) & 255, (first >>> 16) & 255],
    );
    const bits = outputs('lfsr32', 8).join('');
    assert.deepEqual([...bytesOf(generator('lfsr32'), 1)], [Number.parseInt(bits, 2)]);
  });

  it('has its table in the documents', () => {
    const read = (name: string): string =>
      readFileSync(new URL(`../../../../docs/evidence/${name}`, import.meta.url), 'utf8');
    const expected = table(JSON.parse(read('zoo.json')) as Results);
    assert.ok(read('zoo.md').includes(expected));
  });

  it('prints the least length that each tool fails, and what another fails with less', () => {
    const passes = { failed: false, test: 'runs', p: '0.5' };
    const fails = { failed: true, test: 'Gap-16', p: '1e-9' };
    const results: Results = {
      'randu-top8': { thorough: { '1': passes, '4': fails }, practrand: { '1': fails } },
      'aes-256-ctr': { thorough: { '1': passes, '4': passes, '64': passes } },
    };
    const text = table(results);
    assert.match(
      text,
      /^\| `randu-top8` .* \| not run \| \*\*4 MiB\*\*: Gap-16 1e-9 \| \*\*1 MiB\*\*: /m,
    );
    assert.match(text, /^\| `aes-256-ctr` \(control\) .* \| passes 64 MiB \|/m);
    assert.match(text, /^\| 4 MiB \| – \| 1 \| 1 \| – \|$/m);
    assert.match(text, /^Failed by another tool with less: randu-top8\.$/m);
  });
});
