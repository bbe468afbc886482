/** The one way to read a text, and each reader of the server's files that takes it. */
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { parsePolicy } from '#tlog';
import {
  decodeText,
  plainText,
  readBounded,
  readTextFile,
  readTextStream,
  TextError,
} from '../../packages/platform/src/files/text-file.ts';
import { readCertificate } from '../../src/config/certificate.ts';
import { Reader } from '../../src/config/reader.ts';
import { readCredential } from '../../src/entropy/credential.ts';
import { readLines } from '../../src/ledger/move/lines.ts';
import { clientOptions } from '../../src/ledger/postgres/client-options.ts';
import { newLogKeysText } from '../../src/log/index.ts';
import { readLogKeys } from '../../src/setup/log-keys.ts';
import { readMasterSecret } from '../../src/setup/master-secret.ts';
import { OTHER_ENCODINGS, SAME_TEXT } from '../support/lab/text-forms.ts';
import { makeCertificate } from '../support/servers/certificate.ts';

const FOLDER = mkdtempSync(join(tmpdir(), 'phm-text-'));
after(() => rmSync(FOLDER, { recursive: true }));

const PATH = join(FOLDER, 'text');

const TEXT = 'first line\nsecond: ä, 漢\n';

const [CERTIFICATE, KEY] = [join(FOLDER, 'cert.pem'), join(FOLDER, 'key.pem')];
makeCertificate(CERTIFICATE, KEY);

function fileText(variable: 'PHM_PLANS_FILE' | 'PHM_DATABASE_URL_FILE'): string {
  const problems: string[] = [];
  const text = new Reader({ [variable]: PATH }, problems).fileText(variable);
  if (text === null) throw new Error(problems.join());
  return text;
}

async function linesOfMove(bytes: Uint8Array): Promise<string[]> {
  const all: string[] = [];
  for await (const lines of readLines(chunks(bytes))) {
    for (const line of lines) all.push(Buffer.from(line).toString());
  }
  return all.filter((line) => line !== '');
}

async function* chunks(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 5) yield bytes.subarray(at, at + 5);
}

const LOG_KEYS = newLogKeysText('keys.example/log');

/** Readers of files that an operator writes: the text of each, and what they make of it. */
const READERS: readonly (readonly [what: string, text: string, read: () => unknown])[] = [
  ['a text', TEXT, () => readTextFile(PATH).trimEnd()],
  [
    'the master secret',
    `1:${'ab'.repeat(32)}\n2:${'cd'.repeat(32)}\n`,
    () => readMasterSecret({ kind: 'file', path: PATH } as never),
  ],
  [
    'the keys of the log',
    LOG_KEYS,
    () => readLogKeys({ kind: 'file', path: PATH } as never)?.verifierKeys,
  ],
  ['plans', '{"plans": {}}\n', () => fileText('PHM_PLANS_FILE')],
  ['the address of the database', 'postgres://u:p@h/d\n', () => fileText('PHM_DATABASE_URL_FILE')],
  ['a credential', 'phmsk_abc\n', () => readCredential('PHM_IBM_API_KEY', { file: PATH })],
  [
    'a certificate',
    readFileSync(CERTIFICATE, 'utf8'),
    () => readCertificate({ certFile: PATH, keyFile: KEY }).cert.trim(),
  ],
  [
    'the key of a certificate',
    readFileSync(KEY, 'utf8'),
    () => readCertificate({ certFile: CERTIFICATE, keyFile: PATH }).key.trim(),
  ],
  [
    'the root certificate of a database',
    readFileSync(CERTIFICATE, 'utf8'),
    () => {
      const address = { database: 'd', tls: { sslrootcert: PATH } };
      const { ssl } = clientOptions(address as never, { host: 'h' } as never);
      return String((ssl as { ca: string }).ca).trim();
    },
  ],
];

