/**
 * Measures how many keys broken generators release: the table of test/keys/defects.ts.
 *
 *     node scripts/defect-rates.ts runs [validated keys] [plain keys] [row]   keys released of so many
 *     node scripts/defect-rates.ts rates [seeds] [row]                        samples that fail the gate
 *     node scripts/defect-rates.ts modulation [seeds]                         the same for broken modulations
 *
 * `runs` requests keys from a generator with each defect, under each modulation, with and without evidence,
 * with the defect from the start or from later on. `rates` judges one sample of 2^20 bits per defect and seed
 * (1, 2, 3, …): the sample of a stream, and the sample between keys if it differs. `modulation` does the same for
 * defects of the modulation over a sound carrier. `row` selects the defects whose name begins with it. All figures
 * except the duration are the same in every run.
 */
import { judgeSecondLevel, NIST_PARAMETERS } from '#sp800-22';
import { evidenceTally } from '../src/keys/evidence-suite.ts';
import { SAMPLE_BITS } from '../src/keys/sample.ts';
import { MODULATION_TYPES } from '../src/modulation/index.ts';
import { type DefectRun, type Released, runDefect } from '../test/keys/defect-run.ts';
import {
  judgeModulation,
  judgeSample,
  type SampleKind,
  type Sighting,
} from '../test/keys/defect-sample.ts';
import { DEFECTS, type Defect, SOUND } from '../test/keys/defects.ts';
import { MODULATION_DEFECTS } from '../test/keys/modulation-defects.ts';

const SEED = 1;

/** Number of sound keys before a defect that begins later. */
const SOUND_KEYS = { evidence: 3, plain: 100 };

const print = (line: string) => process.stdout.write(`${line}\n`);

/** Returns, for example, `40, 33 ready` for the released keys, and the cause that stopped the rest. */
function cell({ keys, ready, latched }: Released, withEvidence: boolean): string {
  const released = withEvidence && keys > 0 ? `${keys}, ${ready} ready` : String(keys);
  return latched === null ? released : `${released}: ${latched.cause}`;
}

async function printRuns(evidenceKeys: number, plainKeys: number, row: string): Promise<void> {
  const variants: Pick<DefectRun, 'withEvidence' | 'soundKeys' | 'keys'>[] = [
    { withEvidence: true, soundKeys: null, keys: evidenceKeys },
    { withEvidence: true, soundKeys: SOUND_KEYS.evidence, keys: evidenceKeys },
    { withEvidence: false, soundKeys: null, keys: plainKeys },
    { withEvidence: false, soundKeys: SOUND_KEYS.plain, keys: plainKeys },
  ];
  print(`Keys released of ${evidenceKeys} validated and ${plainKeys} plain ones, seed ${SEED}.`);
  print(
    `Later: after ${SOUND_KEYS.evidence} sound keys with validation, ${SOUND_KEYS.plain} without.`,
  );
  print('');
  print(
    '| Defect | Modulation | validated, from start | validated, later | plain, from start | plain, later |',
  );
  print('|---|---|---|---|---|---|');
  for (const defect of DEFECTS.filter(({ name }) => name.startsWith(row))) {
    for (const modulation of MODULATION_TYPES) {
      const cells: string[] = [];
      for (const variant of variants) {
        const released = await runDefect({ defect, seed: SEED, modulation, ...variant });
        cells.push(cell(released, variant.withEvidence));
      }
      print(`| ${[defect.name, modulation, ...cells].join(' | ')} |`);
    }
  }
}

function printRates(seeds: number, row: string): void {
  print(
    `Samples of 2^20 bits before modulation, seeds 1 to ${seeds}; the second level of all of them.`,
  );
  print('');
  print(
    '| Defect | sample | expected | failed the gate | smallest p in most | median p of the gate | largest | second level |',
  );
  print('|---|---|---|---|---|---|---|---|');
  for (const defect of [...DEFECTS, SOUND].filter(({ name }) => name.startsWith(row))) {
    printRate(defect, 'stream', seeds);
    if (defect.plain) printRate(defect, 'between keys', seeds);
  }
}

function printRate(defect: Defect, kind: SampleKind, seeds: number): void {
  const { name, sight, plain = sight } = defect;
  const sightings = eachSeed(seeds, (seed) => judgeSample(defect, seed, kind));
  const figures = [...rateCells(sightings), secondLevel(sightings)];
  print(`| ${[name, kind, kind === 'stream' ? sight : plain, ...figures].join(' | ')} |`);
}

function printModulation(seeds: number): void {
  print(`Broken modulations (phase) over a sound carrier, 2^20 bits, seeds 1 to ${seeds}.`);
  print('');
  print(
    '| Defect | expected | failed the gate | smallest p in most | median p of the gate | largest | failed the whole suite |',
  );
  print('|---|---|---|---|---|---|---|');
  for (const defect of MODULATION_DEFECTS) {
    const both = eachSeed(seeds, (seed) => judgeModulation(defect, seed));
    const quick = both.map((one) => one.quick);
    const whole = rateCells(both.map((one) => one.whole))[0];
    print(`| ${[defect.name, defect.sight, ...rateCells(quick), whole].join(' | ')} |`);
  }
}

function eachSeed<T>(seeds: number, judge: (seed: number) => T): T[] {
  return Array.from({ length: seeds }, (_, i) => judge(i + 1));
}

function rateCells(sightings: readonly Sighting[]): string[] {
  const ps = sightings.map(({ gateP }) => gateP).sort((a, b) => a - b);
  const failed = sightings.filter(({ passed }) => !passed).length;
  const figure = (p: number) => (p === 0 ? '0' : p.toExponential(1));
  return [
    `${failed} of ${sightings.length}`,
    mostFrequent(sightings.map(({ smallest }) => smallest)),
    figure(ps[ps.length >> 1]),
    figure(ps[ps.length - 1]),
  ];
}

/** Returns the verdict of SP 800-22 §4.2 on all samples together. */
function secondLevel(sightings: readonly Sighting[]): string {
  const tally = evidenceTally();
  for (const { report } of sightings) tally.add(report);
  const verdict = judgeSecondLevel(tally.sequences, tally.rows, SAMPLE_BITS, NIST_PARAMETERS);
  if (!verdict.judged) return 'too few';
  const { rowsFailed } = verdict;
  return rowsFailed === 0 ? 'passed' : `${rowsFailed} ${rowsFailed === 1 ? 'row' : 'rows'} failed`;
}

/** Returns the name that most samples share, with its count, or `any`. */
function mostFrequent(names: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  const [[name, count]] = [...counts].sort(([, a], [, b]) => b - a);
  return 2 * count > names.length ? `${name} (${count})` : 'any';
}

const [mode, ...given] = process.argv.slice(2);
const counts = given.filter((one) => /^\d+$/.test(one)).map(Number);
const row = given.find((one) => !/^\d+$/.test(one)) ?? '';
const [first, second] = counts;
const started = performance.now();
if (mode === 'runs') await printRuns(first ?? 40, second ?? 10_000, row);
else if (mode === 'rates') printRates(first ?? 100, row);
else if (mode === 'modulation') printModulation(first ?? 100);
else throw new TypeError(`"mode" expected runs, rates or modulation, got ${mode}`);
print('');
print(`${((performance.now() - started) / 1000).toFixed(0)} s, Node ${process.version}`);
