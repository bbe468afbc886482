/** Runs a broken generator through the generation path and counts the keys it got released. */
import { wipe } from '../../src/bytes.ts';
import { generateKey } from '../../src/keys/generate.ts';
import { Generator } from '../../src/keys/generator.ts';
import type { Defect as LatchReason } from '../../src/keys/latch.ts';
import type { KeyOrder } from '../../src/keys/order.ts';
import { screenLiveCarrier } from '../../src/keys/self-test.ts';
import type { ModulationType } from '../../src/modulation/index.ts';
import { BrokenDrbg } from './broken-drbg.ts';
import type { Defect } from './defects.ts';
import { keyring, order, parts } from './fakes.ts';

export interface DefectRun {
  readonly defect: Defect;
  readonly seed: number;
  readonly modulation: ModulationType;
  readonly validate: boolean;
  /** Sound keys before the defect begins; null when it is there from the start. */
  readonly soundKeys: number | null;
  /** Keys asked for once it has begun. */
  readonly keys: number;
}

export interface Released {
  /** Keys released while the generator was broken. */
  readonly keys: number;
  /** Of them, those that were called CERTIFICATION_READY. */
  readonly ready: number;
  /** What stopped generation, or null. */
  readonly latched: LatchReason | null;
}

/** What the ledger adds: it refuses a key that it has seen. */
const REPEATED = {
  cause: 'repeated_key',
  test: 'commitment',
  detail: 'a new key repeats one in the ledger',
} as const;

/** The start of a suite worker, which judges a first stream, or that of a key worker. */
function start(drbg: BrokenDrbg, validate: boolean): Generator {
  const generator = new Generator(parts({ drbg }));
  generator.takeScreen();
  if (validate) screenLiveCarrier(generator);
  return generator;
}

export function runDefect({ defect, seed, soundKeys, keys, ...wanted }: DefectRun): Released {
  const drbg = new BrokenDrbg(defect, seed, soundKeys === null);
  const generator = start(drbg, wanted.validate);
  const seen = new Set<string>();
  const wish = order(wanted);
  for (let i = 0; i < (soundKeys ?? 0); i++) release(generator, wish, seen);
  drbg.broken = true;
  let ready = 0;
  let released = 0;
  for (; released < keys; released++) {
    const key = release(generator, wish, seen);
    if (!key) break;
    if (key.complianceLevel === 'CERTIFICATION_READY') ready += 1;
  }
  return { keys: released, ready, latched: generator.latched };
}

/** The next key's verdict, or null when none was released. */
function release(
  generator: Generator,
  wish: KeyOrder,
  seen: Set<string>,
): { readonly complianceLevel: string | null } | null {
  if (generator.latched !== null) return null;
  try {
    const { key, evidence } = generateKey(generator, keyring, wish, {
      streams: 0,
      streamsPassed: 0,
    });
    const text = Buffer.from(key).toString('latin1');
    wipe(key);
    if (seen.has(text)) generator.latch(REPEATED);
    seen.add(text);
    return generator.latched === null
      ? { complianceLevel: evidence?.complianceLevel ?? null }
      : null;
  } catch (error) {
    if (generator.latched === null) throw error;
    return null;
  }
}
