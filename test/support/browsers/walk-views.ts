/** Walks through all views of the dashboard with data in them, and checks what every reader needs. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';
import { issue, POLICY } from '../../sdk/receipts.ts';
import { DEMO_PROFESSIONAL_KEY } from '../servers/server.ts';
import { enterApiKey, openAdvanced, showView } from './browser.ts';

/** A receipt from the future, so that its verdict has every part. */
const RECEIPT = JSON.stringify(issue({ time: 4_000_000_000 }).receipt);

interface Setting {
  readonly colorScheme: 'light' | 'dark';
  /** Window width in pixels. */
  readonly width: number;
}

/** Throws `AssertionError` on findings of axe-core and on a view wider than the window. */
export async function walkViews(page: Page, settings: readonly Setting[]): Promise<void> {
  const check = (what: string) => checkView(page, what, settings);
  await check('the entry of the API key');
  await enterApiKey(page, DEMO_PROFESSIONAL_KEY);
  await page.getByRole('radio', { name: 'sealed to a recipient' }).check({ force: true });
  await page.getByRole('textbox', { name: 'Recipient' }).fill('no recipient!');
  await page.getByRole('button', { name: 'Generate', exact: true }).click();
  await page.getByRole('alert').waitFor();
  await check('Generate, sealed');
  await page.getByRole('radio', { name: 'plaintext' }).check({ force: true });
  await openAdvanced(page);
  await page.getByRole('checkbox', { name: 'Run the 15 tests' }).check();
  await page.getByRole('button', { name: 'Add a label' }).click();
  await page.keyboard.type('env');
  await page.keyboard.press('Tab');
  await page.keyboard.type('long '.repeat(6) + 'x'.repeat(34));
  await page.getByRole('combobox', { name: 'Expires' }).selectOption('7');
  await page.getByRole('button', { name: 'Generate', exact: true }).click();
  await page.getByRole('button', { name: 'Reveal' }).click();
  await page.getByRole('button', { name: /^Non-overlapping templates/ }).click();
  await check('Generate');
  await page.getByRole('button', { name: 'Generate', exact: true }).click();
  await page.getByRole('dialog').waitFor();
  await check('the question before a key is lost');
  await page.keyboard.press('Escape');
  await page.getByRole('link', { name: 'Its record' }).click();
  await page.getByRole('button', { name: 'Get the receipt' }).click();
  await page.getByRole('heading', { name: 'Active' }).waitFor();
  await check('the record of a key');
  await page.getByRole('button', { name: 'Revoke…' }).click();
  await check('the question before a key is revoked');
  await page.keyboard.press('Escape');
  await page.getByRole('link', { name: 'Close' }).click();
  await page.getByText('More filters').click();
  await page.getByRole('checkbox', { name: 'Select all keys of this page' }).check();
  await check('Keys');
  await showView(page, 'Validate');
  await page.getByRole('textbox', { name: 'Key' }).fill('0');
  await page.getByRole('button', { name: 'Validate', exact: true }).click();
  await page.getByRole('heading', { name: 'Not valid' }).waitFor();
  await check('Validate');
  await showView(page, 'Receipts');
  await page.getByRole('textbox', { name: 'Receipt', exact: true }).fill(RECEIPT);
  await page.getByRole('radio', { name: 'your own' }).check({ force: true });
  await page.getByRole('textbox', { name: 'Your policy' }).fill(POLICY);
  await page.getByRole('button', { name: 'Verify', exact: true }).click();
  await page.getByText('The statement, word for word').click();
  await check('Receipts');
  await showView(page, 'Overview');
  await page.getByRole('heading', { name: 'Keys per hour' }).waitFor();
  await page.getByText('Numbers: keys per hour').click();
  await check('Overview');
  await checkMenu(page, settings);
  await page.evaluate("location.hash = '#/nothing'");
  await page.getByRole('heading', { name: 'No such view' }).waitFor();
  await check('an unknown view');
  await showView(page, 'Usage');
  await page.locator('canvas').nth(1).waitFor();
  await page.getByText('Numbers: latency').click();
  await check('Usage');
  await showView(page, 'Evidence');
  await page.getByRole('combobox', { name: 'Row' }).waitFor();
  await check('Evidence');
  await showView(page, 'Status');
  await page.getByRole('heading', { name: 'Ledger' }).waitFor();
  await check('Status');
  await page.getByRole('button', { name: /theme$/ }).click();
  await check('Status, in the theme that was chosen');
}

/** Drawings follow the window's width one frame later. */
const DRAWN = 'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))';

async function checkView(page: Page, what: string, settings: readonly Setting[]): Promise<void> {
  for (const { colorScheme, width } of settings) {
    const where = `${what}, ${colorScheme}, ${width} pixels wide`;
    await page.setViewportSize({ width, height: 800 });
    await page.emulateMedia({ colorScheme });
    await page.evaluate(DRAWN);
    assert.deepEqual(await findBarriers(page), [], where);
    const over = await page.evaluate<number>(
      'document.documentElement.scrollWidth - document.documentElement.clientWidth',
    );
    assert.ok(over <= 0, `${where}: ${over} pixels too wide`);
    assert.deepEqual(await findSpilt(page), [], `${where}: text leaves its box`);
    // A dialog keeps the reader from the menu.
    if ((await page.getByRole('dialog').count()) === 0) await checkLinks(page, where);
  }
}

/** Checks the open menu of a narrow screen. */
async function checkMenu(page: Page, settings: readonly Setting[]): Promise<void> {
  const menu = page.getByRole('button', { name: 'Menu' });
  for (const { colorScheme, width } of settings) {
    await page.setViewportSize({ width, height: 800 });
    await page.emulateMedia({ colorScheme });
    if (!(await menu.isVisible())) continue;
    await menu.click();
    assert.deepEqual(
      await findBarriers(page),
      [],
      `the menu, ${colorScheme}, ${width} pixels wide`,
    );
    await page.keyboard.press('Escape');
  }
}

/** Every link of the header is in sight, on a narrow screen in its menu. */
async function checkLinks(page: Page, where: string): Promise<void> {
  const menu = page.getByRole('button', { name: 'Menu' });
  const isFolded = await menu.isVisible();
  if (isFolded) await menu.click();
  for (const link of await page.locator('#menu a').all()) {
    assert.ok(await link.isVisible(), `${where}: a link is not to be seen`);
  }
  if (isFolded) await page.keyboard.press('Escape');
}

/** Returns the choices and table rows whose text does not fit. */
function findSpilt(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(`[...document.querySelectorAll('.segments span, main .panel')]
    .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
    .map(({ outerHTML }) => outerHTML.slice(0, 80))`);
}

let axe: string | undefined;

/** Returns what axe-core finds on the page, one line per element. */
export async function findBarriers(page: Page): Promise<string[]> {
  axe ??= readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
  if (!(await page.evaluate<boolean>("'axe' in window"))) await page.evaluate(axe);
  const violations = await page.evaluate<{ id: string; nodes: { html: string }[] }[]>(
    "axe.run({ rules: { 'target-size': { enabled: true } } }).then(({ violations }) => violations)",
  );
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
}
