/** Entries under versions of the master secret that only some processes have: none is refused that a server made. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, it } from 'node:test';
import { deriveLogMacKeys, LogMacKeys, parseMasterSecret } from '../../../src/proof/index.ts';
import { restampStranded } from '../../../src/service/offline.ts';
import { LogLedger } from '../../support/ledgers/log-ledger.ts';

let ledger: LogLedger;
beforeEach(async () => {
  ledger = await LogLedger.create();
});
afterEach(() => ledger.remove());

async function run(...args: string[]): Promise<void> {
  const { code, stderr } = await ledger.run(...args);
  assert.equal(code, 0, stderr);
}

/** Moves stranded entries as a server does that has version 1 alone. Returns the IDs of those that stay. */
async function restamped(): Promise<string[]> {
  const secret = readFileSync(join(ledger.dataDir, 'master.key'), 'utf8');
  const macs = new LogMacKeys(deriveLogMacKeys(parseMasterSecret(secret)));
  const log = await ledger.openLog();
  await restampStranded(ledger.store, { log, macs, version: 1 });
  const left = await ledger.store.strandedEntries(log.logId, 10);
  return left.map(({ entryId }) => Buffer.from(entryId).toString('hex'));
}

function addWaiting(logId: number, version: number): string {
  const entryId = randomBytes(16);
  ledger.execute(
    "INSERT INTO log_pending VALUES (?, ?, 'key', ?, ?, ?)",
    entryId,
    logId,
    randomBytes(32),
    randomBytes(32),
    version,
  );
  return entryId.toString('hex');
}

it('leaves an entry of a closed log to a server with its version, and moves those of no server', async () => {
  await ledger.publish();
  await run('log', 'init', '--rotate');
  await ledger.publish();
  await ledger.store.registerSecret(2, randomBytes(32), Date.now());
  const waiting = addWaiting(1, 2);
  addWaiting(1, 3);
  addWaiting(1, 1);
  assert.deepEqual(await restamped(), [waiting]);
  assert.equal((await ledger.takeTurn()).head.setAside, 2);
});

it('moves entries for a log that does not exist, so that a turn sets them aside', async () => {
  addWaiting(99, 1);
  assert.deepEqual(await restamped(), []);
  assert.equal((await ledger.takeTurn()).head.setAside, 1);
});

it('makes entries of commands only under versions that servers know', async () => {
  await ledger.publish();
  await run('secret', 'rotate');
  await run('account', 'create', '--name', 'Bob', '--plan', 'research');
  const { appended, setAside } = (await ledger.takeTurn()).head;
  assert.deepEqual([appended > 0, setAside], [true, 0]);
});
