/**
 * Encrypted files in a web page: the streams of the TypeScript client with the browser's Web Crypto API. What a page encrypts
 * opens in Node and Python, and the reverse. 20 s.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import type { Browser, Page } from 'playwright-core';
import {
  decryptFile,
  decryptStream,
  formatRecipient,
  formatRecipientKey,
  newRecipient,
  PhmClient,
  parseRecipientKey,
  SEAL_SUITES,
} from '../../../sdk/src/index.ts';
import { content, sha256 } from '../../sdk/encrypted-files.ts';
import { ROOT } from '../../sdk/newcomer.ts';
import { launchBrowser, NO_CHROMIUM } from '../../support/browsers/browser.ts';
import { FirefoxPage, NO_FIREFOX } from '../../support/browsers/firefox.ts';
import { ClientPage } from '../../support/clients/client-page.ts';
import { sharedPython } from '../../support/programs/python.ts';
import {
  DEMO_PROFESSIONAL_KEY,
  makeDataDir,
  removeDataDir,
  Server,
} from '../../support/servers/server.ts';

const MIB = 2 ** 20;

/** A few segments, and the start of one more. */
const SIZE = 5 * MIB + 7;

/** The last segment: what the headers and tags of five segments displace, and its own tag. */
const LAST_BYTES = 7 + 40 + 5 * 16 + 16;

/** What a page may read ahead: a piece of the source, one that is encrypted, one that waits for its reader. */
const MOST_AHEAD = 4 * MIB;

const SCRIPT = `
import { decryptStream, formatRecipientKey, newRecipient, PhmClient } from '${ROOT}/sdk/src/index.ts';

const file = document.createElement('input');
file.type = 'file';
document.body.append(file);

/** Byte i is i mod 251. */
const content = (size) => Uint8Array.from({ length: size }, (_, i) => i % 251);

const sha256 = async (blob) => {
  const digest = await crypto.subtle.digest('SHA-256', await blob.arrayBuffer());
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
};

/** Yields segments only when it is asked, and counts them. */
const counted = (segments) => {
  const source = { read: 0 };
  source.stream = new ReadableStream({
    pull(controller) {
      if (source.read === segments.length) return controller.close();
      controller.enqueue(segments[source.read++]);
    },
  }, { highWaterMark: 0 });
  return source;
};

/** Reads a stream slowly. Returns its bytes, and how far its source was ahead at most, in chunks. */
const readSlowly = async (source, stream) => {
  const parts = [];
  let [bytes, ahead] = [0, 0];
  for await (const part of stream) {
    parts.push(part);
    bytes += part.length;
    await new Promise((done) => setTimeout(done, 30));
    ahead = Math.max(ahead, source.read * ${MIB} - bytes);
  }
  return { blob: new Blob(parts), ahead };
};

window.encrypt = async ({ service, to, size }) => {
  const { stream } = await new PhmClient(service).encryptStream(new Blob([content(size)]).stream(), { to });
  const link = document.createElement('a');
  link.href = URL.createObjectURL(await new Response(stream).blob());
  link.download = 'page.phm';
  link.click();
};

window.decrypt = async (recipientKey) => {
  const parts = [];
  try {
    const { stream } = await decryptStream(file.files[0].stream(), { recipientKey });
    for await (const part of stream) parts.push(part);
  } catch ({ code }) {
    return code;
  }
  return sha256(new Blob(parts));
};

// Firefox takes and gives texts.
const bytesOf = (text) => Uint8Array.from(atob(text), (character) => character.charCodeAt(0));

window.newRecipientKey = async (suite) => formatRecipientKey(await newRecipient(suite));

window.encryptText = async ({ service, to, text }) => {
  const { stream } = await new PhmClient(service).encryptStream(new Blob([text]).stream(), { to });
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  return btoa(String.fromCharCode(...bytes));
};

window.decryptText = async ({ file, recipientKey }) => {
  const { stream } = await decryptStream(new Blob([bytesOf(file)]).stream(), { recipientKey });
  return new Response(stream).text();
};

window.aheadOf = async (service) => {
  const me = await newRecipient();
  const plain = counted(Array.from({ length: 12 }, () => content(${MIB})));
  const written = await new PhmClient(service).encryptStream(plain.stream, { to: me });
  const first = await readSlowly(plain, written.stream);
  const bytes = new Uint8Array(await first.blob.arrayBuffer());
  const parts = [];
  for (let at = 0; at < bytes.length; at += ${MIB}) parts.push(bytes.subarray(at, at + ${MIB}));
  const sealed = counted(parts);
  const opened = await decryptStream(sealed.stream, { recipientKey: formatRecipientKey(me) });
  const second = await readSlowly(sealed, opened.stream);
  return { encrypt: first.ahead, decrypt: second.ahead, size: second.blob.size };
};
`;

const PYTHON = `
import sys
from phm_client import PhmClient, decrypt_file

what, source, out, key, base_url, api_key = sys.argv[1:]
text = open(key).read()
if what == "decrypt":
    decrypt_file(source, recipient_key=text, out=out)
else:
    PhmClient(base_url, api_key).encrypt_file(source, to=text, out=out)
`;

const python = await sharedPython('client');

