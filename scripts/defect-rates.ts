/**
 * What becomes of broken generators: the table of test/keys/defects.ts, measured.
 *
 *     node scripts/defect-rates.ts runs [validated keys] [plain keys]   keys released of so many
 *     node scripts/defect-rates.ts rates [seeds]                        samples that fail the gate
 *
 * `runs` asks a generator with each defect for keys, under each modulation, with validation and
 * without, with the defect from the start and from later on. `rates` judges one sample of 2^20 bits
 * of each defect for each of the seeds 1, 2, 3, … All figures are the same in every run.
 */

import { MODULATION_TYPES } from '../src/modulation/index.ts';
import { type DefectRun, type Released, runDefect } from '../test/keys/defect-run.ts';
import { judgeSample, type Sighting } from '../test/keys/defect-sample.ts';
import { DEFECTS, type Defect } from '../test/keys/defects.ts';

const SEED = 1;

/** Sound keys before a defect that begins later: validated ones, plain ones. */
const SOUND_KEYS = { validated: 3, plain: 100 };

/** What stopped generation, in one word. */
const CAUSES: readonly (readonly [pattern: RegExp, cause: string])[] = [
  [/start-up streams/, 'start'],
  [/two streams in a row/, 'gate'],
  [/biased/, 'bias'],
  [/exact tests/, 'exact'],
  [/repeats/, 'repeat'],
];

const print = (line: string) => process.stdout.write(`${line}\n`);

function causeOf(reason: string): string {
  const cause = CAUSES.find(([pattern]) => pattern.test(reason))?.[1];
  if (!cause) throw new Error(`no word for the cause: ${reason}`);
  return cause;
}

/** `40, 33 ready` for keys that were released, and what stopped the rest. */
function cell({ keys, ready, latched }: Released, validate: boolean): string {
  const released = validate && keys > 0 ? `${keys}, ${ready} ready` : String(keys);
  return latched === null ? released : `${released}: ${causeOf(latched)}`;
}

function printRuns(validatedKeys: number, plainKeys: number): void {
  const variants: Pick<DefectRun, 'validate' | 'soundKeys' | 'keys'>[] = [
    { validate: true, soundKeys: null, keys: validatedKeys },
    { validate: true, soundKeys: SOUND_KEYS.validated, keys: validatedKeys },
    { validate: false, soundKeys: null, keys: plainKeys },
    { validate: false, soundKeys: SOUND_KEYS.plain, keys: plainKeys },
  ];
  print(`Keys released of ${validatedKeys} validated and ${plainKeys} plain ones, seed ${SEED}.`);
  print(
    `Later: after ${SOUND_KEYS.validated} sound keys with validation, ${SOUND_KEYS.plain} without.`,
  );
  print('');
  print(
    '| Defect | Modulation | validated, from start | validated, later | plain, from start | plain, later |',
  );
  print('|---|---|---|---|---|---|');
  for (const defect of DEFECTS) {
    for (const modulation of MODULATION_TYPES) {
      const cells = variants.map((variant) =>
        cell(runDefect({ defect, seed: SEED, modulation, ...variant }), variant.validate),
      );
      print(`| ${[defect.name, modulation, ...cells].join(' | ')} |`);
    }
  }
}

function printRates(seeds: number): void {
  print(`Samples of 2^20 bits, seeds 1 to ${seeds}, not modulated.`);
  print('');
  print(
    '| Defect | expected | failed the gate | smallest p in most | median p of the gate | largest |',
  );
  print('|---|---|---|---|---|---|');
  for (const defect of DEFECTS) {
    const sightings = Array.from({ length: seeds }, (_, i) => judgeSample(defect, i + 1));
    print(`| ${[defect.name, ...rateCells(defect, sightings)].join(' | ')} |`);
  }
}

function rateCells({ sight }: Defect, sightings: readonly Sighting[]): string[] {
  const ps = sightings.map(({ gateP }) => gateP).sort((a, b) => a - b);
  const failed = sightings.filter(({ passed }) => !passed).length;
  const figure = (p: number) => (p === 0 ? '0' : p.toExponential(1));
  return [
    sight,
    `${failed} of ${sightings.length}`,
    mostFrequent(sightings.map(({ smallest }) => smallest)),
    figure(ps[ps.length >> 1]),
    figure(ps[ps.length - 1]),
  ];
}

function mostFrequent(names: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  const [[name, count]] = [...counts].sort(([, a], [, b]) => b - a);
  return `${name} (${count})`;
}

const [mode, ...counts] = process.argv.slice(2);
const [first, second] = counts.map(Number);
if (mode === 'runs') printRuns(first ?? 40, second ?? 10_000);
else if (mode === 'rates') printRates(first ?? 100);
else throw new TypeError(`"mode" expected runs or rates, got ${mode}`);
