/** Every view of the dashboard by keyboard alone on a narrow screen, with the menu, folds and records. 15 s. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import {
  enterApiKey,
  generateKey,
  NO_CHROMIUM,
  openAdvanced,
} from '../../support/browsers/browser.ts';
import { dashboardSite } from '../../support/browsers/dashboard-site.ts';
import { DEMO_PROFESSIONAL_KEY } from '../../support/servers/server.ts';

/** More than the elements of any view. */
const MOST_PRESSES = 120;

/** What Tab must reach: of the radio buttons of a group, the chosen one. */
const REACHABLE = `[...document.querySelectorAll(
  'a[href], button, input, select, textarea, summary, [tabindex="0"]',
)].filter((element) => {
  if (element.disabled || !element.checkVisibility({ visibilityProperty: true })) return false;
  return element.type !== 'radio' || element.checked;
})`;

/** What is wrong with the focused element, or an empty text. */
const FAULT = `(() => {
  const element = document.activeElement;
  const shown = element.labels?.[0]?.closest('.segments') ? element.nextElementSibling : element;
  const { top, bottom, left, right } = element.getBoundingClientRect();
  const isOutlined = getComputedStyle(shown).outlineStyle === 'solid';
  const isInSight = bottom > 0 && top < innerHeight && right > 0 && left < innerWidth;
  return (isOutlined ? '' : 'no outline ') + (isInSight ? '' : 'out of sight');
})()`;

/** Presses Tab through the whole page. Throws `AssertionError` if it leaves out or hides an element, or does not end. */
async function tabThrough(page: Page, view: string): Promise<void> {
  await page.evaluate(`{
    document.activeElement.blur();
    scrollTo(0, 0);
    getSelection().removeAllRanges();
    globalThis.expected = new Set(${REACHABLE});
    globalThis.reached = [];
  }`);
  const first = 'document.querySelector(".skip").focus(); reached.push(document.activeElement)';
  await page.evaluate(first);
  for (let presses = 0; presses < MOST_PRESSES; presses++) {
    await page.keyboard.press('Tab');
    const place = await page.evaluate<number>('reached.indexOf(document.activeElement)');
    // A field for a time has a place for each of its parts.
    if (place === (await page.evaluate<number>('reached.length - 1'))) continue;
    if (place >= 0 || (await page.evaluate<boolean>('document.activeElement === document.body'))) {
      break;
    }
    const name = await page.evaluate<string>(
      'reached.push(document.activeElement); document.activeElement.outerHTML.slice(0, 80)',
    );
    assert.equal(await page.evaluate(FAULT), '', `${view}: ${name}`);
  }
  const left = await page.evaluate<string[]>(
    '[...expected].filter((one) => !reached.includes(one)).map((one) => one.outerHTML.slice(0, 80))',
  );
  assert.deepEqual(left, [], `${view}: Tab leaves these out`);
}

/** Opens a view from the menu, by keyboard. */
async function openView(page: Page, label: string): Promise<void> {
  await page.getByRole('button', { name: 'Menu' }).focus();
  await page.keyboard.press('Enter');
  const isChosen = `document.activeElement.textContent === ${JSON.stringify(label)}`;
  while (!(await page.evaluate(isChosen))) await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Menu', expanded: false }).waitFor();
  assert.equal(await page.evaluate('document.activeElement.tagName'), 'H1', label);
  await page.waitForLoadState('networkidle');
}

describe('the dashboard by keyboard on a narrow screen', { skip: NO_CHROMIUM }, () => {
  const site = dashboardSite();
  const NARROW = { width: 390, height: 844 };

  it('reaches every element of every view, and each is seen', async () => {
    const page = await site();
    await page.getByRole('textbox', { name: 'API key' }).fill('x');
    await page.setViewportSize(NARROW);
    await tabThrough(page, 'the entry of the API key');
    await page.setViewportSize({ width: 1280, height: 720 });
    await enterApiKey(page, DEMO_PROFESSIONAL_KEY);
    await openAdvanced(page);
    await page.getByRole('button', { name: 'Add a label' }).click();
    await page.setViewportSize(NARROW);
    await tabThrough(page, 'Generate');
    await page.getByRole('button', { name: 'Remove label' }).press('Enter');
    await page.getByRole('checkbox', { name: 'Run the 15 tests' }).press(' ');
    await generateKey(page);
    await tabThrough(page, 'Generate, with a key');
    await openView(page, 'Keys');
    await page.getByText('More filters').press('Enter');
    await tabThrough(page, 'Keys');
    await page.locator('table.keys tbody a').press('Enter');
    await page.getByRole('button', { name: 'Get the receipt' }).press('Enter');
    await page.getByRole('button', { name: 'Verify' }).waitFor();
    await tabThrough(page, 'the record of a key');
    for (const label of ['Validate', 'Receipts', 'Usage', 'Evidence', 'Status', 'Overview']) {
      await openView(page, label);
      await tabThrough(page, label);
    }
    await page.getByRole('button', { name: 'Menu' }).press('Enter');
    await tabThrough(page, 'the menu');
  });

  it('keeps Tab in a dialog, and gives the focus back', async () => {
    const page = await site();
    await enterApiKey(page, DEMO_PROFESSIONAL_KEY);
    await page.setViewportSize(NARROW);
    await generateKey(page);
    await page.getByRole('button', { name: 'Generate', exact: true }).press('Enter');
    await page.getByRole('dialog').waitFor();
    for (let presses = 0; presses < 5; presses++) {
      await page.keyboard.press('Tab');
      const isInside =
        'document.activeElement.closest("dialog") !== null || document.activeElement === document.body';
      assert.ok(await page.evaluate(isInside), 'the focus left the dialog');
    }
    await page.keyboard.press('Escape');
    assert.equal(await page.evaluate('document.activeElement.textContent'), 'Generate');
  });
});
