/**
 * Measures what the transparency log adds to the key worker's work for a plain key: the commitment, the statement
 * with its digests, and the MAC of the entry.
 *
 *   node bench/key-receipt.ts [--keys N] [--runs N] [--save]
 *
 * Figures are medians of runs of N keys that take turns, after the engine has optimised everything.
 */
import { hash, randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';
import { medians } from '../packages/sp800-22/bench/medians.ts';
import { generateKey } from '../src/keys/generate.ts';
import { Generator } from '../src/keys/generator.ts';
import { commitToKey } from '../src/keys/key-receipt.ts';
import type { KeyOrder } from '../src/keys/order.ts';
import { keyEntry, rowDigest } from '../src/keys/statement.ts';
import type { LedgerRow, RecordedRow } from '../src/ledger/index.ts';
import { DEFAULT_MODULATION } from '../src/modulation/index.ts';
import { Keyring } from '../src/proof/index.ts';
import type { LogBinding, Requester } from '../src/service/messages.ts';
import { KeyRows } from '../src/service/threads/key-rows.ts';
import { softwareName } from '../src/version.ts';
import { machine, saveResult } from './results.ts';

const LOG: LogBinding = {
  logId: 1,
  origin: 'phm.invalid/0123456789abcdef',
  software: softwareName(),
  softwareId: 1,
};
const REQUESTER: Requester = {
  accountId: 'acct_0123456789abcdef',
  apiKeyId: 'key_0123456789abcdef',
  atMs: Date.now(),
};
const ORDER: KeyOrder = {
  securityLevel: 256,
  modulation: DEFAULT_MODULATION,
  source: 'os',
  withEvidence: false,
  report: false,
  receipt: false,
  acceptedMs: 0,
};

const generator = Generator.start({ names: ['os'], mix: [], pools: [] });
const keyring = new Keyring([{ version: 1, secret: randomBytes(32) }]);
const rows = new KeyRows(LOG, keyring);

function makeKey(hasLog: boolean): void {
  const tally = { streams: 0, streamsPassed: 0 };
  const generated = generateKey(generator, keyring, ORDER, tally, hasLog);
  if (!hasLog) return;
  const { receipt } = rows.rowOf(REQUESTER, ORDER, generated);
  if (receipt?.pending?.entry.length !== 32) throw new Error('a key without its entry');
}

type Columns = Omit<LedgerRow, 'receipt'>;

function columnsOf({ keyId, commitment }: Pick<Columns, 'keyId' | 'commitment'>): Columns {
  return {
    keyId,
    commitment,
    securityLevel: 256,
    modulation: ORDER.modulation,
    source: 'os',
    createdMs: REQUESTER.atMs,
    latencyUs: 1_234,
    entropyBits: 254.83,
    entropyJobId: null,
    evidence: null,
    sealed: null,
  };
}

const key = randomBytes(32);
const { keyId, commitment } = generateKey(generator, keyring, ORDER, {
  streams: 0,
  streamsPassed: 0,
});
const sources = [{ name: 'os', creditBits: 256 }] as const;
const { receipt: fixed } = commitToKey(key, keyId, sources);
const record: RecordedRow = {
  ...columnsOf({ keyId, commitment }),
  accountId: REQUESTER.accountId,
  apiKeyId: REQUESTER.apiKeyId,
  receipt: { ...fixed, strengthBits: 256, software: LOG.software },
};
const entry = hash('sha256', 'entry', 'buffer');

const { values } = parseArgs({
  options: {
    keys: { type: 'string', default: '2000' },
    runs: { type: 'string', default: '60' },
    save: { type: 'boolean', default: false },
  },
});
const keys = Number(values.keys);

const WORKS: Record<string, () => void> = {
  'a plain key of 256 bits, without a log': () => makeKey(false),
  'a plain key of 256 bits, with its entry': () => makeKey(true),
  'of that: opening, salt and commitment': () => void commitToKey(key, keyId, sources),
  'of that: the statement and its hash': () => void keyEntry(record, LOG.origin),
  'of that: the digest of the row, in the statement': () => void rowDigest(record),
  'of that: the MAC': () => void keyring.logMac(1, keyId, entry),
};
const works = Object.values(WORKS).map((work) => () => {
  for (let i = 0; i < keys; i++) work();
});
const us = medians(works, Number(values.runs)).map((figure) => figure / keys);
const lines = Object.keys(WORKS).map((name, i) => `${name}: ${us[i].toFixed(1)} µs`);
const text = `${machine()}\nmedians of ${values.runs} runs of ${keys} keys\n\n${lines.join('\n')}\nthe log adds ${(us[1] - us[0]).toFixed(1)} µs a key\n`;
process.stdout.write(text);
if (values.save) saveResult('key-receipt', text);
generator.close();
keyring.destroy();
