/**
 * Loaded into a server by `--import`: alters keys at one stage of their path, in every thread, once a file exists. Known answers
 * and samples stay as they are, so that only what watches each key can find it. The query names `stage`, `fault` and `when`,
 * the file.
 */

/**
 * Loaded into a server by `--import`: alters keys at one stage of their path, in every thread, once a file exists. Known answers
 * and samples stay as they are, so that only what watches each key can find it. The query names `stage`, `fault` and `when`,
 * the file.
 */
import fs, { existsSync, readSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { isMainThread } from 'node:worker_threads';
import { Sealer } from '#sealing';
import { Generator } from '../../../src/keys/generator.ts';
import { Modulator } from '../../../src/modulation/index.ts';
import { Keyring } from '../../../src/proof/index.ts';
import { KeyQueue } from '../../../src/service/requests/queue.ts';
import { ByteReader, ByteWriter } from '../../../src/service/threads/packed-bytes.ts';
import { loadIntoWorkers } from './preload.ts';

/** What happens to a key. A stuck bit or byte has another value than that of the first key, so that the first is altered. */
const FAULTS = {
  'a stuck bit': (key: Uint8Array) => {
    stuckBit ??= ~key[3] & 0x10;
    key[3] = (key[3] & ~0x10) | stuckBit;
  },
  'a stuck byte': (key: Uint8Array) => {
    stuckByte ??= ~key[5] & 0xff;
    key[5] = stuckByte;
  },
  'a constant half': (key: Uint8Array) => {
    for (let i = key.length / 2; i < key.length; i++) key[i] = CONSTANT[i];
  },
  'one bit flipped': (key: Uint8Array) => {
    key[key.length - 1] ^= 1;
  },
  'all keys the same but for one bit': (key: Uint8Array) => {
    const changed = made++ % (8 * key.length);
    for (let i = 0; i < key.length; i++) key[i] = CONSTANT[i];
    key[changed >> 3] ^= 1 << (changed & 7);
  },
  'all keys the same': (key: Uint8Array) => {
    for (let i = 0; i < key.length; i++) key[i] = CONSTANT[i];
  },
} as const satisfies Readonly<Record<string, (key: Uint8Array) => void>>;

export type FaultName = keyof typeof FAULTS;

/** Bytes that pass the exact tests of a key. */
const CONSTANT = Buffer.from(
  'a092ca63688d842f8dd779e8145e5097fdb0cc1001fd22942831393682a5ab3cea7c5f3dcfe07e8a4e3de07c966b96d6',
  'hex',
);
let made = 0;
let stuckBit: number | undefined;
let stuckByte: number | undefined;

const MAX_KEY_BYTES = 48;
const query = new URL(import.meta.url).searchParams;
const when = query.get('when') ?? '';
const isOn = () => existsSync(when);

/** Alters a key, if the fault has begun. */
function alter(key: Uint8Array): void {
  if (isOn()) FAULTS[query.get('fault') as FaultName](key);
}

/** Where it happens. */
const STAGES = {
  'carrier, before it is copied': () => {
    const { request } = Generator.prototype;
    Generator.prototype.request = function (this: Generator, lengthBytes: number) {
      const output = request.call(this, lengthBytes);
      if (lengthBytes <= 32) alter(output);
      return output;
    };
  },
  'carrier lost in the modulation': () => {
    const { modulateInPlace } = Modulator.prototype;
    Modulator.prototype.modulateInPlace = function (carrier: Buffer, firstWord: number) {
      if (carrier.length <= MAX_KEY_BYTES && firstWord < 2_000_000_000 && isOn()) carrier.fill(0);
      modulateInPlace.call(this, carrier, firstWord);
    };
  },
  'key, after its modulation': () => {
    const { modulateInPlace } = Modulator.prototype;
    Modulator.prototype.modulateInPlace = function (carrier: Buffer, firstWord: number) {
      modulateInPlace.call(this, carrier, firstWord);
      if (carrier.length <= MAX_KEY_BYTES) alter(carrier);
    };
  },
  'key, after its proof': () => {
    const { commit } = Keyring.prototype;
    Keyring.prototype.commit = function (key: Uint8Array, version?: number) {
      alter(key);
      return commit.call(this, key, version);
    };
  },
  'key, after its commitment': () => {
    const { commitOthers } = Keyring.prototype;
    Keyring.prototype.commitOthers = function (key: Uint8Array) {
      alter(key);
      return commitOthers.call(this, key);
    };
  },
  'key, before its seal': () => {
    const { seal } = Sealer.prototype;
    Sealer.prototype.seal = function (order) {
      alter(order.key);
      return seal.call(this, order);
    };
  },
  'message, as a thread writes it': () => {
    const { move } = ByteWriter.prototype;
    ByteWriter.prototype.move = function (secrets) {
      alter(secrets.key);
      move.call(this, secrets);
    };
  },
  'message, as a thread reads it': () => {
    const { takeSecrets } = ByteReader.prototype;
    ByteReader.prototype.takeSecrets = function (...lengths) {
      const secrets = takeSecrets.apply(this, lengths);
      alter(secrets.key);
      return secrets;
    };
  },
  'answer, as its text is written': () => {
    const original = Buffer.prototype.toString;
    Buffer.prototype.toString = function (this: Buffer, ...all: Parameters<typeof original>) {
      const isKey = all[0] === 'hex' && new Error().stack?.includes('key-answer.ts');
      if (!isKey) return original.apply(this, all);
      const key = Buffer.from(this);
      alter(key);
      return original.apply(key, all);
    } as typeof original;
  },
  /** The answers of two requests at a time are swapped as a whole: key, ID, proof and digest. */
  'answers of two requests, swapped': () => {
    const { submit } = KeyQueue.prototype;
    let waiting: PromiseWithResolvers<unknown> | null = null;
    KeyQueue.prototype.submit = async function (this: KeyQueue, ...all: Parameters<typeof submit>) {
      const result = await submit.apply(this, all);
      if (all[0].kind !== 'generate' || !isOn()) return result;
      const other = waiting;
      waiting = other ? null : Promise.withResolvers();
      if (!other) {
        mine.push(result);
        return waiting?.promise;
      }
      other.resolve(result);
      return mine.pop();
    } as unknown as typeof submit;
    const mine: unknown[] = [];
  },
  'os, one block': () => replaceDraws(['first']),
  'os, two blocks in turn': () => replaceDraws(['first', 'second']),
} as const satisfies Readonly<Record<string, () => void>>;

export type StageName = keyof typeof STAGES;

/** Gives the same draws of 48 bytes in turn. */
function replaceDraws(names: readonly string[]): void {
  let draws = 0;
  const read = readSync;
  fs.readSync = ((...all: Parameters<typeof read>) => {
    const got = read(...all);
    const [, target] = all;
    if (target.byteLength === 48 && isOn()) {
      const name = names[draws++ % names.length];
      const block = Buffer.from(name.padEnd(48, ' a block of this source'));
      new Uint8Array(target.buffer, target.byteOffset, 48).set(block);
    }
    return got;
  }) as typeof read;
  syncBuiltinESMExports();
}

/** Returns the URL for `--import`. */
export function keyFaultUrl(stage: StageName, fault: FaultName, file: string): string {
  const url = new URL(import.meta.url);
  url.search = new URLSearchParams({ stage, fault, when: file }).toString();
  return url.href;
}

const stage = query.get('stage');
if (stage !== null) {
  STAGES[stage as StageName]();
  if (isMainThread) loadIntoWorkers(import.meta.url);
}
