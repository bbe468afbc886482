/** What a database shows about the end of a closed log, and what a writer of the database cannot make it show. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { LogRecord } from '../../../src/ledger/index.ts';
import { leafHash, newLogKeysText, parseLogKeys, signCheckpoint } from '../../../src/log/index.ts';
import { ClosedLogs, followingEntry } from '../../../src/service/log/closed-logs.ts';

const CLOSED = parseLogKeys(newLogKeysText('closed.example/log'));

const checkpointText = (size: number, fill: number) =>
  `${CLOSED.origin}\n${size}\n${Buffer.alloc(32, fill).toString('base64')}\n`;

/** A log of one entry. */
function logOf(logId: number, entry: Uint8Array, isClosed: boolean) {
  const { ed25519, mlDsa44 } = CLOSED.verifierKeys;
  const record = {
    logId,
    origin: logId === 1 ? CLOSED.origin : `${logId}.example/log`,
    verifierKeys: `${ed25519}\n${mlDsa44}\n`,
    closedMs: isClosed ? 1 : null,
    size: 1,
    root: leafHash(entry),
  } as unknown as LogRecord;
  return { record, entry };
}

/** The logs of a database whose newest audit record of a start names a checkpoint. */
function closedLogs(follows: string, ...logs: readonly ReturnType<typeof logOf>[]): ClosedLogs {
  return new ClosedLogs({
    logs: async () => logs.map(({ record }) => record),
    readEntries: async (logId) => logs.find(({ record }) => record.logId === logId)?.entry as never,
    readTile: async () => null,
    lastAudit: async () => ({ details: JSON.stringify({ follows }) }) as never,
  });
}

const first = logOf(1, Buffer.alloc(32, 1), true);
/** The checkpoint that the state file of a server has. */
const note = signCheckpoint(CLOSED, { size: 9, root: Buffer.alloc(32, 9) }, 1);

describe('the end of a closed log', () => {
  it('is the checkpoint that the open log follows', async () => {
    const text = checkpointText(9, 9);
    const open = logOf(2, followingEntry(text), false);
    const logs = closedLogs(text, first, open);
    assert.equal((await logs.judge(note, open.record))?.kind, 'ended');
  });

  it('is no checkpoint that only a log without a judged seal follows', async () => {
    const text = checkpointText(10, 10);
    const inserted = logOf(2, followingEntry(text), true);
    const open = logOf(3, followingEntry(checkpointText(1, 1)), false);
    const logs = closedLogs(text, first, inserted, open);
    assert.equal((await logs.judge(note, open.record))?.kind, 'ahead');
  });

  it('is no checkpoint of an open log that is not the sealed one', async () => {
    const text = checkpointText(10, 10);
    const sealed = logOf(2, followingEntry(checkpointText(1, 1)), false);
    const logs = closedLogs(text, first, logOf(2, followingEntry(text), false));
    assert.equal((await logs.judge(note, sealed.record))?.kind, 'ahead');
  });

  it('is the end in the database if the audit record names none', async () => {
    const open = logOf(2, followingEntry(checkpointText(9, 9)), false);
    for (const follows of ['x', null as never]) {
      const logs = closedLogs(follows, first, open);
      assert.deepEqual(await logs.judge(note, open.record), {
        kind: 'ahead',
        origin: CLOSED.origin,
        size: 9,
        end: 1,
      });
    }
  });
});
