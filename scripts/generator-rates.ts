/**
 * How often the verdicts fall on the generator itself: keys made with validation, as the service makes
 * them, and what the suite said of each one's stream. Writes Markdown for docs/evidence/.
 *
 *   node scripts/generator-rates.ts [keys] [threads] [control]
 *
 * It takes 4 ms a key and thread. The keys are wiped; no two runs are the same. `control` judges output of
 * AES-256-CTR instead, which shares nothing with the generator but the cipher: what falls for both is
 * a property of the tests.
 */
import { createCipheriv, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { wipe } from '../src/bytes.ts';
import { type Judgement, judgeStream } from '../src/keys/evidence.ts';
import { generateKey } from '../src/keys/generate.ts';
import { Generator, SAMPLE_BITS } from '../src/keys/generator.ts';
import type { KeyOrder, StreamTally } from '../src/keys/order.ts';
import { requireSelfTests } from '../src/keys/self-test.ts';
import { Keyring } from '../src/proof/index.ts';
import {
  judgeSecondLevel,
  PValueTally,
  type RowCounts,
  TEST_NAMES,
  type TestName,
  testLevelP,
} from '../src/sts/index.ts';

const ORDER: KeyOrder = {
  securityLevel: 256,
  modulation: 'phase',
  source: 'os',
  validate: true,
  report: true,
  acceptedMs: 0,
};

/** Levels of a test's corrected p-value at which rejections are counted. */
const LEVELS = [1e-2, 1e-3, 1e-4, 1e-5];

interface Task {
  readonly keys: number;
  readonly isControl: boolean;
}

interface Counts {
  readonly keys: number;
  readonly streams: number;
  readonly streamsPassed: number;
  readonly review: number;
  /** For each test: the streams it applied to, and of them those below each level. */
  readonly applied: Record<TestName, number>;
  readonly below: Record<TestName, number[]>;
  readonly smallestGateP: number;
  readonly rows: readonly RowCounts[];
}

function measure({ keys, isControl }: Task): Counts {
  const tally: StreamTally = { streams: 0, streamsPassed: 0 };
  const next = isControl ? judgeControl : judgeKeys();
  const rows = new PValueTally();
  const applied = Object.fromEntries(TEST_NAMES.map((name) => [name, 0])) as Counts['applied'];
  const below = Object.fromEntries(
    TEST_NAMES.map((name) => [name, LEVELS.map(() => 0)]),
  ) as Counts['below'];
  let review = 0;
  let smallestGateP = 1;
  for (let i = 0; i < keys; i++) {
    const { evidence, carrier } = next(tally);
    if (evidence.complianceLevel === 'REVIEW') review += 1;
    smallestGateP = Math.min(smallestGateP, evidence.gateP);
    for (const test of carrier.tests) {
      if (!test.applicable) continue;
      applied[test.name] += 1;
      const p = testLevelP(test.pValues);
      for (const [k, level] of LEVELS.entries()) if (p < level) below[test.name][k] += 1;
    }
    rows.add(carrier);
  }
  return { keys, ...tally, review, applied, below, smallestGateP, rows: rows.rows };
}

/** Judges one stream and counts it. */
type JudgeNext = (tally: StreamTally) => Pick<Judgement, 'evidence' | 'carrier'>;

function judgeKeys(): JudgeNext {
  requireSelfTests();
  const generator = Generator.start({ names: ['os'], mix: [], pools: [] });
  const keyring = new Keyring([{ version: 1, secret: randomBytes(32) }]);
  return (tally) => {
    const { key, evidence, report } = generateKey(generator, keyring, ORDER, tally);
    wipe(key);
    if (!evidence || !report) throw new Error('a key without its evidence');
    return { evidence, carrier: report.carrier };
  };
}

function judgeControl(tally: StreamTally): Judgement {
  const cipher = createCipheriv('aes-256-ctr', randomBytes(32), randomBytes(16));
  const judgement = judgeStream(cipher.update(Buffer.alloc(SAMPLE_BITS / 8)), null);
  tally.streams += 1;
  if (judgement.passed) tally.streamsPassed += 1;
  return judgement;
}

function sum(parts: readonly Counts[]): Counts {
  const total = (of: (part: Counts) => number) => parts.reduce((n, part) => n + of(part), 0);
  const byTest = <T>(value: (name: TestName) => T) =>
    Object.fromEntries(TEST_NAMES.map((name) => [name, value(name)])) as Record<TestName, T>;
  return {
    keys: total(({ keys }) => keys),
    streams: total(({ streams }) => streams),
    streamsPassed: total(({ streamsPassed }) => streamsPassed),
    review: total(({ review }) => review),
    smallestGateP: Math.min(...parts.map(({ smallestGateP }) => smallestGateP)),
    applied: byTest((name) => total(({ applied }) => applied[name])),
    below: byTest((name) => LEVELS.map((_, k) => total(({ below }) => below[name][k]))),
    rows: parts[0].rows.map((row, i) => ({
      ...row,
      sequences: total(({ rows }) => rows[i].sequences),
      passes: total(({ rows }) => rows[i].passes),
      histogram: row.histogram.map((_, k) => total(({ rows }) => rows[i].histogram[k])),
    })),
  };
}

/** A share of `n` with its standard error. */
function share(count: number, n: number): string {
  const p = count / n;
  const percent = (x: number) => (100 * x).toPrecision(3);
  return `${percent(p)} % ± ${percent(Math.sqrt((p * (1 - p)) / n))}`;
}

function print(counts: Counts, isControl: boolean): void {
  const { keys, streams, streamsPassed, review, smallestGateP } = counts;
  const what = isControl
    ? `${keys} streams of AES-256-CTR, each with a key of its own`
    : `${keys} keys of ${ORDER.securityLevel} bits with validation, modulation ${ORDER.modulation}`;
  const lines = [
    `${what}, Node ${process.version}:`,
    '',
    `- streams judged: ${streams}; failed by the gate: ${streams - streamsPassed};`,
    `  smallest p of the gate among those that passed: ${smallestGateP.toExponential(2)}`,
    `- \`REVIEW\`: ${review}, ${share(review, keys)}`,
    '',
    '| Test | streams | below 0.01 | share | below 10^-3 | below 10^-4 | below 10^-5 |',
    '|---|---|---|---|---|---|---|',
    ...TEST_NAMES.map((name) => {
      const [first, ...rest] = counts.below[name];
      const n = counts.applied[name];
      return `| ${[name, n, first, share(first, n), ...rest].join(' | ')} |`;
    }),
    '',
    ...secondLevelLines(counts),
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
}

function secondLevelLines({ keys, rows }: Counts): string[] {
  const verdict = judgeSecondLevel(keys, rows);
  if (!verdict.judged) return [verdict.reason];
  const failed = verdict.rows.filter((row) => row.judged && !row.passed);
  return [
    `Second level: ${verdict.passed ? 'passed' : 'FAILED'}, ${verdict.rowsFailed} of ${verdict.rowsJudged} rows failed`,
    `(${verdict.rowsOutsideInterval} outside of ±3σ, ${verdict.rowsNotUniform} with P-value_T below 0.0001).`,
    '',
    ...(failed.length === 0
      ? []
      : ['| Row that failed | passes | p of the proportion | P-value_T |', '|---|---|---|---|']),
    ...failed.map((row) => {
      if (!row.judged) throw new Error('a failed row was not judged');
      const figures = [row.proportionP, row.uniformityP].map((p) => p.toExponential(2));
      const name = `${row.test} ${row.label}`.trim();
      return `| ${[name, `${row.passes} of ${row.sequences}`, ...figures].join(' | ')} |`;
    }),
  ];
}

if (isMainThread) {
  const [keys = 1_000, threads = availableParallelism()] = process.argv.slice(2, 4).map(Number);
  const isControl = process.argv[4] === 'control';
  const shares = Array.from(
    { length: threads },
    (_, i) => Math.floor(((i + 1) * keys) / threads) - Math.floor((i * keys) / threads),
  );
  const parts = await Promise.all(
    shares.map(async (workerKeys) => {
      const workerData: Task = { keys: workerKeys, isControl };
      const worker = new Worker(new URL(import.meta.url), { workerData });
      const [counts] = (await once(worker, 'message')) as [Counts];
      return counts;
    }),
  );
  print(sum(parts), isControl);
} else {
  parentPort?.postMessage(measure(workerData as Task));
}
