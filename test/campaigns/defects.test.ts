/**
 * The whole table of broken generators: each row under each modulation, with and without evidence, from the start and
 * from later on. The seeds take turns, so each row and variant runs with both: the modulations `phase` and `amplitude`
 * with one, the others with the other, and the next variant the other way round. A row that takes long runs under
 * `phase` only, with each seed. Each row must behave as the table says.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { resolve } from 'node:path';
import { describe, it } from 'node:test';
import { EVIDENCE_INTERVAL } from '../../src/keys/plain-evidence.ts';
import { MODULATION_TYPES } from '../../src/modulation/index.ts';
import { BATCH_KEYS, type DefectRun, runDefect } from '../keys/defect-run.ts';
import { DEFECTS, type Defect, type Sight, SOUND } from '../keys/defects.ts';
import { fullOnly, sized } from '../support/run/campaign.ts';

const SEEDS = [1, 2];
const SOUND_GENERATORS = sized({ sample: 12, full: 250 });

/** A sample has every eighth row, without those that take long. */
const ROWS = sized({
  sample: DEFECTS.filter(({ sight }, i) => i % 8 === 0 && sight !== 'tally'),
  full: DEFECTS,
});

/** Plain keys between two samples here, for short runs. Some rows run with the service's own number. */
const INTERVAL = 256;

/** Number of keys of a row that may be released before the latch, or Infinity if it need not latch. */
const WITH_EVIDENCE: Record<Sight, number> = {
  sample: 0,
  rate: 40,
  tally: 1_000,
  repeat: Infinity,
  key: 0,
  none: Infinity,
};
const PLAIN: Record<Sight, number> = {
  sample: INTERVAL,
  rate: 40 * INTERVAL,
  tally: 400 * INTERVAL,
  repeat: Infinity,
  key: 0,
  none: Infinity,
};

/** Number of keys requested from a row that need not latch. */
const ENOUGH = { evidence: 4, plain: 2 * INTERVAL };

type Variant = Pick<DefectRun, 'withEvidence' | 'soundKeys'>;

const VARIANTS: readonly Variant[] = [
  { withEvidence: true, soundKeys: null },
  { withEvidence: true, soundKeys: 2 },
  { withEvidence: false, soundKeys: null },
  { withEvidence: false, soundKeys: 2 * BATCH_KEYS },
];

const nameOf = ({ withEvidence, soundKeys }: Variant) =>
  `${withEvidence ? 'validated' : 'plain'} keys, ${soundKeys === null ? 'from startup' : 'later'}`;

/** A suite worker judges a sample between keys before its first stream; the key worker judges only such samples. */
function sightOf({ sight, plain = sight }: Defect, { withEvidence, soundKeys }: Variant): Sight {
  return withEvidence && soundKeys !== null ? sight : plain;
}

async function assertRow(defect: Defect, variant: Variant): Promise<void> {
  const limits = variant.withEvidence ? WITH_EVIDENCE : PLAIN;
  const sight = sightOf(defect, variant);
  const most = limits[sight];
  const enough = variant.withEvidence ? ENOUGH.evidence : ENOUGH.plain;
  const keys = most === Infinity ? enough : most + BATCH_KEYS;
  const offset = VARIANTS.indexOf(variant);
  const runs =
    sight === 'tally'
      ? SEEDS.map((seed) => ({ modulation: 'phase' as const, seed }))
      : MODULATION_TYPES.map((modulation, i) => ({ modulation, seed: seedAt(i + offset) }));
  for (const { modulation, seed } of runs) {
    const run = { defect, seed, modulation, ...variant, keys, interval: INTERVAL };
    const released = await runDefect(run);
    const what = `seed ${seed}, ${modulation}: ${released.keys} keys, ${released.latched?.cause}`;
    assert.equal(released.latched === null, most === Infinity, what);
    assert.ok(released.keys <= most, what);
  }
}

function seedAt(turn: number): number {
  return SEEDS[turn % SEEDS.length] ?? 1;
}

