/**
 * The tests find broken generators under every modulation: a few rows of the table, in each form.
 * test/campaigns/defects.test.ts runs all rows.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MODULATION_TYPES } from '../../src/modulation/index.ts';
import { BATCH_KEYS, runDefect } from './defect-run.ts';
import { judgeModulation, judgeSample } from './defect-sample.ts';
import { DEFECTS, SOUND } from './defects.ts';
import { MODULATION_DEFECTS } from './modulation-defects.ts';

const SEED = 1;
const INTERVAL = 48;

const REPRESENTATIVE = ['parity', 'markov-0.45', 'line-ends', 'fixed-head-16'];

const rows = DEFECTS.filter(({ name }) => REPRESENTATIVE.includes(name));

/** The modulation whose turn it is in a row. test/campaigns/defects.test.ts runs each row under each. */
const turn = (row: number) => MODULATION_TYPES[row % MODULATION_TYPES.length] ?? 'phase';

describe('broken generators', () => {
  for (const [i, defect] of rows.entries()) {
    it(`release no key with evidence under ${turn(i)}: ${defect.name}`, async () => {
      const run = { defect, seed: SEED, modulation: turn(i), soundKeys: 1, keys: 2 };
      const { keys, latched } = await runDefect({ ...run, withEvidence: true });
      assert.deepEqual([keys, latched?.cause], [0, 'gate']);
    });

    it(`release plain keys of at most one interval under ${turn(i + 1)}: ${defect.name}`, async () => {
      const staged = { defect, seed: SEED, modulation: turn(i + 1), withEvidence: false };
      const run = { ...staged, keys: 4 * INTERVAL, interval: INTERVAL };
      const atStart = await runDefect({ ...run, soundKeys: null });
      assert.deepEqual([atStart.keys, atStart.latched?.cause], [0, 'gate']);
      const later = await runDefect({ ...run, soundKeys: BATCH_KEYS });
      // The head of two keys is equal, so the second one is refused.
      const cause = defect.name === 'fixed-head-16' ? 'repeated_key' : 'gate';
      assert.equal(later.latched?.cause, cause);
      assert.ok(later.keys <= INTERVAL, `${later.keys} keys`);
    });
  }

  it('are detected within 300 gate verdicts if 5 % of the reseeds are broken', async () => {
    const defect = DEFECTS.find(({ name }) => name === 'some-reseeds-parity') ?? assert.fail();
    for (const withEvidence of [true, false]) {
      const staged = { defect, seed: SEED, modulation: 'phase', withEvidence } as const;
      const keys = withEvidence ? 300 : 300 * INTERVAL;
      const run = { ...staged, soundKeys: 1, keys, interval: INTERVAL };
      const released = await runDefect(run);
      assert.equal(released.latched?.cause, 'gate');
    }
  });

  it('release no key if only key requests are broken, under any modulation', async () => {
    const defect = DEFECTS.find(({ name }) => name === 'key-zeros') ?? assert.fail();
    for (const modulation of MODULATION_TYPES) {
      for (const withEvidence of [false, true]) {
        const run = { defect, seed: SEED, modulation, withEvidence, soundKeys: 1, keys: 2 };
        const { keys, latched } = await runDefect(run);
        assert.deepEqual([keys, latched?.cause], [0, withEvidence ? 'gate' : 'key_test']);
      }
    }
  });

  it('differ from sound ones, which release their keys', async () => {
    for (const withEvidence of [false, true]) {
      const keys = withEvidence ? 8 : 8 * INTERVAL;
      const staged = { defect: SOUND, seed: SEED, modulation: 'phase', withEvidence } as const;
      const run = { ...staged, soundKeys: null, keys, interval: INTERVAL };
      const released = await runDefect(run);
      assert.deepEqual([released.keys, released.latched], [keys, null]);
    }
  });

  it('pass the suite if no sample shows the defect, as the table says', () => {
    for (const name of ['mt19937', 'known-seed', 'randu']) {
      const defect = DEFECTS.find((one) => one.name === name) ?? assert.fail(name);
      assert.equal(judgeSample(defect, SEED).passed, true, name);
      assert.ok(defect.sight === 'none' && defect.because, name);
    }
  });
});

describe('requests broken by their position after a reseed', () => {
  for (const defect of DEFECTS.filter(({ request }) => request)) {
    it(`are shown only by the sample between keys: ${defect.name}`, async () => {
      assert.equal(judgeSample(defect, SEED).passed, true);
      assert.equal(judgeSample(defect, SEED, 'between keys').passed, false);
      const staged = { defect, seed: SEED, modulation: 'phase', soundKeys: 1 } as const;
      const plain = { ...staged, withEvidence: false, keys: 4 * INTERVAL, interval: INTERVAL };
      // A plain key of 256 bits is the second request: its words repeat. The first gives phases, which no key shows.
      const { latched } = await runDefect(plain);
      assert.equal(latched?.cause, defect.request === 2 ? 'repeated_key' : 'gate');
      const tested = await runDefect({ ...staged, withEvidence: true, keys: 2 });
      assert.deepEqual([tested.keys, tested.latched], [2, null]);
    });
  }
});

describe('broken modulations over a sound carrier', () => {
  it('fail or pass the quick tests of the gate as the table says', () => {
    for (const defect of MODULATION_DEFECTS) {
      if (defect.sight === 'rate') continue;
      const { quick } = judgeModulation(defect, SEED);
      assert.equal(quick.passed, defect.sight === 'none', defect.name);
    }
  });
});
