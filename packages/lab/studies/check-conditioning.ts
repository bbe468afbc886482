/**
 * Compares `assessConditioning` with NIST's program ea_conditioning over a grid of arguments.
 *
 *   node packages/lab/studies/check-conditioning.ts EA_CONDITIONING
 *
 * EA_CONDITIONING is the program, built from https://github.com/usnistgov/SP800-90B_EntropyAssessment. The output is
 * docs/evidence/sp800-90b/conditioning.txt.
 */
import { execFileSync } from 'node:child_process';
import {
  assessConditioning,
  type Conditioning,
  type ConditioningInput,
} from '../../sp800-90b/src/index.ts';

/** Relative tolerance. */
const TOLERANCE = 1e-12;

const BITS = [1, 8, 63, 128, 256, 384, 512, 1_024, 65_536];

/** Entropy of an input, as shares of its bits. */
const SHARES = [0.001, 0.1, 0.5, 0.6, 0.9, 1];

/** h' of components that are not vetted. `undefined`: vetted. */
const H_PRIMES = [undefined, 0.5, undefined, 0.99, undefined, 1];

interface Printed {
  readonly outputEntropy: number;
  readonly hOut: number;
  /** −log2(ε), which the program prints only for nearly full entropy. */
  readonly exponent: number | undefined;
}

class Comparison {
  sets = 0;
  figures = 0;
  different = 0;
  largest = 0;

  add(name: string, theirs: number, ours: number): void {
    this.figures++;
    const deviation = ours === theirs ? 0 : Math.abs(ours / theirs - 1);
    if (deviation <= TOLERANCE) this.largest = Math.max(this.largest, deviation);
    else {
      this.different++;
      process.stdout.write(`DIFFERENT  ${name}: ${theirs} there, ${ours} here\n`);
    }
  }
}

function printedBy(program: string, input: ConditioningInput, hPrime?: number): Printed {
  const { inputBits, outputBits, narrowestWidth, inputEntropy } = input;
  const sizes = [inputBits, outputBits, narrowestWidth, inputEntropy].map(String);
  const words = hPrime === undefined ? ['-v', ...sizes] : ['-n', ...sizes, `${hPrime}`];
  const text = execFileSync(program, words, { encoding: 'utf8' });
  const figure = (pattern: RegExp): number => Number(pattern.exec(text)?.[1]);
  const exponent = /^epsilon = 2\^\(-([\d.e+]+)\)/m.exec(text)?.[1];
  return {
    outputEntropy: figure(/Output_Entropy\(\*\) = ([^;\s]+)/),
    hOut: figure(/h_out = (\S+)/),
    exponent: exponent === undefined ? undefined : Number(exponent),
  };
}

function compare(program: string, input: ConditioningInput, hPrime: number | undefined): void {
  const theirs = printedBy(program, input, hPrime);
  const ours: Conditioning = assessConditioning(input, hPrime);
  const name = `${Object.values(input).join(', ')}${hPrime === undefined ? '' : `, h' ${hPrime}`}`;
  comparison.sets++;
  comparison.add(`${name} Output_Entropy`, theirs.outputEntropy, ours.outputEntropy);
  comparison.add(`${name} h_out`, theirs.hOut, ours.hOut);
  const { exponent } = theirs;
  if (exponent !== undefined) comparison.add(`${name} ε`, exponent, ours.fullEntropyExponent);
}

const [program] = process.argv.slice(2);
if (program === undefined) {
  process.stderr.write('usage: node packages/lab/studies/check-conditioning.ts EA_CONDITIONING\n');
  process.exit(2);
}
const comparison = new Comparison();
for (const inputBits of BITS) {
  for (const outputBits of BITS) {
    for (const narrowestWidth of BITS) {
      const share = SHARES[comparison.sets % SHARES.length];
      const hPrime = H_PRIMES[(comparison.sets >> 1) % H_PRIMES.length];
      const inputEntropy = inputBits * share;
      compare(program, { inputBits, outputBits, narrowestWidth, inputEntropy }, hPrime);
    }
  }
}
for (const outputBits of BITS) {
  for (const share of SHARES) {
    for (const hPrime of new Set(H_PRIMES)) {
      const input = { inputBits: 2 * outputBits, outputBits, narrowestWidth: outputBits };
      compare(program, { ...input, inputEntropy: 2 * outputBits * share }, hPrime);
    }
  }
}
const { sets, figures, different, largest } = comparison;
process.stdout.write(
  `${sets} sets of arguments, ${figures} figures, ${different} different; largest relative deviation of the others ${largest.toExponential(1)}\n`,
);
process.exitCode = different === 0 ? 0 : 1;
