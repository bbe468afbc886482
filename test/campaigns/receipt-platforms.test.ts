/**
 * The same receipts on every platform: the installed package on Node 20, 22 and 26, and a bundle of it in a browser, with
 * the browser's own ML-DSA-44 and without. Each gives the verdicts of this process. 10 s.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { type ReceiptVerdict, verifyReceipt } from '../../sdk/src/index.ts';
import { Newcomer, ROOT } from '../sdk/newcomer.ts';
import { CASES } from '../sdk/receipt-cases.ts';
import { NOW } from '../sdk/receipts.ts';
import { launchBrowser, NO_CHROMIUM, WITHOUT_ML_DSA } from '../support/browsers/browser.ts';
import { ClientPage, clientNodes } from '../support/clients/client-page.ts';

/** Verifies all cases and returns the verdicts as JSON. */
const VERIFY_ALL = `
export async function verifyAll(verifyReceipt, cases, now) {
  const verdicts = [];
  for (const { receipt, policy, key, opening } of cases) {
    const options = { policy, key, opening, now: new Date(now) };
    verdicts.push(await verifyReceipt(receipt, options).catch(({ name, message }) => ({ name, message })));
  }
  return JSON.stringify(verdicts);
}
`;

const PROGRAM = `
import { readFileSync } from 'node:fs';
import { verifyReceipt } from 'phm-client';
import { verifyAll } from './verify-all.mjs';
const { cases, now } = JSON.parse(readFileSync('cases.json', 'utf8'));
process.stdout.write(await verifyAll(verifyReceipt, cases, now));
`;

const PAGE = `
import { verifyReceipt } from '${ROOT}/sdk/src/index.ts';
import { verifyAll } from './verify-all.mjs';
window.verifyAll = (cases, now) => verifyAll(verifyReceipt, cases, now);
`;

const INPUT = JSON.stringify({ cases: CASES, now: NOW.getTime() });

const NODES = await clientNodes();

let expected: readonly (ReceiptVerdict | Pick<Error, 'name' | 'message'>)[];

before(async () => {
  const { cases, now } = JSON.parse(INPUT) as { cases: typeof CASES; now: number };
  expected = await Promise.all(
    cases.map(({ receipt, policy, key, opening }) =>
      verifyReceipt(receipt, { policy, key, opening, now: new Date(now) }).catch(
        ({ name, message }: Error) => ({ name, message }),
      ),
    ),
  );
});

/** Compares one verdict at a time, so that a difference names its case. */
function compare(text: string): void {
  const verdicts: unknown[] = JSON.parse(text);
  assert.equal(verdicts.length, CASES.length);
  const plain: unknown[] = JSON.parse(JSON.stringify(expected));
  for (const [i, one] of CASES.entries()) assert.deepEqual(verdicts[i], plain[i], one.name);
}

describe('receipts in the installed package', () => {
  const newcomer = new Newcomer();

  before(async () => {
    await newcomer.install();
    newcomer.write('verify-all.mjs', VERIFY_ALL);
    newcomer.write('verify.mjs', PROGRAM);
    newcomer.write('cases.json', INPUT);
  });
  after(() => newcomer.remove());

  for (const [name, node, skip] of NODES) {
    it(`have the same verdicts on ${name}`, { skip }, async () => {
      const options = { cwd: newcomer.project, env: {}, maxBuffer: 2 ** 26 };
      compare((await promisify(execFile)(node, ['verify.mjs'], options)).stdout);
    });
  }
});

describe('receipts in a browser', { skip: NO_CHROMIUM }, () => {
  let site: ClientPage;
  let browser: Awaited<ReturnType<typeof launchBrowser>>;

  before(async () => {
    site = await ClientPage.start(PAGE, { 'verify-all.mjs': VERIFY_ALL });
    browser = await launchBrowser();
  });
  after(async () => {
    await browser?.close();
    site?.close();
  });

  for (const [platform, script, loaded] of [
    ['with its own ML-DSA-44', '', 0],
    ['without ML-DSA-44', WITHOUT_ML_DSA, 1],
  ] as const) {
    it(`have the same verdicts ${platform}`, async (t) => {
      const context = await browser.newContext();
      if (script) await context.addInitScript(script);
      const page = await context.newPage();
      await page.goto(site.visit());
      await page.waitForFunction('window.verifyAll');
      const supports = "globalThis.SubtleCrypto.supports?.('verify', 'ML-DSA-44')";
      if (!script && !(await page.evaluate(supports))) t.skip('this browser has none');
      else {
        compare(await page.evaluate(`(({ cases, now }) => verifyAll(cases, now))(${INPUT})`));
        assert.equal(site.chunks.length, 1, 'the library is in a file of its own');
        assert.equal(site.loaded.length, loaded);
      }
      await context.close();
    });
  }
});
