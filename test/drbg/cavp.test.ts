import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { runCavpFile } from '../../src/cli/selftest/cavp.ts';
import { referenceGenerate, referenceInstantiate, referenceReseed } from './reference-ctr-drbg.ts';

const FILES = ['no_reseed', 'pr_false', 'pr_true'];

function readVectors(name: string): string {
  return readFileSync(
    new URL(`../vectors/drbg/CTR_DRBG.${name}.excerpt.rsp`, import.meta.url),
    'utf8',
  );
}

/** Returns one vector in the format of the file, for a section that declares these lengths. */
function file(lines: readonly string[], parameters: Readonly<Record<string, string>> = {}): string {
  const declared = {
    PredictionResistance: 'False',
    EntropyInputLen: '256',
    NonceLen: '128',
    PersonalizationStringLen: '0',
    AdditionalInputLen: '0',
    ReturnedBitsLen: '128',
    ...parameters,
  };
  const header = Object.entries(declared).map(([name, value]) => `[${name} = ${value}]`);
  return ['# made here', '[AES-256 use df]', ...header, '', ...lines, ''].join('\n');
}

const VECTOR = [
  'COUNT = 0',
  `EntropyInput = ${'00'.repeat(32)}`,
  `Nonce = ${'00'.repeat(16)}`,
  'PersonalizationString = ',
  'AdditionalInput = ',
  'AdditionalInput = ',
  `ReturnedBits = ${'00'.repeat(16)}`,
];

function without(prefix: string): string[] {
  return VECTOR.filter((line) => !line.startsWith(prefix));
}

function replaced(prefix: string, ...lines: string[]): string[] {
  return VECTOR.flatMap((line) => (line.startsWith(prefix) ? lines : [line]));
}

