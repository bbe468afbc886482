/** The test bench for a reader without a file: what the page says before, and its examples. In a browser, 15 s. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import type { Browser } from 'playwright-core';
import { openBench } from '../../support/browsers/bench-page.ts';
import { launchBrowser, NO_CHROMIUM } from '../../support/browsers/browser.ts';
import { runCommand } from '../../support/servers/run-command.ts';
import { makeDataDir, removeDataDir } from '../../support/servers/server.ts';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** What the page promises of an example and its report says: the verdict, the failed rows, and the parts that fail. */
const EXAMPLES = [
  { name: 'Sound', verdict: 'passed', promised: 'passes', rows: '0 of 7 rows', parts: [] },
  {
    ...{ name: 'Biased', verdict: 'FAILED', promised: 'fails', rows: '6 of 7 rows' },
    parts: ['smallest p-value', 'second level', 'low sequences', 'pieces', 'drift'],
  },
  {
    ...{ name: 'Periodic', verdict: 'FAILED', promised: 'fails', rows: '6 of 7 rows' },
    parts: ['second level', 'low sequences', 'drift'],
  },
];

describe('the test bench without a file', { skip: NO_CHROMIUM }, () => {
  const folder = makeDataDir();
  let browser: Browser;
  let address: string;
  before(async () => {
    const built = join(folder, 'testbench.html');
    const { code, stderr } = await runCommand(['testbench', '--output', built]);
    assert.deepEqual([code, stderr], [0, '']);
    address = pathToFileURL(built).href;
    browser = await launchBrowser();
  });
  after(async () => {
    await browser?.close();
    removeDataDir(folder);
  });

  it('says in one look what one gets, with a sample that the page itself makes', async () => {
    const { page, complaints } = await openBench(browser, address);
    for (const [width, height] of [
      [1440, 900],
      [390, 844],
    ] as const) {
      await page.setViewportSize({ width, height });
      const wide = await page.evaluate(
        'document.documentElement.scrollWidth - document.documentElement.clientWidth',
      );
      assert.equal(wide, 0, `${width} pixels wide`);
      await page.evaluate(AXE);
      const found = await page.evaluate<{ id: string }[]>(
        'axe.run().then(({ violations }) => violations)',
      );
      assert.deepEqual(
        found.map(({ id }) => id),
        [],
      );
    }
    await page.getByText('It does not leave this computer').waitFor();
    await page.getByText('How long:').waitFor();
    const bars = await page
      .locator('#about rect')
      .evaluateAll((all) => all.map((bar) => Number(bar.getAttribute('height')) / 7));
    await page.getByRole('button', { name: 'Try: Sound' }).click();
    const row = page.locator('#rows tr').filter({ hasText: /^frequency/ });
    const counts = (await row.locator('td').nth(1).innerText()).trim().split(/\s+/).map(Number);
    assert.deepEqual(bars, counts, 'the sample is not that of the example');
    assert.equal(await page.locator('#about').isVisible(), false);
    assert.deepEqual(complaints, []);
  });

  it('tries three examples, and shows the pictures of a report first', async () => {
    const { page } = await openBench(browser, address);
    for (const { name, verdict, promised, rows, parts } of EXAMPLES) {
      await page.getByRole('button', { name: `Try: ${name}` }).click();
      await page.getByRole('heading', { name: `Report on ${name.toLowerCase()}.bin` }).waitFor();
      await page
        .locator('#verdict h2')
        .getByText(new RegExp(`[✓✗]Source: ${verdict}$`))
        .waitFor();
      await page.locator('#rows').waitFor();
      const table = page.getByRole('table', { name: 'Parts of the verdict' });
      const failed = table.getByRole('row').filter({ hasText: '✗ FAILED' });
      assert.deepEqual(await failed.getByRole('rowheader').allInnerTexts(), parts);
      const level = table.getByRole('row').filter({ hasText: 'second level' });
      assert.ok((await level.innerText()).endsWith(`${rows} failed`));
      const text = await page
        .getByRole('listitem')
        .filter({ hasText: `Try: ${name}` })
        .innerText();
      assert.ok(text.includes(`the source ${promised}, `) && text.includes(rows), text);
    }
    const sections = await page
      .locator('#results > *')
      .evaluateAll((all) => all.map(({ id }) => id).filter((id) => id !== ''));
    assert.deepEqual(sections.slice(0, 6), [
      'files',
      'verdict',
      'source',
      'distribution',
      'pictures',
      'raster',
    ]);
  });
});
