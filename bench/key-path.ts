/**
 * Measures the processor time of one key in the thread that generates it, from the order to the row, in whole and by
 * stage.
 *
 *   node bench/key-path.ts [--keys N] [--rounds N] [--against DIR] [--save]
 *
 * Figures are medians of rounds in which all works take turns. They are processor time of the whole process, which
 * includes the helper threads of the garbage collector. `--against` loads the same modules of another checkout, built
 * beforehand, and runs both in the same rounds.
 */
import { randomBytes } from 'node:crypto';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { KeyOrder } from '../src/keys/order.ts';
import type { RecordedRow } from '../src/ledger/index.ts';
import type { LogBinding, Requester } from '../src/service/threads/messages.ts';
import { order, plainRow } from '../test/support/servers/fakes.ts';
import { machine, median, saveResult } from './results.ts';

const WARM_UP_ROUNDS = 3;

const LOG: LogBinding = {
  logId: 1,
  origin: 'phm.invalid/0123456789abcdef',
  software: 'phm/0.1.0+0123456789abcdef',
  softwareId: 1,
};
const REQUESTER: Requester = {
  accountId: 'acct_0123456789abcdef',
  apiKeyId: 'key_0123456789abcdef',
  atMs: Date.now(),
};
const NO_STREAMS = { streams: 0, streamsPassed: 0 };

type Works = ReadonlyMap<string, () => void>;

/** Loads the modules of the key's path from a checkout. The interfaces named here are the same in all of them. */
async function load(root: string) {
  const from = (path: string) => join(root, 'src', path);
  const [bytes, drbg, df, entropy, seed, generate, generator, check, id, receipt, order] =
    await Promise.all([
      import(from('bytes.ts')) as Promise<typeof import('../src/bytes.ts')>,
      import(from('drbg/index.ts')) as Promise<typeof import('../src/drbg/index.ts')>,
      import(from('drbg/block-cipher-df.ts')) as Promise<
        typeof import('../src/drbg/block-cipher-df.ts')
      >,
      import(from('entropy/index.ts')) as Promise<typeof import('../src/entropy/index.ts')>,
      import(from('entropy/seed.ts')) as Promise<typeof import('../src/entropy/seed.ts')>,
      import(from('keys/generate.ts')) as Promise<typeof import('../src/keys/generate.ts')>,
      import(from('keys/generator.ts')) as Promise<typeof import('../src/keys/generator.ts')>,
      import(from('keys/entropy-check.ts')) as Promise<
        typeof import('../src/keys/entropy-check.ts')
      >,
      import(from('keys/key-id.ts')) as Promise<typeof import('../src/keys/key-id.ts')>,
      import(from('keys/key-receipt.ts')) as Promise<typeof import('../src/keys/key-receipt.ts')>,
      import(from('keys/order.ts')) as Promise<typeof import('../src/keys/order.ts')>,
    ]);
  const [statement, modulation, proof, rows] = await Promise.all([
    import(from('keys/statement.ts')) as Promise<typeof import('../src/keys/statement.ts')>,
    import(from('modulation/index.ts')) as Promise<typeof import('../src/modulation/index.ts')>,
    import(from('proof/index.ts')) as Promise<typeof import('../src/proof/index.ts')>,
    import(from('service/threads/key-rows.ts')) as Promise<
      typeof import('../src/service/threads/key-rows.ts')
    >,
  ]);
  return {
    ...bytes,
    ...drbg,
    ...df,
    ...entropy,
    ...seed,
    ...generate,
    ...generator,
    ...check,
    ...id,
    ...receipt,
    ...order,
    ...statement,
    ...modulation,
    ...proof,
    ...rows,
  };
}

type Modules = Awaited<ReturnType<typeof load>>;

/** Returns work that generates a key and its row as the key worker does, and wipes the key. */
function keyWorks(modules: Modules): [string, () => void][] {
  const { generateKey, Generator, KeyRows, Keyring, releasedKey, wipeKey } = modules;
  const generator = Generator.start({ names: ['os'], mix: [], pools: [] });
  const keyring = new Keyring([{ version: 1, secret: randomBytes(32) }]);
  const work = (ordered: KeyOrder, log: LogBinding | null) => {
    const rows = new KeyRows(log, keyring);
    return (): void => {
      const key = generateKey(generator, keyring, ordered, { ...NO_STREAMS }, rows.hasLog);
      const released = releasedKey(key);
      const row = rows.rowOf(REQUESTER, ordered, key);
      if (row.commitment.digest.length !== 32) throw new Error('a row without its commitment');
      wipeKey(released);
    };
  };
  return [
    ['key of 256 bits and row, without log', work(order(), null)],
    ['key of 256 bits and row, with log', work(order(), LOG)],
    ['key of 256 bits and row, with receipt', work(order({ receipt: true }), LOG)],
    ['key of 128 bits and row, without log', work(order({ securityLevel: 128 }), null)],
    ['key of 384 bits and row, without log', work(order({ securityLevel: 384 }), null)],
  ];
}

