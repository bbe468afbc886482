/**
 * Measures the cost of a key with evidence in a suite worker, compared with the suite alone on an existing sample and
 * with the tests of the modulation.
 *
 *   node bench/key-evidence.ts [--runs N] [--save]
 *
 * Figures are medians of N runs (at least 150) that take turns, after the engine has optimised everything.
 */
import { randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';
import { medians } from '../packages/sp800-22/bench/medians.ts';
import { monotonicMs } from '../src/clock.ts';
import { runEvidenceSuite } from '../src/keys/evidence-suite.ts';
import { generateKey } from '../src/keys/generate.ts';
import { Generator } from '../src/keys/generator.ts';
import type { KeyOrder } from '../src/keys/order.ts';
import { STREAM_TESTS } from '../src/keys/p-values.ts';
import { SAMPLE_BYTES } from '../src/keys/sample.ts';
import { DEFAULT_MODULATION } from '../src/modulation/index.ts';
import { Keyring } from '../src/proof/index.ts';
import { machine, saveResult } from './results.ts';

const MINIMUM_RUNS = 150;

function timeKeyWithEvidence(runs: number): string {
  const generator = Generator.start({ names: ['os'], mix: [], pools: [] });
  const keyring = new Keyring([{ version: 1, secret: randomBytes(32) }]);
  const order: KeyOrder = {
    securityLevel: 256,
    modulation: DEFAULT_MODULATION,
    source: 'os',
    withEvidence: true,
    report: false,
    receipt: false,
    labels: null,
    expiresMs: null,
    acceptedMs: monotonicMs(),
  };
  const bytes = randomBytes(SAMPLE_BYTES);
  const works = [
    () => void runEvidenceSuite(bytes),
    () => void runEvidenceSuite(bytes, STREAM_TESTS.modulated),
    () => void generateKey(generator, keyring, order, { streams: 0, streamsPassed: 0 }),
  ];
  const [suiteUs, screenUs, keyUs] = medians(works, runs);
  generator.close();
  keyring.destroy();
  const ratio = (keyUs / suiteUs).toFixed(2);
  return [
    `a validated key of 256 bits: ${keyUs.toFixed(0)} µs`,
    `the suite alone: ${suiteUs.toFixed(0)} µs, ratio ${ratio}`,
    `the tests of the modulation alone: ${screenUs.toFixed(0)} µs`,
  ].join('\n');
}

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '300' },
    save: { type: 'boolean', default: false },
  },
});
const runs = Math.max(MINIMUM_RUNS, Number(values.runs));
const text = `${machine()}\nmedians of ${runs} runs\n\n${timeKeyWithEvidence(runs)}\n`;
process.stdout.write(text);
if (values.save) saveResult('key-evidence', text);
