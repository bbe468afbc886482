/**
 * Encrypted files as Go sees them: its crypto/hpke opens the sealed key, and tink-go the content. What tink-go encrypted opens in
 * the client. 15 s.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import {
  decryptStream,
  formatRecipientKey,
  newRecipient,
  type RecipientKey,
  readFileKey,
  SEAL_SUITES,
} from '../../sdk/src/index.ts';
import { collect, content, inChunks, site } from '../sdk/encrypted-files.ts';
import { buildGo, FILES, noGo, run, SEALING } from '../support/programs/go.ts';
import { sized } from '../support/run/campaign.ts';
import { makeDataDir, removeDataDir } from '../support/servers/server.ts';

const SEGMENT = 2 ** 20;

/** Around the borders of segments: 40 bytes of header and a tag of 16 in the first, a tag in each. */
const SIZES = [0, 1, SEGMENT - 57, SEGMENT - 56, SEGMENT - 55, 2 * SEGMENT - 72, 2 * SEGMENT - 71];

const folder = makeDataDir();
after(() => removeDataDir(folder));
const skip =
  noGo() ?? (await buildGo(folder, ['.'], SEALING)) ?? (await buildGo(folder, ['.'], FILES));
if (skip !== undefined) process.stderr.write(`file-interop: skipped: ${skip}\n`);

interface FileVector {
  readonly name: string;
  readonly recipient_key: object;
  readonly content: string;
  readonly file: string;
}

/** Pipes bytes through the program with tink-go. */
async function tink(
  what: 'decrypt' | 'encrypt',
  { key, keyId }: { readonly key: string; readonly keyId: string },
  input: Uint8Array,
): Promise<{ readonly code: number | null; readonly output: Buffer; readonly problem: string }> {
  const child = spawn(join(folder, 'files'), [what, key, keyId]);
  const ended = new Promise<number | null>((done) => child.on('close', done));
  // It stops reading at the first segment that is not authentic.
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  const [output, problem] = await Promise.all([collect(child.stdout), collect(child.stderr)]);
  return { code: await ended, output, problem: problem.toString() };
}

/** Opens the sealed key of a file by crypto/hpke. */
async function openKey(
  file: Uint8Array,
  recipientKey: object,
): Promise<{ readonly key: string; readonly keyId: string }> {
  const { sealedKey, header } = await readFileKey(inChunks(file));
  const input = JSON.stringify({ recipient_key: recipientKey, sealed_key: sealedKey });
  const { code, output } = await run(join(folder, 'sealing'), ['open'], { input });
  assert.equal(code, 0, output);
  return { key: JSON.parse(output).content.key, keyId: header.key_id };
}

async function decryptByGo(file: Uint8Array, recipientKey: object): Promise<Buffer> {
  const { code, output, problem } = await tink('decrypt', await openKey(file, recipientKey), file);
  assert.equal(code, 0, problem);
  return output;
}

async function encrypted(to: RecipientKey, bytes: Uint8Array): Promise<Buffer> {
  return collect((await site().phm.encryptStream(inChunks(bytes), { to })).stream);
}

describe("encrypted files under Go's crypto/hpke and tink-go", { skip: skip ?? false }, () => {
  it('open, as the vectors of this project say', async () => {
    const url = new URL('../vectors/files/files.json', import.meta.url);
    const vectors: readonly FileVector[] = JSON.parse(readFileSync(url, 'utf8'));
    assert.ok(vectors.length >= 4);
    for (const { name, recipient_key, content: text, file } of vectors) {
      const opened = await decryptByGo(Buffer.from(file, 'base64'), recipient_key);
      assert.equal(opened.toString(), text, name);
    }
  });

  for (const { name: suite } of SEAL_SUITES) {
    it(`open at every border of a segment, and at other lengths: ${suite}`, async () => {
      const to = await newRecipient(suite);
      const others = Array.from({ length: sized({ sample: 2, full: 60 }) }, () =>
        randomInt(4 * SEGMENT),
      );
      for (const bytes of [...SIZES, ...others]) {
        const plaintext = content(bytes);
        const recipientKey = JSON.parse(formatRecipientKey(to));
        const opened = await decryptByGo(await encrypted(to, plaintext), recipientKey);
        assert.ok(opened.equals(plaintext), `${bytes} bytes`);
      }
    });
  }

  it('open here when tink-go encrypted them', async () => {
    const to = await newRecipient();
    for (const bytes of SIZES) {
      const file = await encrypted(to, new Uint8Array(0));
      const head = file.subarray(0, file.indexOf('\n', 22) + 1);
      const key = await openKey(file, JSON.parse(formatRecipientKey(to)));
      const plaintext = content(bytes);
      const { code, output, problem } = await tink('encrypt', key, plaintext);
      assert.equal(code, 0, problem);
      const whole = Buffer.concat([head, output]);
      const { stream } = await decryptStream(inChunks(whole), { recipientKey: to });
      assert.ok((await collect(stream)).equals(plaintext), `${bytes} bytes`);
    }
  });

  it('are refused there too after a change, a cut, and a swap', async () => {
    const to = await newRecipient();
    const plaintext = content(3 * SEGMENT);
    const file = await encrypted(to, plaintext);
    const start = file.indexOf('\n', 22) + 1;
    const key = await openKey(file, JSON.parse(formatRecipientKey(to)));
    const altered = Buffer.from(file);
    const at = start + randomInt(file.length - start);
    altered[at] = (altered[at] as number) ^ 1;
    const part = (i: number) => file.subarray(start + i * SEGMENT, start + (i + 1) * SEGMENT);
    const forms = {
      [`byte ${at}`]: altered,
      cut: file.subarray(0, start + 2 * SEGMENT),
      'cut within': file.subarray(0, file.length - 1),
      swapped: Buffer.concat([file.subarray(0, start), part(0), part(2), part(1), part(3)]),
    };
    for (const [name, form] of Object.entries(forms)) {
      const { code, output } = await tink('decrypt', key, form);
      assert.equal(code, 1, name);
      assert.ok(output.length < plaintext.length, name);
    }
    const other = { ...key, keyId: 'phm_1' };
    assert.equal((await tink('decrypt', other, file)).code, 1, 'another key ID');
  });
});