describe('encrypted files in a web page', { skip: NO_CHROMIUM }, () => {
  const folder = makeDataDir();
  const at = (name: string) => join(folder, name);
  let site: ClientPage;
  let server: Server;
  let browser: Browser;
  let page: Page;
  let service: { baseUrl: string; apiKey: string };
  let recipientKey: string;
  let to: string;

  before(async () => {
    site = await ClientPage.start(SCRIPT);
    const address = site.visit();
    server = await Server.start(folder, { PHM_CORS_ORIGINS: new URL(address).origin });
    service = { baseUrl: server.address, apiKey: DEMO_PROFESSIONAL_KEY };
    browser = await launchBrowser();
    page = await browser.newPage();
    await page.goto(address);
    const me = await newRecipient();
    recipientKey = formatRecipientKey(me);
    to = formatRecipient(me);
    writeFileSync(at('me.key'), recipientKey);
    writeFileSync(at('content'), content(SIZE));
  });
  after(async () => {
    await browser?.close();
    await server?.stop();
    site?.close();
    removeDataDir(folder);
  });

  /** Calls a function of the page. */
  const call = <T>(name: string, input: unknown) =>
    page.evaluate<T>(`${name}(${JSON.stringify(input)})`);

  /** Decrypts a file in the page. Returns the digest of its content, or the code of the error. */
  async function decryptInPage(path: string): Promise<string> {
    await page.locator('input').setInputFiles(path);
    return call<string>('decrypt', recipientKey);
  }

  async function runPython(what: 'decrypt' | 'encrypt', source: string, out: string) {
    const { baseUrl, apiKey } = service;
    const args = ['-c', PYTHON, what, source, out, at('me.key'), baseUrl, apiKey];
    const env = {
      ...process.env,
      PYTHONPATH: join(ROOT, 'sdk/python/src'),
      PYTHONDONTWRITEBYTECODE: '1',
      NO_PROXY: '127.0.0.1',
    };
    await promisify(execFile)(python.python, args, { env });
  }

  it('open in Node, and those of Node in the page', async () => {
    const saved = page.waitForEvent('download');
    await call('encrypt', { service, to, size: SIZE });
    await (await saved).saveAs(at('page.phm'));
    await decryptFile(at('page.phm'), { recipientKey, out: at('by-node') });
    assert.equal(sha256(readFileSync(at('by-node'))), sha256(content(SIZE)));
    await new PhmClient(service).encryptFile(at('content'), { to, out: at('node.phm') });
    assert.equal(await decryptInPage(at('node.phm')), sha256(content(SIZE)));
  });

  it('open in Python, and those of Python in the page', { skip: python.skip }, async () => {
    await runPython('decrypt', at('page.phm'), at('by-python'));
    assert.equal(sha256(readFileSync(at('by-python'))), sha256(content(SIZE)));
    await runPython('encrypt', at('content'), at('python.phm'));
    assert.equal(await decryptInPage(at('python.phm')), sha256(content(SIZE)));
  });

  it('are refused in the page when they are damaged', async () => {
    const file = readFileSync(at('page.phm'));
    file[file.length - 1] ^= 1;
    writeFileSync(at('damaged.phm'), file);
    assert.equal(await decryptInPage(at('damaged.phm')), 'damaged');
    writeFileSync(at('cut.phm'), file.subarray(0, -LAST_BYTES));
    assert.equal(await decryptInPage(at('cut.phm')), 'truncated');
  });

  it('pass through the page, which does not hold them', async () => {
    const { encrypt, decrypt, size } = await call<Record<string, number>>('aheadOf', service);
    assert.equal(size, 12 * MIB);
    assert.ok(Number(encrypt) <= MOST_AHEAD, `${encrypt} bytes were read ahead to encrypt`);
    assert.ok(Number(decrypt) <= MOST_AHEAD, `${decrypt} bytes were read ahead to decrypt`);
  });
});

describe('encrypted files in a web page of Firefox', { skip: NO_FIREFOX }, () => {
  const folder = makeDataDir();
  let site: ClientPage;
  let server: Server;
  let page: FirefoxPage;

  before(async () => {
    site = await ClientPage.start(SCRIPT);
    const address = site.visit();
    server = await Server.start(folder, { PHM_CORS_ORIGINS: new URL(address).origin });
    page = await FirefoxPage.open(folder);
    await page.goto(address);
  });
  after(async () => {
    await page?.close();
    await server?.stop();
    site?.close();
    removeDataDir(folder);
  });

  const call = async (name: string, input: unknown) =>
    String(await page.evaluate(`${name}(${JSON.stringify(input)})`));

  for (const { name: suite } of SEAL_SUITES) {
    it(`open in Node, and those of Node in the page: ${suite}`, async () => {
      const service = { baseUrl: server.address, apiKey: DEMO_PROFESSIONAL_KEY };
      const recipientKey = await call('newRecipientKey', suite);
      const to = formatRecipient(parseRecipientKey(recipientKey));
      // The page seals the key again: it has the public key alone.
      const byPage = await call('encryptText', { service, to, text: 'of the page' });
      const source = new Blob([Buffer.from(byPage, 'base64')]).stream();
      const { stream } = await decryptStream(source, { recipientKey });
      assert.equal(await new Response(stream).text(), 'of the page');
      const phm = new PhmClient(service);
      const byNode = await phm.encryptStream(new Blob(['of Node']).stream(), { to });
      const file = Buffer.from(await new Response(byNode.stream).arrayBuffer()).toString('base64');
      assert.equal(await call('decryptText', { file, recipientKey }), 'of Node');
    });
  }
});
