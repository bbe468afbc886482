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
} from '../../support/browser.ts';
import { clipboard, dashboardSite, traces } from '../../support/dashboard-site.ts';
import { DEMO_PROFESSIONAL_KEY } from '../../support/server.ts';

const KEY = /^[0-9a-f]{64}$/;

describe('the dashboard', { skip: NO_CHROMIUM }, () => {
  const open = dashboardSite();

  it('shows a key once, masked, and forgets it', async () => {
    const page = await open();
    await page.getByRole('button', { name: 'Use the public demo key' }).click();
    await page.getByRole('button', { name: 'Forget API key' }).waitFor();
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
    for (const title of ['Keys per second', 'Latency', 'Streams past the gate', 'Errors']) {
      await page
        .getByRole('img', { name: `${title}. ` })
        .locator('canvas')
        .waitFor();
    }
    await page.getByText('Numbers: latency').click();
    await page.getByRole('columnheader', { name: 'p99' }).waitFor();
    assert.ok((await page.locator('table.data tbody tr').count()) >= 1);
    await page.getByRole('radio', { name: '30 d' }).check({ force: true });
    await page.getByRole('heading', { name: 'Over the last 30 days' }).waitFor();
    const again = page.waitForResponse((response) => response.url().includes('/metrics/series'));
    await page.getByRole('button', { name: 'Refresh' }).click();
    assert.equal((await again).status(), 200);
  });
});
