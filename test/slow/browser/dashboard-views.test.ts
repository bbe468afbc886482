/**
 * The views of the dashboard in a real browser on a real server, from start to end. `dashboard-journey.test.ts` has the
 * key and the quota.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Page, Request, Route } from 'playwright-core';
import { pValue } from '../../../dashboard/src/format.ts';
import {
  enterApiKey,
  generateBy,
  generateKey,
  holdNext,
  NO_CHROMIUM,
  openAdvanced,
  showView,
  watchTexts,
} from '../../support/browsers/browser.ts';
import { clipboard, dashboardSite, traces } from '../../support/browsers/dashboard-site.ts';
import { DEMO_PROFESSIONAL_KEY } from '../../support/servers/server.ts';

/** The option that shows the p-values of all tests of the generator together. */
const ALL_ROWS = 'All of the generator’s output';

/** Returns the text or label of the focused element, and its outline. */
const focus = (page: Page) =>
  page.evaluate<{ name: string; outline: string }>(`({
    name: (document.activeElement.labels?.[0] ?? document.activeElement).textContent.trim(),
    outline: getComputedStyle(document.activeElement).outlineStyle,
  })`);

const focused = async (page: Page) => (await focus(page)).name;

/** Presses Tab until an element with this name has the focus. */
async function tabTo(page: Page, name: string): Promise<void> {
  for (let presses = 0; presses < 40; presses++) {
    await page.keyboard.press('Tab');
    const found = await focus(page);
    if (found.name !== name) continue;
    assert.equal(found.outline, 'solid', `the focus on "${name}" cannot be seen`);
    return;
  }
  assert.fail(`Tab does not reach "${name}"`);
}

/** Answers with the server's response and a warning. */
async function addWarning(route: Route, detail: string): Promise<void> {
  const response = await route.fetch();
  const warnings = [{ code: 'unknown_field', pointer: '#/pi', detail }];
  await route.fulfill({ response, json: { ...(await response.json()), warnings } });
}

