/**
 * What it costs to judge the generator of plain keys, as a share of the work for the keys between two samples.
 *
 *   node bench/judgement.ts [--runs N] [--save]
 *
 * Medians of processor time over N rounds. Each round times plain keys and all parts of a judgement in turn, on one thread.
 * The ledger is left out: a key that is committed costs more, and the share is smaller.
 */
import { randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';
import { wipe } from '../src/bytes.ts';
import { monotonicMs } from '../src/clock.ts';
import { generateKey } from '../src/keys/generate.ts';
import { Generator } from '../src/keys/generator.ts';
import type { KeyOrder } from '../src/keys/order.ts';
import { JUDGEMENT_INTERVAL } from '../src/keys/plain-judgement.ts';
import { DEFAULT_MODULATION } from '../src/modulation/index.ts';
import { Keyring } from '../src/proof/index.ts';
import { gate, runPackedSuite } from '../src/sts/index.ts';
import { machine, median, saveResult } from './results.ts';

const WARM_UP_ROUNDS = 50;
const KEYS_A_ROUND = 100;

interface Round {
  readonly keyUs: number;
  readonly sampleUs: number;
  readonly transferUs: number;
  readonly suiteUs: number;
}

/** Processor time of this thread, which other programs on the machine disturb less than wall time. */
function timeUs(work: () => void): number {
  const before = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(before);
  return user + system;
}

/** A plain key, and the parts of a judgement as its threads do them. */
function timeRound(generator: Generator, makeKeys: () => void): Round {
  const keyUs = timeUs(makeKeys) / KEYS_A_ROUND;
  let sample: Uint8Array<ArrayBuffer> | null = null;
  const sampleUs = timeUs(() => {
    sample = generator.takeSample();
  });
  const bytes = sample ?? new Uint8Array();
  let moved = bytes;
  let verdict = gate(runPackedSuite(bytes));
  const transferUs = timeUs(() => {
    for (let i = 0; i < 2; i++) {
      moved = structuredClone(moved, { transfer: [moved.buffer] });
      verdict = structuredClone(verdict);
    }
  });
  const suiteUs = timeUs(() => {
    verdict = gate(runPackedSuite(moved));
    wipe(moved);
  });
  if (verdict.verdict !== 'PASS') throw new Error('a sample failed the gate');
  return { keyUs, sampleUs, transferUs, suiteUs };
}

function run(runs: number): string {
  const generator = Generator.start({ names: ['os'], mix: [], pools: [] });
  const keyring = new Keyring([{ version: 1, secret: randomBytes(32) }]);
  const order: KeyOrder = {
    securityLevel: 256,
    modulation: DEFAULT_MODULATION,
    source: 'os',
    validate: false,
    report: false,
    acceptedMs: monotonicMs(),
  };
  const makeKeys = () => {
    for (let i = 0; i < KEYS_A_ROUND; i++)
      wipe(generateKey(generator, keyring, order, { streams: 0, streamsPassed: 0 }).key);
  };
  for (let i = 0; i < WARM_UP_ROUNDS; i++) timeRound(generator, makeKeys);
  const rounds = Array.from({ length: runs }, () => timeRound(generator, makeKeys));
  const of = (part: keyof Round) => median(rounds.map((one) => one[part]));
  const [keyUs, sampleUs, transferUs, suiteUs] = [
    of('keyUs'),
    of('sampleUs'),
    of('transferUs'),
    of('suiteUs'),
  ];
  const share = (sampleUs + transferUs + suiteUs) / (JUDGEMENT_INTERVAL * keyUs);
  return `${[
    machine(),
    `processor time, medians of ${runs} rounds`,
    '',
    `a plain key of 256 bits: ${keyUs.toFixed(1)} µs`,
    `a judgement, key worker (self-tests, reseed, sample, screen): ${sampleUs.toFixed(0)} µs`,
    `a judgement, two crossings of threads and back: ${transferUs.toFixed(0)} µs`,
    `a judgement, suite worker (suite, gate, wiping): ${suiteUs.toFixed(0)} µs`,
    `every ${JUDGEMENT_INTERVAL.toLocaleString('en-US')} keys: ${(100 * share).toFixed(2)} % of the work for the keys`,
  ].join('\n')}\n`;
}

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '200' },
    save: { type: 'boolean', default: false },
  },
});
const text = run(Number(values.runs));
process.stdout.write(text);
if (values.save) saveResult('judgement', text);
