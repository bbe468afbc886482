/**
 * The same receipts on every platform: the installed package on Node 20, 22 and 26, and a bundle of it in a browser, with
 * the browser's own ML-DSA-44 and without. Each gives the verdicts of this process. 10 s.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { build } from 'vite';
import { type ReceiptVerdict, verifyReceipt } from '../../sdk/src/index.ts';
import { Newcomer, ROOT } from '../sdk/newcomer.ts';
import { CASES } from '../sdk/receipt-cases.ts';
import { NOW } from '../sdk/receipts.ts';
import { launchBrowser, NO_CHROMIUM } from '../support/browser.ts';
import { findNode20 } from '../support/node-20.ts';
import { fetchNode22 } from '../support/node-22.ts';

/** Verifies all cases and returns the verdicts as JSON. */
const VERIFY_ALL = `
export async function verifyAll(verifyReceipt, cases, now) {
  const verdicts = [];
  for (const { receipt, policy, key, opening } of cases) {
    verdicts.push(await verifyReceipt(receipt, { policy, key, opening, now: new Date(now) }));
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

/** What a browser without ML-DSA-44 answers. */
const WITHOUT_ML_DSA = `{
  const { importKey } = SubtleCrypto.prototype;
  SubtleCrypto.prototype.importKey = async function (...args) {
    if (args[2] === 'ML-DSA-44') throw new DOMException('Unrecognized name.', 'NotSupportedError');
    return importKey.apply(this, args);
  };
}`;

const INPUT = JSON.stringify({ cases: CASES, now: NOW.getTime() });

const node22 = await fetchNode22();
const node20 = findNode20();
const NODES = [
  ['Node 20', node20 ?? '', node20 === undefined && "there is no Node 20 on this machine's PATH"],
  ['Node 22', node22.path, node22.skip],
  ['Node 26', process.execPath, false],
] as const;

let expected: readonly ReceiptVerdict[];

before(async () => {
  const { cases, now } = JSON.parse(INPUT) as { cases: typeof CASES; now: number };
  expected = await Promise.all(
    cases.map(({ receipt, policy, key, opening }) =>
      verifyReceipt(receipt, { policy, key, opening, now: new Date(now) }),
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
  const folder = mkdtempSync(join(tmpdir(), 'receipts-'));
  const requested: string[] = [];
  const server = createServer((request, response) => {
    const path = request.url?.slice(1) ?? '';
    requested.push(path);
    const type = path.endsWith('.js') ? 'text/javascript' : 'text/html';
    response.setHeader('content-type', type);
    response.end(path.endsWith('.js') ? readFileSync(join(folder, 'out', path)) : PAGE_HTML);
  });
  const PAGE_HTML = '<!doctype html><script type="module" src="page.js"></script>';
  let browser: Awaited<ReturnType<typeof launchBrowser>>;

  before(async () => {
    writeFileSync(join(folder, 'page.js'), PAGE);
    writeFileSync(join(folder, 'verify-all.mjs'), VERIFY_ALL);
    await build({
      configFile: false,
      logLevel: 'warn',
      root: folder,
      build: {
        outDir: 'out',
        modulePreload: { polyfill: false },
        rolldownOptions: {
          input: join(folder, 'page.js'),
          output: { entryFileNames: '[name].js', chunkFileNames: '[name].js' },
        },
      },
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    browser = await launchBrowser();
  });
  after(async () => {
    await browser?.close();
    server.close();
    rmSync(folder, { recursive: true, force: true });
  });

  for (const [platform, script, loaded] of [
    ['with its own ML-DSA-44', '', 0],
    ['without ML-DSA-44', WITHOUT_ML_DSA, 1],
  ] as const) {
    it(`have the same verdicts ${platform}`, async (t) => {
      const context = await browser.newContext();
      if (script) await context.addInitScript(script);
      const page = await context.newPage();
      requested.length = 0;
      await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
      await page.waitForFunction('window.verifyAll');
      const supports = "globalThis.SubtleCrypto.supports?.('verify', 'ML-DSA-44')";
      if (!script && !(await page.evaluate(supports))) t.skip('this browser has none');
      else {
        compare(await page.evaluate(`(({ cases, now }) => verifyAll(cases, now))(${INPUT})`));
        const chunks = readdirSync(join(folder, 'out')).filter((file) => file !== 'page.js');
        assert.equal(chunks.length, 1, 'the library is in a file of its own');
        assert.equal(requested.filter((path) => chunks.includes(path)).length, loaded);
      }
      await context.close();
    });
  }
});