describe('CAVP CTR_DRBG response files', () => {
  for (const name of FILES) {
    it(`confirm two vectors of each AES-256 use df group: CTR_DRBG.rsp, ${name}`, () => {
      const { passed, failed, failures } = runCavpFile(readVectors(name));
      assert.deepEqual({ passed, failed, failures }, { passed: 32, failed: 0, failures: [] });
    });
  }

  it('include groups that this DRBG does not support', () => {
    const unsupported = [
      '3KeyTDEA use df',
      'AES-128 use df',
      'AES-192 use df',
      '3KeyTDEA no df',
      'AES-128 no df',
      'AES-192 no df',
      'AES-256 no df',
    ];
    for (const name of FILES) {
      const text = readVectors(name);
      const sections = [...text.matchAll(/^\[([^=\]]+)\]$/gm)].map(([, section]) => section);
      const skipped = sections.filter((section) => section !== 'AES-256 use df');
      assert.deepEqual(skipped, unsupported, name);
      assert.equal(runCavpFile(text).skipped, unsupported.length, name);
    }
  });

  it('are read with their published CRLF line ends', () => {
    const published = readVectors('pr_true').replaceAll('\n', '\r\n');
    assert.equal(runCavpFile(published).passed, 32);
  });

  it('lead to a count and description of a wrong output', () => {
    const report = runCavpFile(file(VECTOR));
    assert.equal(report.passed, 0);
    assert.equal(report.failed, 1);
    const [failure] = report.failures;
    assert.equal(failure.section, 'AES-256 use df');
    assert.equal(failure.count, 0);
    assert.equal(failure.expected, '00'.repeat(16));
    assert.match(failure.got, /^[0-9a-f]{32}$/);
    const corrected = file(replaced('ReturnedBits', `ReturnedBits = ${failure.got}`));
    assert.equal(runCavpFile(corrected).passed, 1);
  });

  it('match the reference generator with prediction resistance, in either line order', () => {
    const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });
    const hex = (value: Uint8Array) => Buffer.from(value).toString('hex');
    const call = fc.tuple(bytes(32), bytes(24));
    fc.assert(
      fc.property(
        bytes(32),
        bytes(16),
        bytes(8),
        call,
        call,
        fc.boolean(),
        (e, n, p, a, b, entropyFirst) => {
          const state = referenceInstantiate(e, n, p);
          const [, expected] = [a, b].map(([entropy, additional]) => {
            referenceReseed(state, entropy, additional);
            return referenceGenerate(state, 40, Buffer.alloc(0));
          });
          const callLines = ([entropy, additional]: [Uint8Array, Uint8Array]) => {
            const lines = [
              `AdditionalInput = ${hex(additional)}`,
              `EntropyInputPR = ${hex(entropy)}`,
            ];
            return entropyFirst ? lines.reverse() : lines;
          };
          const text = file(
            [
              'COUNT = 0',
              `EntropyInput = ${hex(e)}`,
              `Nonce = ${hex(n)}`,
              `PersonalizationString = ${hex(p)}`,
              ...callLines(a),
              ...callLines(b),
              `ReturnedBits = ${hex(expected)}`,
            ],
            {
              PredictionResistance: 'True',
              PersonalizationStringLen: '64',
              AdditionalInputLen: '192',
              ReturnedBitsLen: '320',
            },
          );
          assert.deepEqual(runCavpFile(text), { passed: 1, failed: 0, skipped: 0, failures: [] });
        },
      ),
      { numRuns: 50 },
    );
  });

  const malformed: readonly (readonly [claim: string, text: string, message: RegExp])[] = [
    ['an empty file', '', /^line 1: the file contains no vectors$/],
    ['only comments', '# CAVS 14.3\n', /the file contains no vectors/],
    ['a section without vectors', file([]), /the file contains no vectors/],
    ['a line of an unknown kind', file(['hello']), /^line 10: expected a section, a parameter or/],
    [
      'a value that is not hexadecimal',
      file(replaced('Nonce', 'Nonce = xyz')),
      /^line 12: expected/,
    ],
    ['an unknown name', file(replaced('Nonce', 'Nance = 00')), /^line 12: unknown name Nance$/],
    ['a value before any vector', file(['Nonce = 00']), /^line 10: Nonce is outside a vector$/],
    [
      'a vector before any section',
      VECTOR.join('\n'),
      /^line 1: a vector is before the first section/,
    ],
    [
      'a parameter before any section',
      '[NonceLen = 128]',
      /parameter NonceLen is before the first section/,
    ],
    ['a missing line', file(without('Nonce')), /^line 15: expected 1 lines of Nonce, got 0$/],
    [
      'a repeated line',
      file(replaced('AdditionalInput', ...Array(3).fill('AdditionalInput = '))),
      /got 6$/,
    ],
    [
      'a reseed without its additional input',
      file(
        replaced(
          'PersonalizationString',
          'PersonalizationString = ',
          `EntropyInputReseed = ${'00'.repeat(32)}`,
        ),
      ),
      /AdditionalInputReseed, got 0$/,
    ],
    [
      'a value with another length than declared',
      file(replaced('Nonce', `Nonce = ${'00'.repeat(15)}`)),
      /Nonce has 120 bits, but NonceLen is 128$/,
    ],
    [
      'an odd number of digits',
      file(replaced('Nonce', `Nonce = ${'0'.repeat(31)}`), { NonceLen: '124' }),
      /Nonce has 124 bits/,
    ],
    [
      'a gap in the numbering',
      file(replaced('COUNT', 'COUNT = 1')),
      /^line 10: expected COUNT = 0$/,
    ],
    [
      'a file cut inside a vector',
      file(VECTOR.slice(0, 4)),
      /the vector that starts at line 10 has no ReturnedBits$/,
    ],
    ['a vector cut by the next', file([...VECTOR.slice(0, 4), ...VECTOR]), /has no ReturnedBits$/],
    [
      'entropy below the security strength',
      file(replaced('EntropyInput', `EntropyInput = ${'00'.repeat(16)}`), {
        EntropyInputLen: '128',
      }),
      /^line 10: the vector cannot be run: "entropyInput" expected/,
    ],
    [
      'prediction resistance without its entropy',
      file(VECTOR, { PredictionResistance: 'True' }),
      /expected 2 lines of EntropyInputPR, got 0$/,
    ],
  ];
  for (const [claim, text, message] of malformed) {
    it(`are refused: ${claim}`, () => {
      assert.throws(() => runCavpFile(text), { name: 'TypeError', message });
    });
  }
});