describe(`the table of broken generators, ${ROWS.length} rows, seeds ${SEEDS.join(' and ')} by turns`, () => {
  for (const variant of VARIANTS) {
    describe(nameOf(variant), () => {
      for (const defect of ROWS) {
        it(`${defect.name}: ${sightOf(defect, variant)}`, () => assertRow(defect, variant));
      }
    });
  }

  it(`latches within one interval of ${EVIDENCE_INTERVAL} plain keys`, async () => {
    for (const name of ['bytes-twice', 'blocks-twice', 'markov-0.49', 'lfsr-31']) {
      const defect = DEFECTS.find((one) => one.name === name) ?? assert.fail(name);
      const staged = { defect, seed: 1, modulation: 'phase', withEvidence: false } as const;
      const run = { ...staged, soundKeys: BATCH_KEYS, keys: 2 * EVIDENCE_INTERVAL };
      const { keys, latched } = await runDefect(run);
      assert.ok(latched && keys <= EVIDENCE_INTERVAL, `${name}: ${keys} keys`);
    }
  });

  it('latches on the second validated 384-bit key whose second half has a fixed head', async () => {
    const defect = DEFECTS.find(({ name }) => name === 'first-request-head') ?? assert.fail();
    const staged = {
      defect,
      seed: 1,
      modulation: 'phase',
      withEvidence: true,
      level: 384,
    } as const;
    const atStart = await runDefect({ ...staged, soundKeys: null, keys: 1 });
    assert.deepEqual([atStart.keys, atStart.latched?.cause], [0, 'gate']);
    const later = await runDefect({ ...staged, soundKeys: 2, keys: 100 });
    assert.deepEqual([later.keys, later.latched?.cause], [1, 'repeated_key']);
  });

  it('latches on a key that returns after a period longer than the sample', {
    skip: fullOnly,
  }, async () => {
    for (const defect of DEFECTS.filter(({ sight }) => sight === 'repeat')) {
      const staged = { defect, seed: 1, modulation: 'phase', withEvidence: false } as const;
      const { latched } = await runDefect({ ...staged, soundKeys: null, keys: 40_000 });
      assert.equal(latched?.cause, 'repeated_key', defect.name);
    }
  });
});

describe('sound generators', () => {
  it(`do not latch: ${SOUND_GENERATORS} generators, four modulations, each with 8 validated and 512 plain keys`, async () => {
    for (let seed = 1; seed <= SOUND_GENERATORS; seed++) {
      const modulation = MODULATION_TYPES[seed % MODULATION_TYPES.length];
      for (const [withEvidence, keys] of [
        [true, 8],
        [false, 512],
      ] as const) {
        const staged = { defect: SOUND, seed, modulation, withEvidence, soundKeys: null, keys };
        const released = await runDefect({ ...staged, interval: INTERVAL });
        assert.deepEqual([released.keys, released.latched], [keys, null], `seed ${seed}`);
      }
    }
  });
});

describe('scripts/defect-rates.ts', () => {
  const script = resolve(import.meta.dirname, '../../scripts/defect-rates.ts');
  const rows = (mode: string, ...given: string[]) =>
    execFileSync(process.execPath, [script, mode, ...given], { encoding: 'utf8' })
      .split('\n')
      .filter((line) => line.startsWith('|'));

  it('prints one row per defect and sound generator, two for separately judged samples', {
    skip: fullOnly,
  }, () => {
    const apart = DEFECTS.filter(({ plain }) => plain).length;
    assert.equal(rows('rates', '2').length, 2 + DEFECTS.length + apart + 1);
  });

  it('prints a row for each defect, here those whose names begin with b, and each modulation', () => {
    const names = DEFECTS.map(({ name }) => name).filter((name) => name.startsWith('b'));
    assert.ok(names.length >= 5);
    const printed = rows('runs', '1', '32', 'b').slice(2);
    assert.deepEqual(
      printed.map((line) => line.split(' | ').slice(0, 2).join(' ')),
      names.flatMap((name) => MODULATION_TYPES.map((modulation) => `| ${name} ${modulation}`)),
    );
  });
});
