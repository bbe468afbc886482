/**
 * The dashboard in a real browser on a real server: one journey. The other views are in
 * `test/slow/browser/dashboard-views.test.ts`, accessibility barriers in `test/slow/browser/dashboard.test.ts`.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import {
  enterApiKey,
  generateKey,
  NO_CHROMIUM,
  openAdvanced,
  showView,
  watchTexts,
} from '../../support/browsers/browser.ts';
import { clipboard, dashboardSite, traces } from '../../support/browsers/dashboard-site.ts';
import { DEMO_PROFESSIONAL_KEY } from '../../support/servers/server.ts';

const KEY = /^[0-9a-f]{64}$/;

/** How much of the page has moved since it was loaded (https://web.dev/articles/cls). */
const SHIFTED = `new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => {
  const observer = new PerformanceObserver(() => {});
  observer.observe({ type: 'layout-shift', buffered: true });
  done(observer.takeRecords().reduce((sum, { value }) => sum + value, 0));
})))`;

describe('the dashboard', { skip: NO_CHROMIUM }, () => {
  const open = dashboardSite();

  it('shows a key once, masked, and forgets it', async () => {
    const page = await open();
    await page.getByRole('button', { name: 'Use the public demo key' }).click();
    await page.getByRole('button', { name: 'Forget API key' }).waitFor();
    await showView(page, 'Generate');
    await openAdvanced(page);
    await page.getByRole('checkbox', { name: 'Run the 15 tests' }).check();
    const { key, key_id: id, hash_proof: proof } = await generateKey(page);
    assert.match(key, KEY);
    const isInPage = async () => (await traces(page)).replaceAll(/<[^>]*>/g, '').includes(key);
    assert.equal(await isInPage(), false, 'the key is in the page while it is masked');
    assert.equal(await page.locator('.raster').count(), 0, 'the raster shows a masked key');

    await page.getByRole('button', { name: 'Reveal' }).click();
    assert.equal(await isInPage(), true);
    const ones = [...key].reduce(
      (sum, digit) => sum + Number.parseInt(digit, 16).toString(2).replaceAll('0', '').length,
      0,
    );
    await page.getByRole('img', { name: `: ${ones} ones, ${256 - ones} zeros` }).waitFor();
    const squares = await page.locator('.raster .ones').getAttribute('d');
    assert.equal(squares?.match(/M/g)?.length, ones);

    const told = await watchTexts(page, '[aria-live]');
    await page.getByRole('button', { name: 'Copy', exact: true }).click();
    await told(/^Key copied to the clipboard\.$/);
    assert.equal(await clipboard(page), key);
    assert.equal(await isInPage(), false, 'copying does not hide the key');

    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download', exact: true }).click();
    const file = await download;
    assert.equal(file.suggestedFilename(), `${id}.json`);
    const saved = JSON.parse(readFileSync(await file.path(), 'utf8'));
    assert.deepEqual([saved.key, saved.key_id, saved.hash_proof], [key, id, proof]);

    const report = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download report' }).click();
    const text = readFileSync(await (await report).path(), 'utf8');
    assert.equal(text.includes(key), false, 'the report holds the key');
    assert.equal(JSON.parse(text).nist_report.tests.length, 15);

    await showView(page, 'Validate');
    await page.getByRole('textbox', { name: 'Key' }).fill(key);
    await page.getByRole('button', { name: 'Validate', exact: true }).click();
    await page.getByRole('heading', { name: 'Valid: this service generated the key' }).waitFor();
    await page.getByRole('textbox', { name: 'Proof' }).fill(proof);
    await page.getByRole('button', { name: 'Validate', exact: true }).click();
    await page.getByRole('heading', { name: 'Proof', exact: true }).waitFor();
    await page.getByText('✓ passed').nth(1).waitFor();
    await page.getByRole('textbox', { name: 'Key' }).fill('0'.repeat(64));
    await page.getByRole('button', { name: 'Validate', exact: true }).click();
    await page.getByRole('heading', { name: 'Not valid' }).waitFor();
    await page.getByRole('button', { name: 'Clear' }).click();
    assert.equal(await page.getByRole('textbox', { name: 'Key' }).inputValue(), '');
    await page.getByRole('heading', { name: 'Not valid' }).waitFor({ state: 'detached' });

    await showView(page, 'Generate');
    assert.equal(await page.getByRole('button', { name: 'Reveal' }).count(), 0);
    assert.equal(await isInPage(), false);
  });

  it('shows quota, totals and charts with the numbers behind them', async () => {
    const page = await open();
    await enterApiKey(page, DEMO_PROFESSIONAL_KEY);
    await generateKey(page);
    await showView(page, 'Usage');
    const meter = page.getByRole('meter', { name: 'Requests used this month' });
    const used = Number(await meter.getAttribute('value'));
    assert.ok(used >= 1, `${used} requests used`);
    await page.getByText('Keys generated').waitFor();
    for (const title of ['Keys per second', 'Latency']) {
      await page
        .getByRole('img', { name: `${title}. ` })
        .locator('canvas')
        .waitFor();
    }
    // A chart without values is a line of text.
    await page.getByText('Errors: none in this period.').waitFor();
    await page.getByText('Numbers: latency').click();
    await page.getByRole('columnheader', { name: 'p99' }).waitFor();
    assert.ok((await page.locator('table.data tbody tr').count()) >= 1);
    await page.getByRole('radio', { name: '30 d' }).check({ force: true });
    await page.getByRole('heading', { name: 'Over the last 30 days' }).waitFor();
    const again = page.waitForResponse((response) => response.url().includes('/metrics/series'));
    await page.getByRole('button', { name: 'Refresh' }).click();
    assert.equal((await again).status(), 200);
  });

  it('begins with the account at a glance', async () => {
    const page = await open();
    await page.getByRole('button', { name: 'Use the public demo key' }).click();
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
    await page.getByText('Server ready.').waitFor();
    await page.getByText('Quota left').waitFor();
    await page.getByText('p99 latency').waitFor();
    await page.getByRole('button', { name: 'Forget API key' }).click();
    await page.getByRole('textbox', { name: 'API key' }).waitFor();

    await enterApiKey(page, DEMO_PROFESSIONAL_KEY);
    await showView(page, 'Generate');
    const { key_id: id } = await generateKey(page);
    await page.getByRole('button', { name: 'Copy', exact: true }).click();
    await showView(page, 'Overview');
    await page
      .getByRole('img', { name: /^Keys per hour\. At most \d+ keys?, in the hour from/ })
      .waitFor();
    const last = page.getByRole('region', { name: 'Last keys' });
    const revoked = page.getByRole('region', { name: 'Last revoked keys' });
    await last.getByRole('link', { name: id }).waitFor();
    assert.equal(await revoked.getByRole('link', { name: id }).count(), 0);
    const answer = await fetch(new URL(`api/v2/keys/${id}/revoke`, page.url()), {
      method: 'POST',
      headers: { 'X-API-Key': DEMO_PROFESSIONAL_KEY, 'Content-Type': 'application/json' },
      body: JSON.stringify({ reason: 'superseded' }),
    });
    assert.equal(answer.status, 200);
    await showView(page, 'Status');
    await showView(page, 'Overview');
    await revoked.getByRole('link', { name: id }).click();
    await page.getByRole('heading', { name: 'Deactivated' }).waitFor();
  });

  it('says in words that there is nothing to draw', async () => {
    const page = await open();
    await page.route('**/api/v2/metrics/series?*', async (route) => {
      const response = await route.fetch();
      const body = await response.json();
      const quiet = { keys: 0, requests: 0, keys_per_second: 0, latency_ms: null };
      const untested = { nist_compliance_rate: null };
      const points = body.series.points.map((point: object) => ({
        ...point,
        ...quiet,
        failures: 0,
        ...untested,
      }));
      await route.fulfill({ response, json: { ...body, series: { ...body.series, points } } });
    });
    await page.evaluate("location.hash = '#/overview'");
    await enterApiKey(page, DEMO_PROFESSIONAL_KEY);
    await page.getByText('No key was generated in the last 24 hours.').waitFor();
    assert.equal(await page.locator('svg.hours').count(), 0);
    await showView(page, 'Usage');
    await page.getByText('Latency: no values in this period.').waitFor();
    const errors = page.locator('.tiles > div', { has: page.getByText('Errors', { exact: true }) });
    assert.match(await errors.locator('dd').innerText(), /^–/, 'a share of no calls');
    assert.equal(await page.locator('canvas').count(), 0);
    await showView(page, 'Evidence');
    const gate = page.getByRole('region', { name: 'The gate over the last 30 days' });
    assert.match(await gate.locator('dd').innerText(), /^–\s+no stream was tested/);
  });

  it('moves no form while it loads, even if the offer of the demo key is late', async () => {
    const page = await open();
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    await page.route('**/keys/', async (route) => {
      if (route.request().resourceType() === 'fetch') await released;
      await route.continue();
    });
    await page.reload();
    const field = page.getByRole('textbox', { name: 'API key' });
    await field.waitFor();
    assert.equal(await page.evaluate(SHIFTED), 0);
    const place = await field.boundingBox();
    release();
    const offer = page.getByRole('button', { name: 'Use the public demo key' });
    await offer.waitFor();
    assert.deepEqual(await field.boundingBox(), place);
    await offer.click();
    await page.getByRole('button', { name: 'Forget API key' }).waitFor();
  });

  it('says that an address names no view, and which there are', async () => {
    const page = await open();
    await page.evaluate("location.hash = '#/generat'");
    await page.getByRole('heading', { name: 'No such view' }).waitFor();
    await page.locator('main').getByRole('link', { name: 'Generate' }).click();
    await page.getByRole('heading', { name: 'Generate a key' }).waitFor();
  });

  it('stays signed in after a reload, if the reader asks for it', async () => {
    const page = await open();
    const stored = () =>
      page.evaluate<string>('JSON.stringify({ ...sessionStorage, ...localStorage })');
    await page.getByRole('checkbox', { name: 'Stay signed in after a reload' }).check();
    await page.getByText('This tab then stores the API key').waitFor();
    await enterApiKey(page, DEMO_PROFESSIONAL_KEY);
    assert.ok((await stored()).includes(DEMO_PROFESSIONAL_KEY));
    await page.reload();
    await page.getByRole('button', { name: 'Forget API key' }).click();
    await page.getByRole('textbox', { name: 'API key' }).waitFor();
    assert.equal(await stored(), '{}');
    await page.reload();
    await page.getByRole('textbox', { name: 'API key' }).waitFor();
    // An API key that is no longer valid is not kept.
    await page.evaluate("sessionStorage.setItem('phm-api-key', 'phmsk_not_a_key')");
    await page.reload();
    await page.getByRole('textbox', { name: 'API key' }).waitFor();
    assert.equal(await stored(), '{}');
  });

  it('has one header of 56 pixels with a menu on a narrow screen', async () => {
    const page = await open();
    await enterApiKey(page, DEMO_PROFESSIONAL_KEY);
    await generateKey(page);
    await page.setViewportSize({ width: 390, height: 844 });
    const menu = page.getByRole('button', { name: 'Menu' });
    const height = () => page.evaluate('document.querySelector("header").offsetHeight');
    await menu.waitFor();
    assert.equal(await height(), 56);
    assert.equal(await page.getByRole('link', { name: 'Usage' }).count(), 0);
    await menu.press('Enter');
    assert.equal(await menu.getAttribute('aria-expanded'), 'true');
    await page.keyboard.press('Escape');
    assert.equal(await menu.getAttribute('aria-expanded'), 'false');
    assert.equal(await page.evaluate('document.activeElement.textContent'), 'Menu');
    await page.keyboard.press('Enter');
    await showView(page, 'Usage');
    await page.getByRole('heading', { name: 'Usage', level: 1 }).waitFor();
    assert.equal(await menu.getAttribute('aria-expanded'), 'false');
    // What must be seen is in sight with a closed menu.
    await page.getByRole('link', { name: 'Key not copied yet' }).waitFor();
    await page.route('**/health', (route) => route.abort());
    await page.evaluate("location.hash = '#/status'");
    await page.getByRole('button', { name: 'Check now' }).click();
    await page.getByRole('link', { name: 'Server does not answer' }).waitFor();
    assert.equal(await height(), 56);
  });
});
