/**
 * Runs a broken generator through the generation path and counts the released keys: keys with evidence as in a
 * suite worker, plain keys as in the key worker with its evidence on the generator.
 */
import { wipe } from '../../src/bytes.ts';
import { generateKey } from '../../src/keys/generate.ts';
import { Generator } from '../../src/keys/generator.ts';
import type { Defect as LatchReason } from '../../src/keys/latch.ts';
import type { KeyOrder, SecurityLevel } from '../../src/keys/order.ts';
import { type JudgeSample, PlainGenerator } from '../../src/keys/plain-generator.ts';
import { judgeSample, screenLiveCarrier } from '../../src/keys/self-test.ts';
import type { CommitOutcome, LedgerStore, MeteredRequest } from '../../src/ledger/index.ts';
import type { ModulationType } from '../../src/modulation/index.ts';
import { KeyWorker } from '../../src/service/threads/key-worker.ts';
import type { KeyTask, KeyTaskResult } from '../../src/service/threads/messages.ts';
import { keyring, order, parts } from '../support/servers/fakes.ts';
import { BrokenDrbg } from './broken-drbg.ts';
import type { Defect } from './defects.ts';

export interface DefectRun {
  readonly defect: Defect;
  readonly seed: number;
  readonly modulation: ModulationType;
  readonly withEvidence: boolean;
  /** Number of sound keys before the defect begins; null if it exists from the start. */
  readonly soundKeys: number | null;
  /** Number of keys requested after it begins. */
  readonly keys: number;
  /** Length of the keys in bits; default 256. */
  readonly level?: SecurityLevel;
  /** Plain keys between two samples; default as in the service. */
  readonly interval?: number;
}

export interface Released {
  /** Number of keys released while the generator was broken. */
  readonly keys: number;
  /** Number of them labelled CERTIFICATION_READY. */
  readonly ready: number;
  /** The defect that stopped generation, or null. */
  readonly latched: LatchReason | null;
}

/** Number of plain keys that are requested together and committed together. */
export const BATCH_KEYS = 16;

const REQUESTER = { accountId: 'a', apiKeyId: 'k', atMs: Date.UTC(2026, 10, 22) };

const REPEATED_KEY = { cause: 'repeated_key', test: 'commitment', detail: 'staged' } as const;

export async function runDefect(run: DefectRun): Promise<Released> {
  const { defect, seed, soundKeys, keys, withEvidence, modulation, level = 256 } = run;
  const drbg = new BrokenDrbg(defect, seed, soundKeys === null);
  const generator = new Generator(parts({ drbg }));
  generator.takeScreen();
  const wish = order({ withEvidence, modulation, securityLevel: level });
  const release = withEvidence ? tested(generator, wish) : plain(generator, wish, run.interval);
  if (soundKeys !== null) await release(soundKeys);
  drbg.broken = true;
  const released = await release(keys);
  return { ...released, latched: generator.latched };
}

/** Requests keys until `keys` are released or the process has latched. */
type Release = (keys: number) => Promise<Omit<Released, 'latched'>>;

/** Runs a suite worker: it judges a first stream, then one per key. */
function tested(generator: Generator, wish: KeyOrder): Release {
  const ledger = new Commitments();
  screenLiveCarrier(generator);
  return async (keys) => {
    const released = { keys: 0, ready: 0 };
    while (released.keys < keys && !generator.latched) {
      const verdict = releaseTested(generator, wish, ledger);
      if (verdict === null) break;
      released.keys += 1;
      if (verdict === 'CERTIFICATION_READY') released.ready += 1;
    }
    return released;
  };
}

/** Returns the verdict on the next key, or null if none is released. */
function releaseTested(generator: Generator, wish: KeyOrder, ledger: Commitments) {
  try {
    const { key, evidence, commitment } = generateKey(generator, keyring, wish, {
      streams: 0,
      streamsPassed: 0,
    });
    wipe(key);
    if (ledger.isNew(commitment.digest)) return evidence?.complianceLevel ?? null;
    generator.latch(REPEATED_KEY);
    return null;
  } catch (error) {
    if (generator.latched) return null;
    throw error;
  }
}

/** Runs the key worker; this thread judges its samples. */
function plain(generator: Generator, wish: KeyOrder, interval: number | undefined): Release {
  const judge: JudgeSample = (sample, answer) => {
    queueMicrotask(() => answer(judgeSample(sample)));
  };
  const judged = new PlainGenerator(generator, judge, interval === undefined ? {} : { interval });
  const worker = new KeyWorker(judged, keyring, ledgerOf(new Commitments()));
  const task: KeyTask = { kind: 'generate', requester: REQUESTER, order: wish, idempotency: null };
  return async (keys) => {
    let released = 0;
    while (released < keys && !generator.latched) {
      const tasks = new Array<KeyTask>(Math.min(BATCH_KEYS, keys - released)).fill(task);
      const { results } = await worker.run({ id: 1, tasks, failures: [] });
      released += results.filter((result) => wasReleased(result, generator)).length;
    }
    return { keys: released, ready: 0 };
  };
}

function wasReleased(result: KeyTaskResult, generator: Generator): boolean {
  if (result.kind === 'generated') return true;
  // The next key is requested after the verdict.
  if (result.kind === 'evidence_pending') return false;
  if (result.kind === 'failed' && generator.latched) return false;
  throw new Error(`a key was neither released nor refused by the latch: ${result.kind}`);
}

/** The part of a ledger that knows its keys. */
class Commitments {
  readonly #seen = new Set<string>();

  isNew(digest: Uint8Array): boolean {
    const text = Buffer.from(digest).toString('latin1');
    if (this.#seen.has(text)) return false;
    this.#seen.add(text);
    return true;
  }
}

function ledgerOf(commitments: Commitments): LedgerStore {
  const usage = { month: 1, used: 1, quota: null };
  const outcome = ({ keys: [row] }: MeteredRequest): CommitOutcome =>
    row && commitments.isNew(row.commitment.digest)
      ? { kind: 'committed', usage }
      : { kind: 'repeated_key' };
  return {
    commit: async (requests: readonly MeteredRequest[]) => requests.map(outcome),
  } as unknown as LedgerStore;
}