/** Returns the stages of a plain key of 256 bits. */
function generationWorks(modules: Modules): [string, () => void][] {
  const { CtrDrbg, gatherSeed, Generator, Modulator, openSource, wipe } = modules;
  const { blockCipherDf, entropyCheck, repeatsBlock } = modules;
  // Older checkouts have the report alone.
  const passes = modules.failedKeyTest
    ? (key: Uint8Array) => modules.failedKeyTest(key) === undefined
    : (key: Uint8Array) => entropyCheck(key).passed;
  const os = openSource('os');
  const drbg = CtrDrbg.instantiate({ entropyInput: randomBytes(48), nonce: randomBytes(16) });
  const generator = Generator.start({ names: ['os'], mix: [], pools: [] });
  const [seed, additional, phases] = [58, 48, 64].map((length) => randomBytes(length));
  const [carrier, key] = [randomBytes(32), randomBytes(32)];
  return [
    ['  reseed of the generator', () => void generator.reseed('os')],
    ['    draw from os', () => wipe(os.draw().bytes)],
    ['    seed material, with its draw', () => wipe(gatherSeed(os, []).entropyInput)],
    ['    derivation function', () => wipe(blockCipherDf(seed, additional))],
    ['    reseed of the DRBG', () => drbg.reseed(seed, additional)],
    ['  phases: request of 64 bytes', () => wipe(drbg.generate(64))],
    ['  carrier: request of 32 bytes', () => wipe(drbg.generate(32))],
    [
      '  modulation',
      () => {
        const modulator = new Modulator('phase', phases);
        wipe(modulator.modulate(carrier, 0));
        modulator.destroy();
      },
    ],
    [
      '  exact tests of carrier and key',
      () => {
        if (!passes(carrier) || !passes(key)) throw new Error('random bytes failed');
        if (repeatsBlock(carrier)) throw new Error('random bytes repeat');
      },
    ],
  ];
}

/** Returns the stages from the key to its row. */
function recordWorks(modules: Modules): [string, () => void][] {
  const { formatKeyId, keyCommitment, keyEntry, Keyring, newKeyId } = modules;
  const keyring = new Keyring([{ version: 1, secret: randomBytes(32) }]);
  const [key, keyId, entry] = [randomBytes(32), newKeyId(), randomBytes(32)];
  const [opening, salt, keyIdText] = [randomBytes(32), randomBytes(32), formatKeyId(keyId)];
  const fixed = { keyCommitment: keyCommitment(opening, keyIdText, key), salt, sources: 'os:256' };
  const record: RecordedRow = {
    ...plainRow(),
    keyId,
    commitment: keyring.commit(key),
    accountId: REQUESTER.accountId,
    apiKeyId: REQUESTER.apiKeyId,
    receipt: { ...fixed, strengthBits: 256, software: LOG.software },
  };
  return [
    ['  proof', () => void keyring.makeProof(key)],
    ['  commitment', () => void keyring.commit(key)],
    ['  key ID', () => void newKeyId()],
    ['  key ID as text', () => void formatKeyId(keyId)],
    ['  log: commitment under the opening', () => void keyCommitment(opening, keyIdText, key)],
    ['  log: statement and its entry', () => void keyEntry(record, LOG.origin, keyIdText)],
    ['  log: MAC of the entry', () => void keyring.logMac(1, keyId, entry)],
  ];
}

function worksOf(modules: Modules): Works {
  return new Map([...keyWorks(modules), ...generationWorks(modules), ...recordWorks(modules)]);
}

/** Returns microseconds of processor time of the process for one call. */
function costOf(work: () => void, calls: number): number {
  const before = process.cpuUsage();
  for (let i = 0; i < calls; i++) work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / calls;
}

/** Returns the median costs of each work: `costs.get(title)[i]` belongs to the checkout `all[i]`. */
function measure(all: readonly Works[], calls: number, rounds: number): Map<string, number[]> {
  const found = new Map([...all[0].keys()].map((title) => [title, all.map((): number[] => [])]));
  for (let round = -WARM_UP_ROUNDS; round < rounds; round++) {
    for (const [title, costs] of found) {
      for (const [i, works] of all.entries()) {
        const cost = costOf(works.get(title) as () => void, calls);
        if (round >= 0) costs[i].push(cost);
      }
    }
  }
  return new Map([...found].map(([title, costs]) => [title, costs.map(median)]));
}

function lineOf(title: string, costs: readonly number[]): string {
  return `${title.padEnd(48)}${costs.map((us) => us.toFixed(2).padStart(9)).join('')}`;
}

const { values } = parseArgs({
  options: {
    keys: { type: 'string', default: '1000' },
    rounds: { type: 'string', default: '15' },
    against: { type: 'string' },
    save: { type: 'boolean', default: false },
  },
});
const here = resolve(import.meta.dirname, '..');
const roots = values.against === undefined ? [here] : [resolve(values.against), here];
const all = (await Promise.all(roots.map(load))).map(worksOf);
const costs = measure(all, Number(values.keys), Number(values.rounds));
const columns = roots.length === 1 ? ['µs'] : ['before', 'after'];
const text = [
  machine(),
  `medians of ${values.rounds} rounds of ${values.keys} calls, µs of processor time a call`,
  '',
  `${''.padEnd(48)}${columns.map((column) => column.padStart(9)).join('')}`,
  ...[...costs].map(([title, found]) => lineOf(title, found)),
  '',
].join('\n');
process.stdout.write(text);
if (values.save) saveResult('key-path', text);
process.exit();
