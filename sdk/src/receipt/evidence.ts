/** Checks a `nist_report` against the digest in a statement. */
import type { NistReport } from '../types.ts';
import { sha256, utf8 } from './hash.ts';
import { canonicalJson, encodeBase64, type KeyStatement } from './tlog.ts';
import type { Findings } from './verdict.ts';

/** The members of `nist_report` that the digest covers. */
export type EvidenceReport = Pick<
  NistReport,
  'tests' | 'modulation_tests' | 'gate' | 'evidence_definition'
>;

/** The tests of each stream with their numbers of p-values, in the order in which the ledger stores them. */
const CARRIER: readonly (readonly [name: string, pValues: number])[] = [
  ['frequency', 1],
  ['block_frequency', 1],
  ['cumulative_sums', 2],
  ['runs', 1],
  ['longest_run', 1],
  ['rank', 1],
  ['dft', 1],
  ['non_overlapping_template', 148],
  ['overlapping_template', 1],
  ['universal', 1],
  ['approximate_entropy', 1],
  ['random_excursions', 8],
  ['random_excursions_variant', 18],
  ['serial', 2],
  ['linear_complexity', 1],
];
const MODULATED = CARRIER.filter(([name]) =>
  ['frequency', 'block_frequency', 'runs', 'longest_run'].includes(name),
);

/** P-values are stored in units of 10^-9, rounded down; a test that does not apply has this value. */
const UNITS = 1e9;
const NOT_APPLICABLE = 0xffff_ffff;

/** Adds what the report shows. */
export async function checkEvidence(
  { problems, shown, notShown }: Findings,
  { evidence }: KeyStatement,
  report: EvidenceReport | undefined,
): Promise<void> {
  if (report === undefined) {
    if (evidence !== null) {
      notShown.push('Which p-values the statistical tests had: no nist_report was given.');
    }
  } else if (evidence === null) {
    problems.push('The receipt states no statistical tests, so the nist_report is not of its key.');
  } else if ((await digestOf(report)) === evidence.digest) {
    shown.push('The given nist_report has the gate and the p-values that the receipt states.');
  } else {
    problems.push('The given nist_report is not the one of this receipt: its digest differs.');
  }
}

/** Returns `evidence.digest` of a report, or null if it has not the form of a report. */
async function digestOf(report: EvidenceReport): Promise<string | null> {
  const pValues = packPValues(report);
  const { gate, evidence_definition: definition } = report;
  if (pValues === null || !Number.isSafeInteger(definition)) return null;
  if (!Number.isFinite(gate?.p_value) || !/^(?:PASS|FAIL)$/.test(gate.verdict)) return null;
  const content = {
    definition,
    gate_p_value: gate.p_value,
    verdict: gate.verdict,
    p_values: encodeBase64(pValues),
  };
  const digest = await sha256(utf8(canonicalJson(content)));
  return `sha256:${Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}

/** Returns the p-values as the ledger stores them, in 4 bytes each, least significant first; null for another form. */
function packPValues(report: EvidenceReport): Uint8Array | null {
  const units = [...unitsOf(report.tests, CARRIER), ...unitsOf(report.modulation_tests, MODULATED)];
  if (units.includes(null)) return null;
  const packed = new DataView(new ArrayBuffer(units.length * 4));
  for (const [i, unit] of units.entries()) packed.setUint32(i * 4, unit ?? 0, true);
  return new Uint8Array(packed.buffer);
}

function unitsOf(
  tests: EvidenceReport['tests'],
  places: typeof CARRIER,
): readonly (number | null)[] {
  if (!Array.isArray(tests)) return [null];
  return places.flatMap(([name, length]) => {
    const found = tests.find((test) => test?.name === name);
    if (!found?.applicable) return new Array<number>(length).fill(NOT_APPLICABLE);
    const { p_values: values } = found;
    if (!Array.isArray(values) || values.length !== length) return [null];
    return values.map(wholeUnits);
  });
}

/** Rounds down. The product alone may round up past `p`. */
function wholeUnits(p: number): number | null {
  if (!(p >= 0 && p <= 1)) return null;
  const units = Math.floor(p * UNITS);
  return units / UNITS > p ? units - 1 : units;
}
