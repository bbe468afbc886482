/** Receipts and sealed keys with the outcomes of this client, which the tests of the Python client compare with their own. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  decryptStream,
  openSealedKey,
  parseRecipientKey,
  UnreadableError,
  verifyReceipt,
} from '../../sdk/src/index.ts';
import { collect, content, inChunks } from './encrypted-files.ts';
import { fileCases, outcomeOf as fileOutcomeOf } from './file-cases.ts';
import { CASES } from './receipt-cases.ts';
import { NOW } from './receipts.ts';
import { outcomeOf, sealedCases } from './sealed-cases.ts';
import { sealedAnswer } from './sealed-keys.ts';

/** Writes the cases to a folder. Resolves with the variables that name the files. */
export async function writePythonCases(folder: string): Promise<Record<string, string>> {
  return {
    PHM_RECEIPT_CASES: await writeReceipts(folder),
    PHM_SEALED_CASES: await writeSealed(folder),
    PHM_FILE_CASES: await writeFiles(folder),
  };
}

/** Seals keys to the recipients that the Python client generated, and opens them with its private keys. */
export async function checkPythonRecipients(folder: string): Promise<void> {
  const files = JSON.parse(readFileSync(join(folder, 'recipient-keys.json'), 'utf8')) as string[];
  assert.equal(files.length, 2);
  for (const file of files) {
    const { answer, key } = await sealedAnswer(parseRecipientKey(file));
    assert.deepEqual(Buffer.from((await openSealedKey(answer, file)).key), key);
  }
}

/** Decrypts the files that the Python client encrypted and resealed. */
export async function checkPythonFiles(folder: string): Promise<void> {
  const files = JSON.parse(readFileSync(join(folder, 'python-files.json'), 'utf8')) as readonly {
    readonly file: string;
    readonly recipient_key: string;
    readonly bytes: number;
  }[];
  assert.ok(files.length >= 8);
  for (const { file, recipient_key: recipientKey, bytes } of files) {
    const source = inChunks(Buffer.from(file, 'base64'));
    const { stream } = await decryptStream(source, { recipientKey });
    assert.ok((await collect(stream)).equals(content(bytes)), `${bytes} bytes`);
  }
}

async function writeFiles(folder: string): Promise<string> {
  const given = (await fileCases()).map(async (one) => ({
    name: one.name,
    recipient_key: one.recipientKey,
    file: one.file.toString('base64'),
    outcome: await fileOutcomeOf(one),
  }));
  return write(join(folder, 'files.json'), await Promise.all(given));
}

async function writeReceipts(folder: string): Promise<string> {
  const given = CASES.map(async (one) => {
    const { receipt, policy, key, opening } = one;
    try {
      const options = { policy, key, opening, now: NOW };
      const { statement: _, ...verdict } = await verifyReceipt(receipt, options);
      return { ...one, verdict };
    } catch (error) {
      if (!(error instanceof UnreadableError)) throw error;
      return { ...one, verdict: { unreadable: error.message } };
    }
  });
  return write(join(folder, 'receipts.json'), await Promise.all(given));
}

async function writeSealed(folder: string): Promise<string> {
  const given = (await sealedCases()).map(async (one) => ({
    ...one,
    outcome: await outcomeOf(one),
  }));
  const cases = await Promise.all(given);
  const opened = cases.filter(({ outcome }) => 'key' in outcome);
  assert.ok(opened.length > 10 && opened.length < cases.length / 2);
  return write(join(folder, 'sealed.json'), cases);
}

function write(file: string, cases: readonly object[]): string {
  writeFileSync(file, JSON.stringify({ now: NOW.getTime() / 1_000, cases }));
  return file;
}
