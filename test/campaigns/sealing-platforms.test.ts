/**
 * Sealed keys on every platform: the installed package on Node 20, 22 and 26, and a bundle of it in a browser, with the
 * browser's own KEMs and without. Each opens what this process sealed, and generates recipients for it. 15 s.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import {
  formatRecipientKey,
  newRecipient,
  openSealedKey,
  parseRecipientKey,
  SEAL_SUITES,
} from '../../sdk/src/index.ts';
import { Newcomer, ROOT } from '../sdk/newcomer.ts';
import { NOW, POLICY } from '../sdk/receipts.ts';
import { sealedAnswer } from '../sdk/sealed-keys.ts';
import { launchBrowser, NO_CHROMIUM } from '../support/browsers/browser.ts';
import { ClientPage, clientNodes } from '../support/clients/client-page.ts';

/** Opens all cases, generates a recipient for each suite, and returns both as JSON. */
const WORK = `
export async function work({ openSealedKey, newRecipient, formatRecipientKey }, { cases, suites, policy, now }) {
  const opened = [];
  for (const { answer, recipientKey } of cases) {
    const options = { policy, now: new Date(now) };
    const { key, verdict } = await openSealedKey(answer, recipientKey, options);
    opened.push({ key: Array.from(key), valid: verdict.valid });
  }
  const altered = { ...cases[0].answer, key_id: 'phm_1' };
  const problem = await openSealedKey(altered, cases[0].recipientKey).catch(({ message }) => message);
  const generated = [];
  for (const suite of suites) generated.push(formatRecipientKey(await newRecipient(suite)));
  return JSON.stringify({ opened, problem, generated });
}
`;

const PROGRAM = `
import { readFileSync } from 'node:fs';
import * as client from 'phm-client';
import { work } from './work.mjs';
process.stdout.write(await work(client, JSON.parse(readFileSync('cases.json', 'utf8'))));
`;

const PAGE = `
import { formatRecipientKey, newRecipient, openSealedKey } from '${ROOT}/sdk/src/index.ts';
import { work } from './work.mjs';
window.work = (input) => work({ formatRecipientKey, newRecipient, openSealedKey }, input);
`;

/** What a browser without ML-KEM answers. */
const WITHOUT_ML_KEM = `
for (const method of ['importKey', 'generateKey']) {
  const original = SubtleCrypto.prototype[method];
  SubtleCrypto.prototype[method] = async function (...args) {
    if (args.some((arg) => /ML-?KEM/.test(arg?.name ?? arg))) {
      throw new DOMException('Unrecognized name.', 'NotSupportedError');
    }
    return original.apply(this, args);
  };
}
if (SubtleCrypto.supports) {
  const { supports } = SubtleCrypto;
  SubtleCrypto.supports = (method, name, ...rest) =>
    !/ML-?KEM/.test(name) && supports.call(SubtleCrypto, method, name, ...rest);
}`;

const SUITES = SEAL_SUITES.map(({ name }) => name);
const NODES = await clientNodes();

const keys: Buffer[] = [];
let input = '';

before(async () => {
  const cases = [];
  for (const suite of SUITES) {
    for (const bits of [128, 384]) {
      const recipient = await newRecipient(suite);
      const { answer, key } = await sealedAnswer(recipient, { bits });
      keys.push(key);
      cases.push({ answer, recipientKey: formatRecipientKey(recipient) });
    }
  }
  input = JSON.stringify({ cases, suites: SUITES, policy: POLICY, now: NOW.getTime() });
});

/** Checks what a platform did. */
async function check(output: string): Promise<void> {
  const { opened, problem, generated } = JSON.parse(output);
  assert.deepEqual(
    opened,
    keys.map((key) => ({ key: [...key], valid: true })),
  );
  assert.match(problem, /^The answer states the key_id "phm_1"/);
  assert.equal(generated.length, SUITES.length);
  for (const file of generated) {
    const recipientKey = parseRecipientKey(file);
    const { answer, key } = await sealedAnswer(recipientKey);
    assert.deepEqual(Buffer.from((await openSealedKey(answer, recipientKey)).key), key);
  }
}

describe('sealed keys in the installed package', () => {
  const newcomer = new Newcomer();

  before(async () => {
    await newcomer.install();
    newcomer.write('work.mjs', WORK);
    newcomer.write('open.mjs', PROGRAM);
    newcomer.write('cases.json', input);
  });
  after(() => newcomer.remove());

  for (const [name, node, skip] of NODES) {
    it(`open on ${name}`, { skip }, async () => {
      const options = { cwd: newcomer.project, env: {}, maxBuffer: 2 ** 26 };
      await check((await promisify(execFile)(node, ['open.mjs'], options)).stdout);
    });
  }
});

describe('sealed keys in a browser', { skip: NO_CHROMIUM }, () => {
  let site: ClientPage;
  let browser: Awaited<ReturnType<typeof launchBrowser>>;

  before(async () => {
    site = await ClientPage.start(PAGE, { 'work.mjs': WORK });
    browser = await launchBrowser();
  });
  after(async () => {
    await browser?.close();
    site?.close();
  });

  for (const [platform, script] of [
    ['with its own algorithms', ''],
    ['without ML-KEM', WITHOUT_ML_KEM],
  ] as const) {
    it(`open ${platform}`, async (t) => {
      const context = await browser.newContext();
      if (script) await context.addInitScript(script);
      const page = await context.newPage();
      await page.goto(site.visit());
      await page.waitForFunction('window.work');
      await check(await page.evaluate(`work(${input})`));
      t.diagnostic(`${await browser.version()} loaded: ${site.loaded.join(', ') || 'nothing'}`);
      if (script) assert.ok(site.loaded.length > 0, 'noble was loaded');
      await context.close();
    });
  }
});
