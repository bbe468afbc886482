/** The entropy of conditioned output (SP 800-90B §3.1.5) against NIST's program. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { assessConditioning, type ConditioningInput } from '#sp800-90b';
import { runCommand } from '../support/servers/run-command.ts';

interface Reference {
  readonly nIn: number;
  readonly nOut: number;
  readonly nw: number;
  readonly hIn: number;
  readonly hPrime: number | null;
  readonly outputEntropy: number;
  /** −log2(ε), printed only for nearly full entropy. */
  readonly exponent: number | null;
  readonly hOut: number;
}

const REFERENCES: readonly Reference[] = JSON.parse(
  readFileSync(join(import.meta.dirname, '../vectors/sp800-90b/ea-conditioning.json'), 'utf8'),
);

function inputOf({ nIn, nOut, nw, hIn }: Reference): ConditioningInput {
  return { inputBits: nIn, outputBits: nOut, narrowestWidth: nw, inputEntropy: hIn };
}

function assertClose(ours: number, theirs: number, name: string): void {
  assert.ok(Math.abs(ours / theirs - 1) < 1e-13, `${name}: ${ours}, expected ${theirs}`);
}

describe('assessConditioning', () => {
  for (const reference of REFERENCES) {
    const { nIn, nOut, nw, hIn, hPrime, exponent } = reference;
    it(`agrees with NIST's program on ${[nIn, nOut, nw, hIn, hPrime ?? 'vetted'].join(', ')}`, () => {
      const ours = assessConditioning(inputOf(reference), hPrime ?? undefined);
      assertClose(ours.outputEntropy, reference.outputEntropy, 'output entropy');
      assertClose(ours.hOut, reference.hOut, 'h_out');
      if (exponent !== null) assertClose(ours.fullEntropyExponent, exponent, 'exponent');
    });
  }

  it('rejects figures out of range', () => {
    const input = { inputBits: 8, outputBits: 8, narrowestWidth: 8, inputEntropy: 4 };
    const wrong: [Partial<ConditioningInput>, number | undefined, RegExp][] = [
      [{ inputBits: 0 }, undefined, /"inputBits" expected an integer from 1/],
      [{ outputBits: 2.5 }, undefined, /"outputBits" expected/],
      [{ narrowestWidth: 2 ** 32 }, undefined, /"narrowestWidth" expected/],
      [{ inputEntropy: 9 }, undefined, /"inputEntropy" expected a number above 0 and at most 8/],
      [{}, 1.1, /"hPrime" expected a number above 0 and at most 1/],
    ];
    for (const [change, hPrime, message] of wrong) {
      assert.throws(() => assessConditioning({ ...input, ...change }, hPrime), message);
    }
  });
});

describe('phm assess-conditioning', () => {
  const sizes = ['--n-in', '512', '--n-out', '256', '--nw', '256', '--h-in', '320'];
  const phm = (...args: string[]) => runCommand(['assess-conditioning', ...args]);

  it('writes h_out and how near it is to full entropy', async () => {
    const { code, stdout } = await phm(...sizes);
    assert.equal(code, 0);
    assert.match(stdout, /^epsilon +2\^-71\.\d{3}, for \(1 - epsilon\) n_out$/m);
    assert.match(stdout, /^h_out +256\.000000 bits, 1\.000000 per bit \(vetted\)$/m);
    assert.match(stdout, /^Program +phm \d+\.\d+\.\d+, phm-key-service\/\d\S+$/m);
    assert.match(stdout, /^Created +\d{4}-\d\d-\d\dT[\d:]{8}Z$/m);
  });

  it('limits a component that is not vetted', async () => {
    const { stdout } = await phm(...sizes, '--non-vetted', '--h-prime', '0.9', '--json');
    const report = JSON.parse(stdout);
    assert.match(report.software.build, /^phm-key-service\/.*\+[0-9a-f]{16}$/);
    assert.deepEqual([report.vetted, report.h_prime, report.h_out], [false, 0.9, 230.4]);
  });

  it('refuses options that do not fit', async () => {
    const failures: [string[], RegExp][] = [
      [[...sizes, '--non-vetted'], /--non-vetted and --h-prime need each other/],
      [[...sizes, '--h-prime', '1.5', '--non-vetted'], /--h-prime is 1\.5: use at most 1/],
      [[...sizes.slice(0, -1), '513'], /--h-in is 513: use at most --n-in, 512/],
    ];
    for (const [args, message] of failures) {
      const { code, stderr } = await phm(...args);
      assert.equal(code, 2);
      assert.match(stderr, message);
    }
  });
});
