/**
 * Compares saved outputs of the non-IID track, value by value: for files that are too long to be assessed often.
 *
 *   node packages/lab/studies/compare-estimators.ts OURS THEIRS
 *
 * OURS is the output of `phm assess-entropy FILE --json`, THEIRS that of NIST's `ea_non_iid -vv FILE`.
 */
import { readFileSync } from 'node:fs';

/** Tolerance of all values; relative for values above 1. */
const TOLERANCE = 1e-10;

const ESTIMATORS: Readonly<Record<string, string>> = {
  'Most Common Value': 'most_common_value',
  Collision: 'collision',
  Markov: 'markov',
  Compression: 'compression',
  't-Tuple': 't_tuple',
  LRS: 'longest_repeated_substring',
  'MultiMCW Prediction': 'multi_mcw',
  'Lag Prediction': 'lag',
  'MultiMMC Prediction': 'multi_mmc',
  'LZ78Y Prediction': 'lz78y',
};

const FIGURES: Readonly<Record<string, string>> = {
  'Mode count': 'mode_count',
  'p-hat': 'p_hat',
  p_u: 'p_upper',
  'Sum t_i': 'sum_t',
  'X-bar': 'mean',
  'sigma-hat': 'sigma_hat',
  "X-bar'": 'mean_lower',
  P_0: 'p0',
  P_1: 'p1',
  'P_{0,0}': 'p00',
  'P_{0,1}': 'p01',
  'P_{1,0}': 'p10',
  'P_{1,1}': 'p11',
  'p-hat_max': 'p_hat_max',
  C: 'correct',
  N: 'predictions',
  P_global: 'p_global',
  "P_global'": 'p_global_upper',
  P_local: 'p_local',
  'min entropy': 'min_entropy',
};

const [oursPath, theirsPath] = process.argv.slice(2);
if (oursPath === undefined || theirsPath === undefined) {
  process.stderr.write('usage: node packages/lab/studies/compare-estimators.ts OURS THEIRS\n');
  process.exit(2);
}
const ours = JSON.parse(readFileSync(oursPath, 'utf8'));
const theirs = readFileSync(theirsPath, 'utf8');

let values = 0;
let different = 0;
let largest = 0;
function compare(name: string, expected: number, got: number): void {
  values++;
  const deviation = Math.abs(got - expected) / Math.max(1, Math.abs(expected));
  if (deviation <= TOLERANCE) largest = Math.max(largest, deviation);
  else {
    different++;
    process.stdout.write(`DIFFERENT  ${name}: ${expected} there, ${got} here\n`);
  }
}

for (const [, input, estimator, figure, value] of theirs.matchAll(
  /^(Literal|Bitstring) (.+) Estimate: (.+) = (\S+)$/gm,
)) {
  const outcomes = ours[input.toLowerCase()];
  const got = outcomes?.[ESTIMATORS[estimator]]?.[FIGURES[figure] ?? figure];
  compare(`${input} ${estimator} ${figure}`, Number(value), got);
}
for (const [, name, value] of theirs.matchAll(/^(H_original|H_bitstring) = (\S+)$/gm)) {
  compare(name, Number(value), ours[name.toLowerCase()]);
}
const [, assessed] = /^Assessed min entropy: (\S+)$/m.exec(theirs) ?? [];
compare('Assessed min entropy', Number(assessed), ours.min_entropy_per_symbol);
process.stdout.write(
  `${ours.samples} samples of ${ours.bits_per_symbol} bits: ${values} values, ${different} different; largest deviation of the others ${largest.toExponential(1)}\n`,
);
process.exitCode = different === 0 ? 0 : 1;
