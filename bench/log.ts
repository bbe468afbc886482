/**
 * Measures the log: proofs in a large tree, and the cost of appending runs of entries to it.
 *
 *   node bench/log.ts [--entries 10000000] [--proofs 10000] [--data-dir D] [--save]
 *
 * The tiles lie in one file per level, and each proof reads its tiles from there, as a server reads them
 * from its database. All proofs are verified against the root before any is timed. Building 10^7 entries
 * takes half a minute and 320 MB of disk.
 */
import { closeSync, mkdtempSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { TILE_WIDTH } from '#tlog';
import {
  consistencyProof,
  type Edge,
  EMPTY_ROOT,
  type Extension,
  extendTree,
  inclusionProof,
  leafHash,
  rootAt,
  type TileSource,
  verifyConsistency,
  verifyInclusion,
} from '../src/log/index.ts';
import { machine, median, saveResult } from './results.ts';

const HASH_BYTES = 32;
const TILE_BYTES = TILE_WIDTH * HASH_BYTES;
/** Entries appended at once while the tree is built. */
const CHUNK = 25_600;
const RUN_LENGTHS = [1, 100, 2_500];
const RUN_ROUNDS = 200;
const CHECKED = 500;

/** Entry `index` of the synthetic log. */
function entryAt(index: number): Buffer {
  const entry = Buffer.alloc(HASH_BYTES, 0x5a);
  entry.writeDoubleBE(index);
  return entry;
}

function entriesFrom(start: number, count: number): Buffer[] {
  return Array.from({ length: count }, (_, i) => entryAt(start + i));
}

/** A log whose tiles lie in files. */
class FileLog implements TileSource {
  readonly #folder: string;
  readonly #files: number[] = [];
  size = 0;
  root: Uint8Array = EMPTY_ROOT;
  reads = 0;

  constructor(folder: string) {
    this.#folder = folder;
  }

  append(count: number): void {
    const { size, root, tiles } = extendTree(this.edge(), entriesFrom(this.size, count));
    for (const { level, index, hashes } of tiles) {
      writeSync(this.#file(level), hashes, 0, hashes.length, index * TILE_BYTES);
    }
    this.size = size;
    this.root = root;
  }

  edge(): Edge {
    const tiles: Uint8Array[] = [];
    for (let level = 0; TILE_WIDTH ** level <= this.size; level++) {
      const hashes = Math.floor(this.size / TILE_WIDTH ** level);
      tiles.push(this.#read(level, Math.floor(hashes / TILE_WIDTH), hashes % TILE_WIDTH));
    }
    return { size: this.size, root: this.root, tiles };
  }

  async tile(level: number, index: number, width: number): Promise<Uint8Array> {
    this.reads += 1;
    return this.#read(level, index, width);
  }

  close(): void {
    for (const file of this.#files) closeSync(file);
  }

  #read(level: number, index: number, width: number): Uint8Array {
    // Only full tiles of level 0 are stored: the rest comes from entries.
    if (level === 0 && (index + 1) * TILE_WIDTH > this.size) {
      return Buffer.concat(entriesFrom(index * TILE_WIDTH, width).map(leafHash));
    }
    const hashes = Buffer.alloc(width * HASH_BYTES);
    readSync(this.#file(level), hashes, 0, hashes.length, index * TILE_BYTES);
    return hashes;
  }

  #file(level: number): number {
    this.#files[level] ??= openSync(join(this.#folder, `level-${level}`), 'w+');
    return this.#files[level];
  }
}

interface Figures {
  /** Milliseconds of each proof. */
  readonly times: readonly number[];
  /** Tiles read by each proof. */
  readonly reads: readonly number[];
  readonly length: number;
}

/** Checks some proofs against the root, then times all. */
async function measure(
  log: FileLog,
  proofs: number,
  prove: (at: number) => Promise<Buffer[]>,
  check: (at: number, proof: Buffer[]) => Promise<boolean>,
): Promise<Figures> {
  const positions = Array.from({ length: proofs }, () => Math.floor(Math.random() * log.size));
  for (const at of positions.slice(0, CHECKED)) {
    if (!(await check(at, await prove(at)))) throw new Error(`the proof at ${at} is wrong`);
  }
  const times: number[] = [];
  const reads: number[] = [];
  let length = 0;
  for (const at of positions) {
    log.reads = 0;
    const from = performance.now();
    length = (await prove(at)).length;
    times.push(performance.now() - from);
    reads.push(log.reads);
  }
  return { times, reads, length };
}

function describeProofs(name: string, { times, reads, length }: Figures): string {
  const worst = times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.999)] ?? 0;
  return (
    `${name.padEnd(12)} ${median(times).toFixed(3)} ms median, ${worst.toFixed(3)} ms at 99.9 %, ` +
    `at most ${Math.max(...reads)} tiles, ${length} hashes`
  );
}

/** Returns milliseconds of `extendTree` for one run of entries at the edge of the tree. */
function timeRun(edge: Edge, entries: readonly Uint8Array[]): number {
  const from = performance.now();
  const extension: Extension = extendTree(edge, entries);
  const elapsed = performance.now() - from;
  if (extension.size !== edge.size + entries.length) throw new Error('wrong size');
  return elapsed;
}

function describeRuns(log: FileLog): string[] {
  const edge = log.edge();
  return RUN_LENGTHS.map((length) => {
    const entries = entriesFrom(log.size, length);
    const times = Array.from({ length: RUN_ROUNDS }, () => timeRun(edge, entries));
    const perEntry = (1000 * median(times)) / length;
    return `run of ${String(length).padStart(5)}  ${median(times).toFixed(3)} ms, ${perEntry.toFixed(2)} µs an entry`;
  });
}

function memoryMb(): number {
  globalThis.gc?.();
  return process.memoryUsage().rss / 2 ** 20;
}

async function report(log: FileLog, proofs: number): Promise<string> {
  const size = log.size;
  const root = await rootAt(log, size);
  if (Buffer.compare(root, log.root) !== 0) throw new Error('the tiles have another root');
  const before = memoryMb();
  const inclusion = await measure(
    log,
    proofs,
    (index) => inclusionProof(log, index, size),
    async (index, proof) => verifyInclusion({ entry: entryAt(index), index, size, root, proof }),
  );
  const consistency = await measure(
    log,
    proofs,
    (from) => consistencyProof(log, from, size),
    async (from, proof) =>
      verifyConsistency({ from, fromRoot: await rootAt(log, from), to: size, toRoot: root, proof }),
  );
  const grown = memoryMb() - before;
  return [
    machine(),
    `${size.toLocaleString('en')} entries, ${proofs.toLocaleString('en')} proofs of each kind`,
    '',
    describeProofs('inclusion', inclusion),
    describeProofs('consistency', consistency),
    `resident memory ${before.toFixed(0)} MB before the proofs, ${grown.toFixed(0)} MB more after them`,
    '',
    ...describeRuns(log),
    '',
  ].join('\n');
}

const { values } = parseArgs({
  options: {
    entries: { type: 'string', default: '10000000' },
    proofs: { type: 'string', default: '10000' },
    'data-dir': { type: 'string', default: tmpdir() },
    save: { type: 'boolean', default: false },
  },
});
const folder = mkdtempSync(join(values['data-dir'], 'bench-log-'));
const log = new FileLog(folder);
try {
  const entries = Number(values.entries);
  while (log.size < entries) log.append(Math.min(CHUNK, entries - log.size));
  const text = await report(log, Number(values.proofs));
  process.stdout.write(text);
  if (values.save) saveResult('log', text);
} finally {
  log.close();
  rmSync(folder, { recursive: true });
}
