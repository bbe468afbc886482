/**
 * Measures the cost of evidence on the generator of plain keys, as a share of the work for the keys between two samples.
 *
 *   node bench/plain-evidence.ts [--runs N] [--save]
 *
 * Figures are medians of processor time over N rounds. Each round times plain keys and all parts of a sample in turn, on
 * one thread. The ledger is not measured: a committed key costs more, and the share is then smaller.
 */
import { randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';
import { gate } from '#sp800-22';
import { wipe } from '../src/bytes.ts';
import { monotonicMs } from '../src/clock.ts';
import { runEvidenceSuite } from '../src/keys/evidence-suite.ts';
import { generateKey } from '../src/keys/generate.ts';
import { Generator } from '../src/keys/generator.ts';
import type { KeyOrder } from '../src/keys/order.ts';
import { EVIDENCE_INTERVAL } from '../src/keys/plain-evidence.ts';
import { DEFAULT_MODULATION } from '../src/modulation/index.ts';
import { Keyring } from '../src/proof/index.ts';
import { machine, median, saveResult } from './results.ts';

const WARM_UP_ROUNDS = 5;

/** Repetitions per round: each part takes some milliseconds, because the clock of processor time is coarse. */
const KEYS = 500;
const SAMPLES = 20;
const CROSSINGS = 200;
const SUITES = 5;

interface Round {
  readonly keyUs: number;
  readonly sampleUs: number;
  readonly crossingUs: number;
  readonly suiteUs: number;
}

/** Returns this thread's processor time per repetition. Other programs disturb it less than wall time. */
function timeUs(repetitions: number, work: () => void): number {
  const before = process.threadCpuUsage();
  for (let i = 0; i < repetitions; i++) work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / repetitions;
}

function takeSample(generator: Generator): Uint8Array<ArrayBuffer> {
  const sample = generator.takeSample();
  if (!sample) throw new Error('a sample failed its screen');
  return sample;
}

/** Work on a plain key, and on the parts of a sample as the threads do them. */
function timeRound(generator: Generator, makeKey: () => void): Round {
  let sample = takeSample(generator);
  let verdict = gate(runEvidenceSuite(sample));
  const crossingUs = timeUs(CROSSINGS, () => {
    sample = structuredClone(sample, { transfer: [sample.buffer] });
    verdict = structuredClone(verdict);
  });
  if (verdict.verdict !== 'PASS') throw new Error('a sample failed the gate');
  return {
    crossingUs,
    keyUs: timeUs(KEYS, makeKey),
    sampleUs: timeUs(SAMPLES, () => void takeSample(generator)),
    suiteUs: timeUs(SUITES, () => void gate(runEvidenceSuite(sample))),
  };
}

function run(runs: number): string {
  const generator = Generator.start({ names: ['os'], mix: [], pools: [] });
  const keyring = new Keyring([{ version: 1, secret: randomBytes(32) }]);
  const order: KeyOrder = {
    securityLevel: 256,
    modulation: DEFAULT_MODULATION,
    source: 'os',
    withEvidence: false,
    report: false,
    receipt: false,
    labels: null,
    expiresMs: null,
    acceptedMs: monotonicMs(),
  };
  const makeKey = () =>
    wipe(generateKey(generator, keyring, order, { streams: 0, streamsPassed: 0 }).key);
  for (let i = 0; i < WARM_UP_ROUNDS; i++) timeRound(generator, makeKey);
  const rounds = Array.from({ length: runs }, () => timeRound(generator, makeKey));
  const of = (part: keyof Round) => median(rounds.map((one) => one[part]));
  const [keyUs, sampleUs, suiteUs] = [of('keyUs'), of('sampleUs'), of('suiteUs')];
  // From the key worker through the main thread to a suite worker, and the verdict back.
  const crossingsUs = 2 * of('crossingUs');
  const share = (sampleUs + crossingsUs + suiteUs) / (EVIDENCE_INTERVAL * keyUs);
  return `${[
    machine(),
    `processor time, medians of ${runs} rounds`,
    '',
    `a plain key of 256 bits: ${keyUs.toFixed(1)} µs`,
    `a sample, key worker (self-tests, reseed, sample, screen): ${sampleUs.toFixed(0)} µs`,
    `a sample, two crossings of threads and back: ${crossingsUs.toFixed(0)} µs`,
    `a sample, suite worker (suite, gate): ${suiteUs.toFixed(0)} µs`,
    `every ${EVIDENCE_INTERVAL.toLocaleString('en-US')} keys: ${(100 * share).toFixed(2)} % of the work for the keys`,
  ].join('\n')}\n`;
}

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '50' },
    save: { type: 'boolean', default: false },
  },
});
const text = run(Number(values.runs));
process.stdout.write(text);
if (values.save) saveResult('plain-evidence', text);
