/**
 * Measures the generation path without HTTP and ledger: keys for each mix of entropy sources, the cost of its
 * parts, and the DRBG as a stream.
 *
 *   node bench/drbg.ts [--runs N] [--keys N] [--save]
 *
 * One thread generates the keys; pin it with taskset -c 1. Mixes take turns, and figures are medians of N runs
 * of `--keys` keys. Between runs pools are refilled with existing bytes, so that only taking a draw is
 * measured. The draws that this machine's timing noise delivers are measured separately, in its own thread, as in
 * the server.
 */
import { randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';
import { wipe } from '../src/bytes.ts';
import { CtrDrbg, MAX_REQUEST_BITS } from '../src/drbg/index.ts';
import {
  BackgroundSource,
  isBackground,
  openSource,
  type Pool,
  PooledSource,
  type SourceName,
} from '../src/entropy/index.ts';
import { allocatePool, PoolFiller } from '../src/entropy/pool.ts';
import { generateKey, sampleStream } from '../src/keys/generate.ts';
import { Generator } from '../src/keys/generator.ts';
import { type KeyOrder, SECURITY_LEVELS, type SecurityLevel } from '../src/keys/order.ts';
import { SAMPLE_BYTES } from '../src/keys/sample.ts';
import { DEFAULT_MODULATION } from '../src/modulation/index.ts';
import { Keyring } from '../src/proof/index.ts';
import { machine, median, saveResult } from './results.ts';

const WARM_UP_RUNS = 5;
/** A 384-bit key takes two draws. */
const POOL_DRAWS = 2_048;
const JITTER_SECONDS = 3;

interface Mix {
  readonly title: string;
  readonly source: SourceName;
  readonly mix: readonly SourceName[];
}

const MIXES: readonly Mix[] = [
  { title: 'os', source: 'os', mix: [] },
  { title: 'os + quantum-simulator', source: 'quantum-simulator', mix: [] },
  { title: 'os + jitter (pool)', source: 'jitter', mix: [] },
  { title: 'os + jitter + qrng (pools)', source: 'qrng', mix: ['jitter'] },
];

const keyring = new Keyring([{ version: 1, secret: randomBytes(32) }]);

class FullPool {
  readonly pool: Pool;
  readonly #filler: PoolFiller;

  constructor(name: SourceName) {
    const memory = allocatePool(POOL_DRAWS);
    this.pool = { name, kind: 'noise', creditBitsPerDraw: 192, isSeparate: false, memory };
    this.#filler = new PoolFiller(memory);
    this.#filler.setState('delivering');
  }

  refill(): void {
    while (this.#filler.waiting < POOL_DRAWS) this.#filler.put(randomBytes(32), null);
  }
}

function makeKeys(generator: Generator, order: KeyOrder, keys: number): void {
  for (let i = 0; i < keys; i++) {
    const tally = { streams: 0, streamsPassed: 0 };
    const { key, hashProof } = generateKey(generator, keyring, order, tally);
    if (!hashProof.startsWith('proof_')) throw new Error('a key without its proof');
    wipe(key);
  }
}

/** Work to time, and untimed preparation before each run. */
interface Work {
  readonly run: () => void;
  readonly prepare?: () => void;
}

/** Returns microseconds per call of each work: medians over runs in which the works take turns. */
function time(works: readonly Work[], calls: number, runs: number): number[] {
  const microseconds: number[][] = works.map(() => []);
  for (let round = -WARM_UP_RUNS; round < runs; round++) {
    for (const [i, { run, prepare }] of works.entries()) {
      prepare?.();
      const start = process.hrtime.bigint();
      run();
      const us = Number(process.hrtime.bigint() - start) / 1000 / calls;
      if (round >= 0) microseconds[i].push(us);
    }
  }
  return microseconds.map(median);
}

/** Returns work that generates `keys` keys with one mix of sources, in a separate generator. */
function keyWork({ source, mix }: Mix, securityLevel: SecurityLevel, keys: number): Work {
  const names = [source, ...mix];
  const full = names.filter(isBackground).map((name) => new FullPool(name));
  const generator = Generator.start({ names, mix, pools: full.map(({ pool }) => pool) });
  const order: KeyOrder = {
    securityLevel,
    modulation: DEFAULT_MODULATION,
    source,
    withEvidence: false,
    report: false,
    receipt: false,
    labels: null,
    expiresMs: null,
    acceptedMs: 0,
  };
  return {
    prepare: () => {
      for (const pool of full) pool.refill();
    },
    run: () => makeKeys(generator, order, keys),
  };
}

function mixLines(keys: number, runs: number): string[] {
  const columns = SECURITY_LEVELS.map((level) =>
    time(
      MIXES.map((mix) => keyWork(mix, level, keys)),
      keys,
      runs,
    ),
  );
  return [
    `${'µs a key (keys/s)'.padEnd(28)}${SECURITY_LEVELS.map((level) => `${level} bits`.padStart(20)).join('')}`,
    ...MIXES.map(({ title }, i) => {
      const cells = columns.map((us) => `${us[i].toFixed(1)} (${(1e6 / us[i]).toFixed(0)})`);
      return `${title.padEnd(28)}${cells.map((cell) => cell.padStart(20)).join('')}`;
    }),
  ];
}

/** Times the parts of a 256-bit key from `os`, and the streams. */
function partLines(keys: number, runs: number): string[] {
  const os = openSource('os');
  const drbg = CtrDrbg.instantiate({ entropyInput: randomBytes(48), nonce: randomBytes(16) });
  const generator = Generator.start({ names: ['os'], mix: [], pools: [] });
  const key = randomBytes(32);
  const repeat = (calls: number, work: () => void) => (): void => {
    for (let i = 0; i < calls; i++) work();
  };
  const parts: [string, () => void][] = [
    ['draw of os, 48 bytes', () => wipe(os.draw().bytes)],
    ['reseed, with that draw', () => void generator.reseed('os')],
    ['request of 64 bytes', () => wipe(drbg.generate(64))],
    ['request of 32 bytes', () => wipe(drbg.generate(32))],
    ['proof and commitment', () => void [keyring.makeProof(key), keyring.commit(key)]],
  ];
  const us = time(
    parts.map(([, work]) => ({ run: repeat(keys, work) })),
    keys,
    runs,
  );
  const streams: [string, () => void][] = [
    ['DRBG, requests of 2^19 bits', () => wipe(drbg.generate(MAX_REQUEST_BITS / 8))],
    ['modulated stream, as sampled', () => wipe(sampleStream(generator, DEFAULT_MODULATION))],
  ];
  const streamUs = time(
    streams.map(([, work]) => ({ run: repeat(10, work) })),
    10,
    runs,
  );
  const bytes = [MAX_REQUEST_BITS / 8, SAMPLE_BYTES];
  os.close();
  generator.close();
  return [
    ...parts.map(([title], i) => `${title.padEnd(32)}${us[i].toFixed(2).padStart(8)} µs`),
    '',
    ...streams.map(
      ([title], i) => `${title.padEnd(32)}${(bytes[i] / streamUs[i]).toFixed(0).padStart(8)} MB/s`,
    ),
  ];
}

/** Measures the draws per second of this machine's timing noise, taken as they come. */
async function jitterLine(): Promise<string> {
  const settings = {
    jitterCredit: true,
    remoteCredit: false,
    device: null,
    ibmQuantum: null,
    qrng: null,
  };
  const source = new BackgroundSource('jitter', settings, () => {});
  const pooled = new PooledSource(source.pool);
  const takeAll = (): number => {
    let draws = 0;
    for (; ; draws++) {
      try {
        wipe(pooled.draw().bytes);
      } catch {
        return draws;
      }
    }
  };
  const pause = () => new Promise((resolve) => setTimeout(resolve, 5));
  while (takeAll() === 0) await pause();
  const end = performance.now() + 1000 * JITTER_SECONDS;
  let draws = 0;
  while (performance.now() < end) {
    await pause();
    draws += takeAll();
  }
  await source.close();
  return `jitter, in its own thread: ${(draws / JITTER_SECONDS).toFixed(0)} draws/s of 192 bits`;
}

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '50' },
    keys: { type: 'string', default: '500' },
    save: { type: 'boolean', default: false },
  },
});
const [runs, keys] = [Number(values.runs), Math.min(Number(values.keys), POOL_DRAWS / 2)];
const lines = [
  machine(),
  `medians of ${runs} runs of ${keys} keys`,
  '',
  ...mixLines(keys, runs),
  '',
  ...partLines(keys, runs),
  '',
  await jitterLine(),
];
const text = `${lines.join('\n')}\n`;
process.stdout.write(text);
if (values.save) saveResult('drbg', text);