describe('each reader of a file', () => {
  for (const [what, text, read] of READERS) {
    it(`accepts every form of ${what}, and names other encodings`, async () => {
      writeFileSync(PATH, text);
      const expected = await read();
      for (const [form, bytes] of Object.entries(SAME_TEXT)) {
        writeFileSync(PATH, bytes(text));
        assert.deepEqual(await read(), expected, form);
      }
      for (const [encoding, bytes, words] of OTHER_ENCODINGS) {
        writeFileSync(PATH, bytes(text));
        await assert.rejects(async () => read(), words, encoding);
      }
    });
  }

  it('is bounded', () => {
    writeFileSync(PATH, 'x'.repeat(2 ** 16 + 1));
    assert.throws(() => readTextFile(PATH, 2 ** 16), /longer than the 64 KiB/);
    assert.throws(() => readTextFile('/dev/zero'), /longer than the 1 MiB/);
  });
});

describe('texts from elsewhere', () => {
  it('are read in the same way: streams, values of variables, policies in memory', async () => {
    for (const [form, bytes] of Object.entries(SAME_TEXT)) {
      const text = await readTextStream(chunks(bytes(TEXT)));
      assert.equal(text.trimEnd(), TEXT.trimEnd(), form);
      const variable = bytes(TEXT).toString('utf8');
      assert.equal(plainText(variable).trimEnd(), TEXT.trimEnd(), form);
      const policy = parsePolicy(bytes('# ä\n\nquorum none\n').toString('utf8'));
      assert.equal(policy.quorum, 'none', form);
    }
    for (const [encoding, bytes, words] of OTHER_ENCODINGS) {
      await assert.rejects(readTextStream(chunks(bytes(TEXT))), words, encoding);
      const misread = bytes('# a comment\nquorum none\n').toString('utf8');
      assert.throws(() => parsePolicy(misread), /the policy is not UTF-8/, encoding);
    }
  });

  it('accepts a moved ledger with the line ends of another system', async () => {
    const text = '{"format":"phm-ledger"}\n["acct_1"]\n{"end":"phm-ledger"}\n';
    const expected = await linesOfMove(Buffer.from(text));
    for (const form of ['a byte order mark', 'CRLF', 'a byte order mark and CRLF']) {
      const bytes = SAME_TEXT[form]?.(text) ?? Buffer.alloc(0);
      assert.deepEqual(await linesOfMove(bytes), expected, form);
    }
    const utf16 = Buffer.from(`\ufeff${text}`, 'utf16le');
    await assert.rejects(linesOfMove(utf16), /UTF-16/);
  });

  it('takes no text of one or two bytes for UTF-16', () => {
    for (const text of ['', 'a', 'ab']) assert.equal(decodeText(Buffer.from(text)), text);
  });
});

describe('a named pipe', { skip: process.platform === 'win32' }, () => {
  const pipe = join(FOLDER, 'pipe');
  const write = (command: string) => spawn('/bin/sh', ['-c', command, 'sh', pipe]);

  it('is read until its writer ends', async () => {
    execFileSync('mkfifo', [pipe]);
    const writer = write('{ echo one; sleep 0.1; echo two; } > "$1"');
    assert.equal(readTextFile(pipe), 'one\ntwo\n');
    await once(writer, 'close');
  });

  it('that is longer than a text may be is not read further', async () => {
    const writer = write('yes > "$1"');
    assert.equal(readBounded(pipe, 100_000), null);
    await once(writer, 'close');
  });

  it('without a writer, or with one that writes nothing, does not hold the process', async () => {
    const nothing = /^TextError: it is a pipe to which nothing was written for 1 s$/;
    assert.throws(() => readBounded(pipe, 100, 20), nothing);
    const writer = write('exec 3> "$1"; echo x >&3; exec sleep 60');
    try {
      assert.throws(() => readBounded(pipe, 100, 300), TextError);
    } finally {
      writer.kill();
      await once(writer, 'close');
    }
  });
});