describe('the views of the dashboard', { skip: NO_CHROMIUM }, () => {
  const open = dashboardSite();

  it('shows the evidence for a key: every test, every p-value', async () => {
    const page = await open();
    await enterApiKey(page, DEMO_PROFESSIONAL_KEY);
    await page.getByRole('radio', { name: '256 bits' }).check({ force: true });
    await openAdvanced(page);
    await page.getByRole('checkbox', { name: 'Run the 15 tests' }).check();
    await page.getByRole('combobox', { name: 'Entropy source' }).selectOption('quantum-simulator');
    const detail = '"pi" is not a field';
    await page.route('**/api/v2/generate', (route) => addWarning(route, detail), { times: 1 });
    const first = await generateKey(page);
    await page.getByRole('listitem').getByText(detail).waitFor();
    const tile = (label: string) =>
      page.locator('.tiles > div', { has: page.getByText(label, { exact: true }) }).locator('dd');
    await tile('Strength').getByText(`${first.security_strength_bits} bits`).waitFor();
    await tile('Source').getByText('quantum-simulatora pseudorandom imitation').waitFor();
    await tile('Quantum hardware')
      .getByText('nothe source is not quantum hardware, no job ID')
      .waitFor();
    await tile('Score').getByText(`${first.nist_score} of 100`).waitFor();
    await tile('Grade')
      .getByText(/^[A-F]$/)
      .waitFor();
    const { tests_passed: passed, total_tests: total, gate } = first.nist_report;
    const verdict = `${passed} of ${total} tests passed, gate passed`;
    await page.getByRole('heading', { name: verdict, exact: true }).waitFor();
    await tile('Gate')
      .getByText(`p = ${pValue(gate.p_value)}`)
      .waitFor();
    await tile('Tests in the gate').getByText(String(gate.tests)).waitFor();
    const titles = await page.locator('main h2').allTextContents();
    const inOrder = [verdict, 'The generator’s output', 'The modulation', 'Status and score'];
    assert.deepEqual(
      titles.filter((title) => inOrder.includes(title)),
      inOrder,
      'the score comes after what was found',
    );
    const modulation = page.getByRole('table', { name: 'The modulation' });
    assert.equal(await modulation.locator('tbody tr').count(), 4);
    await page.getByText('They say nothing about the generator.').waitFor();
    await page.getByText('What this does not prove:').waitFor();
    await page.getByRole('button', { name: /^Non-overlapping templates/ }).click();
    assert.equal(await page.locator('.p-values li').count(), 148);
    await page.getByText(/^Numbers: 1(62|88) p-values/).click();
    await page.locator('table.data tbody tr').first().waitFor();
    const rows = await page.locator('table.data tbody tr').count();
    assert.ok(rows === 162 || rows === 188, `${rows} p-values`);
    const agreement = page.getByRole('button', { name: 'Generate and replace it' });
    const replaceKey = async () => {
      await page.getByRole('button', { name: 'Generate', exact: true }).click();
      return generateBy(page, () => agreement.click());
    };
    await page.getByRole('radio', { name: 'none' }).check({ force: true });
    const plain = await replaceKey();
    const { tests } = plain.nist_report.gate;
    const words = `its 4 tests were skipped and the gate has ${tests} tests instead of ${tests + 4}.`;
    await page.getByText(words).waitFor();
    assert.equal(await modulation.count(), 0);
    await page.getByRole('checkbox', { name: 'Run the 15 tests' }).uncheck();
    const second = await replaceKey();
    assert.notEqual(second.key, first.key);
    assert.equal(await page.getByText('What this does not prove:').count(), 0);
    assert.equal(
      (await traces(page)).includes(first.key_id),
      false,
      'the first key is still there',
    );
  });

  it('works by keyboard alone and announces what was copied', async () => {
    // The page is slow, and the keys do not wait for it.
    const page = await open({ isLate: true });
    await page.getByRole('textbox', { name: 'API key' }).waitFor();
    await tabTo(page, 'API key');
    await page.keyboard.type(DEMO_PROFESSIONAL_KEY);
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Forget API key' }).waitFor();
    await showView(page, 'Generate');
    await tabTo(page, 'Generate');
    const { key } = await generateBy(page, () => page.keyboard.press('Enter'));
    await page
      .getByRole('status')
      .getByText('The key is ready and hidden.', { exact: true })
      .waitFor();
    assert.equal(await focused(page), 'Your 256-bit key', 'the focus is not on the new key');
    await tabTo(page, 'Copy');
    // The text stays for only four seconds.
    const told = await watchTexts(page, '[aria-live]');
    await page.keyboard.press('Enter');
    await told(/^Key copied to the clipboard\.$/);
    assert.equal(await clipboard(page), key);

    await showView(page, 'Validate');
    await tabTo(page, 'Key');
    await page.keyboard.type('00'.repeat(16));
    await page.keyboard.press('Enter');
    const failed = 'Not valid. Failed: gross defects, record in the ledger.';
    await page.getByRole('status').getByText(failed, { exact: true }).waitFor();
    await tabTo(page, 'Clear');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Not valid' }).waitFor({ state: 'detached' });
    assert.equal(await focused(page), 'Key', 'the focus is on a button that is disabled');
  });

  it('marks what is chosen in forced colours too', async () => {
    const page = await open();
    await page.emulateMedia({ forcedColors: 'active' });
    await enterApiKey(page, DEMO_PROFESSIONAL_KEY);
    const groundOf = (selector: string) =>
      page.evaluate<string>(
        `getComputedStyle(document.querySelector('${selector}')).backgroundColor`,
      );
    assert.notEqual(await groundOf('.segments input:checked + span'), await groundOf('.panel'));
    await showView(page, 'Usage');
    await page.getByRole('meter').waitFor({ state: 'attached' });
    assert.notEqual(await groundOf('.meter > div'), await groundOf('.meter'));
  });

  it('judges many keys, and generates the missing ones on request', async () => {
    const page = await open();
    await enterApiKey(page, DEMO_PROFESSIONAL_KEY);
    await showView(page, 'Evidence');
    await page.getByRole('heading', { name: /^(No keys to judge yet|Too few keys)/ }).waitFor();
    const { held, release } = await holdNext(page, '**/api/v2/generate');
    await page.getByRole('button', { name: /^Generate \d+ keys now$/ }).press('Enter');
    await held;
    await page.getByRole('progressbar', { name: 'Keys generated' }).waitFor();
    const label = await page.evaluate("document.activeElement.getAttribute('aria-label')");
    assert.equal(label, 'More keys', 'the focus went with the button');
    release();
    await page.getByRole('heading', { name: /^(Passed|Failed)/ }).waitFor();
    await page.getByText('are expected of a sound source').waitFor();
    await page.getByText('of the tested ones, last 30 days').waitFor();
    await page.getByRole('img', { name: 'Streams past the gate. ' }).locator('canvas').waitFor();
    await page.getByRole('button', { name: /^Runs ?: show its histogram$/ }).press('Enter');
    await page.getByRole('heading', { name: /^Runs: \d+ p-values/ }).waitFor();
    assert.equal(await focused(page), 'Row', 'the focus stays behind, out of view');
    await page.getByRole('combobox', { name: 'Row' }).selectOption({ label: 'Spectrum (DFT)' });
    await page.getByRole('heading', { name: /^Spectrum \(DFT\): \d+ p-values/ }).waitFor();
    await page.getByRole('button', { name: /^Runs ?, after modulation/ }).press('Enter');
    await page.getByRole('heading', { name: /^Runs, after modulation: \d+ p-values/ }).waitFor();
    await page.getByRole('combobox', { name: 'Row' }).selectOption({ label: ALL_ROWS });
    await page.getByRole('heading', { name: /^All 188 rows of the generator’s output/ }).waitFor();
    await page.getByText('Numbers: all 192 rows').click();
    await page.locator('table.data tbody tr').nth(187).waitFor();
    assert.equal(await page.locator('table.data tbody tr').count(), 192);
  });

  it('shows the state of the server', async () => {
    const page = await open();
    await showView(page, 'Status');
    await page.getByRole('heading', { name: 'Ready', exact: true }).waitFor();
    for (const check of ['Entropy for every key', 'Source: os', 'Ledger', 'Master secret']) {
      await page.getByRole('heading', { name: check }).waitFor();
    }
    const checks = page.locator('.checks li');
    for (const check of await checks.all()) {
      assert.match(await check.locator('h3').innerText(), /^[A-Z]/, 'a check has no words');
      assert.notEqual(await check.locator('p').innerText(), '');
    }
    await page.route('**/health', async (route) => {
      const response = await route.fetch();
      const latched = { status: 'unavailable', latch: { cause: 'gate', test: 'rank' } };
      await route.fulfill({ response, json: { ...(await response.json()), ...latched } });
    });
    await page.getByRole('button', { name: 'Check now' }).click();
    await page.getByText('failed the gate of the statistical tests').waitFor();
  });

  it('keeps the API key in memory only: a reload forgets it', async () => {
    const page = await open();
    await enterApiKey(page, DEMO_PROFESSIONAL_KEY);
    const { key } = await generateKey(page);
    for (const label of ['Usage', 'Evidence', 'Status', 'Validate']) {
      await showView(page, label);
      const left = await traces(page);
      assert.equal(left.includes(DEMO_PROFESSIONAL_KEY), false, `the API key is in ${label}`);
      assert.equal(left.includes(key), false, `the key is in ${label}`);
    }
    await page.reload();
    await page.getByRole('textbox', { name: 'API key' }).waitFor();
    await enterApiKey(page, DEMO_PROFESSIONAL_KEY);
    await page.getByRole('button', { name: 'Forget API key' }).click();
    await page.getByRole('textbox', { name: 'API key' }).waitFor();
    // Returns from another page after the browser has cached this one.
    await enterApiKey(page, DEMO_PROFESSIONAL_KEY);
    await page.evaluate("dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true }))");
    assert.equal(await page.locator('h1').count(), 0);
    await page.evaluate("dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))");
    await page.getByRole('textbox', { name: 'API key' }).waitFor();
  });

  it('weighs less than 150 KB, all views together', async () => {
    const page = await open();
    const requests: Request[] = [];
    page.on('request', (request) => {
      if (/\/(assets\/.*|icon\.svg)?$/.test(new URL(request.url()).pathname)) {
        requests.push(request);
      }
    });
    await page.reload();
    await enterApiKey(page, DEMO_PROFESSIONAL_KEY);
    await showView(page, 'Usage');
    await page.locator('canvas').first().waitFor();
    assert.ok(requests.length >= 5, `${requests.length} files`);
    // Sizes are known only after the whole response.
    const sizes = await Promise.all(requests.map((request) => request.sizes()));
    const weight = sizes.reduce((sum, { responseBodySize }) => sum + responseBodySize, 0);
    assert.ok(weight < 150_000, `the page weighs ${weight} bytes`);
  });
});
