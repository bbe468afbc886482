/** No button loses a key: what the dashboard keeps, asks and says. */
import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import type { Browser, Page, Route } from 'playwright-core';
import {
  enterApiKey,
  type Generated,
  generateBy,
  generateKey,
  holdNext,
  launchBrowser,
  NO_CHROMIUM,
  openPage,
  showView,
  type WatchedPage,
} from '../../support/browsers/browser.ts';
import {
  DEMO_PROFESSIONAL_KEY,
  makeDataDir,
  removeDataDir,
  Server,
} from '../../support/servers/server.ts';

const GENERATE = '**/api/v2/generate';
const AGREE = 'Generate and replace it';
const KEEP = 'Keep the key';

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const isShown = (page: Page, { key_id: id }: Generated) => page.getByText(id).isVisible();

async function prepare(page: Page): Promise<void> {
  await enterApiKey(page, DEMO_PROFESSIONAL_KEY);
}

/** Leaves the page by `leave`, answers no to the browser's question, and returns the kind of the question. */
async function refuseToLeave(page: Page, leave: () => Promise<unknown>): Promise<string> {
  const asked = page.waitForEvent('dialog');
  const left = leave().catch(() => undefined);
  const dialog = await asked;
  await dialog.dismiss();
  await left;
  return dialog.type();
}

describe('the dashboard with a generated key', { skip: NO_CHROMIUM }, () => {
  const dataDir = makeDataDir();
  let server: Server;
  let browser: Browser;
  let opened: WatchedPage;

  async function open(): Promise<Page> {
    opened = await openPage(browser, `${server.address}/`);
    return opened.page;
  }
  async function openWithKey(): Promise<[Page, Generated]> {
    const page = await open();
    await prepare(page);
    return [page, await generateKey(page)];
  }

  before(async () => {
    server = await Server.start(dataDir, { PHM_RATE_LIMITS: 'off' });
    browser = await launchBrowser();
  });
  afterEach(async () => {
    await opened.close();
    assert.deepEqual(opened.complaints, [], 'policy, console and requests to elsewhere');
  });
  after(async () => {
    await browser?.close();
    await server?.stop();
    removeDataDir(dataDir);
  });

  it('asks before it replaces a key without a copy; Enter, Escape and a second click keep it', async () => {
    const [page, first] = await openWithKey();
    let calls = 0;
    page.on('request', (request) => {
      if (request.url().endsWith('/generate')) calls++;
    });
    const dialog = page.getByRole('dialog', { name: 'Replace a key without a copy?' });
    await button(page, 'Generate').focus();
    await page.keyboard.press('Enter');
    await page.keyboard.press('Enter');
    await dialog.waitFor({ state: 'detached' });
    await page.keyboard.press('Enter');
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    assert.equal(await page.evaluate('document.activeElement.textContent'), 'Generate');

    await button(page, 'Generate').dblclick({ delay: 50 });
    await dialog.getByText('You have neither copied nor downloaded the key').waitFor();
    const box = await dialog.getByRole('button', { name: AGREE }).boundingBox();
    assert.ok(box);
    await page.mouse.move(box.x + 9, box.y + 9);
    await page.mouse.down({ clickCount: 2 });
    await page.mouse.up({ clickCount: 2 });
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    assert.equal(await isShown(page, first), true);
    assert.equal(calls, 0, 'a key was generated');
  });

  it('keeps the key after every failed request for the next, until the next key arrives', async () => {
    const [page, first] = await openWithKey();
    const refusal = (status: number, code: string, headers = {}) => ({
      status,
      headers,
      json: { success: false, code, title: `It is ${code}`, detail: 'Wait.' },
    });
    const failures: [string, (route: Route) => Promise<void>][] = [
      ['The server does not answer', (route) => route.abort('internetdisconnected')],
      ['It is rate_limited', (route) => route.fulfill(refusal(429, 'rate_limited'))],
      ['Something else answered', (route) => route.fulfill({ json: { success: true } })],
      ['It is internal_error', (route) => route.fulfill(refusal(500, 'internal_error'))],
      ['Something else answered', (route) => route.fulfill({ status: 502, body: '<html>' })],
      ['It is invalid_api_key', (route) => route.fulfill(refusal(401, 'invalid_api_key'))],
    ];
    for (const [title, fail] of failures) {
      await page.route(GENERATE, fail, { times: 1 });
      await button(page, 'Generate').click();
      await button(page, AGREE).click();
      const alert = page.getByRole('alert');
      await alert.getByText(title).waitFor();
      await alert
        .getByText('The key that is shown is the previous one. It has not changed.')
        .waitFor();
      assert.equal(await isShown(page, first), true, title);
    }
    await button(page, 'Enter another API key').click();
    await page.getByRole('dialog', { name: 'Forget the API key and the generated key?' }).waitFor();
    await button(page, KEEP).click();

    const { held, release } = await holdNext(page, GENERATE);
    const place = await button(page, 'Generate').boundingBox();
    await button(page, 'Generate').click();
    const arrival = generateBy(page, () => button(page, AGREE).click());
    await held;
    assert.equal(await isShown(page, first), true, 'the key went before the next one came');
    assert.deepEqual(await button(page, 'Generate').boundingBox(), place);
    release();
    const second = await arrival;
    assert.notEqual(second.key, first.key);
    assert.equal(await isShown(page, first), false);
    assert.deepEqual(await button(page, 'Generate').boundingBox(), place);
  });

  it('keeps a key without a copy, and a pending one, across other views and Back', async () => {
    const [page, first] = await openWithKey();
    await button(page, 'Reveal').click();
    await showView(page, 'Validate');
    await page.getByRole('link', { name: 'Key not copied yet' }).waitFor();
    assert.equal((await page.content()).includes(first.key), false, 'the key is in another view');
    await page.goBack();
    await page.getByText(first.key_id).waitFor();
    await button(page, 'Reveal').waitFor();

    await button(page, 'Copy').click();
    await page.getByText('You have a copy').waitFor();
    const { held, release } = await holdNext(page, GENERATE);
    const answer = page.waitForResponse((response) => response.url().endsWith('/generate'));
    await button(page, 'Generate').click();
    await held;
    await showView(page, 'Usage');
    await page.getByRole('link', { name: 'Generating a key' }).waitFor();
    release();
    const second: Generated = await (await answer).json();
    await page.getByRole('link', { name: 'Key not copied yet' }).click();
    await page.getByText(second.key_id).waitFor();
    assert.equal(await isShown(page, first), false);
    await showView(page, 'Status');
    await page.goForward().catch(() => null);
    await showView(page, 'Generate');
    assert.equal(await isShown(page, second), true);
  });

  it('asks before the page is closed or left without a copy', async () => {
    const [page, first] = await openWithKey();
    const close = () => page.close({ runBeforeUnload: true });
    assert.equal(await refuseToLeave(page, close), 'beforeunload');
    const link = page.getByRole('link', { name: 'Docs' });
    assert.equal(
      await refuseToLeave(page, () => link.click({ noWaitAfter: true })),
      'beforeunload',
    );
    assert.equal(await isShown(page, first), true);
    const file = page.waitForEvent('download');
    await button(page, 'Download').click();
    await file;
    await page.getByText('You have a copy').waitFor();
    let asked = 0;
    page.on('dialog', async (dialog) => {
      asked++;
      await dialog.accept();
    });
    await link.click();
    await page.waitForURL(/\/docs\/?$/);
    assert.equal(asked, 0);
  });

  it('asks before the API key is forgotten while a key is present or pending', async () => {
    const [page, first] = await openWithKey();
    const dialog = page.getByRole('dialog', { name: 'Forget the API key and the generated key?' });
    await button(page, 'Forget API key').click();
    await dialog.getByText('You have neither copied nor downloaded the key').waitFor();
    await button(page, KEEP).click();
    assert.equal(await isShown(page, first), true);
    // Another tab has its own key; dropping that one does not affect this one.
    const other = await page.context().newPage();
    await other.goto(`${server.address}/`);
    await prepare(other);
    await generateKey(other);
    await button(other, 'Forget API key').click();
    await button(other, 'Forget both').click();
    await other.getByRole('textbox', { name: 'API key' }).waitFor();
    assert.equal(await isShown(page, first), true);
    await other.close();

    await button(page, 'Forget').click();
    await page.getByRole('dialog', { name: 'Forget a key without a copy?' }).waitFor();
    await button(page, 'Forget it').click();
    assert.equal(await isShown(page, first), false);
    assert.equal(await page.evaluate('document.activeElement.tagName'), 'H1');
    const { held, release } = await holdNext(page, GENERATE);
    await button(page, 'Generate').click();
    await held;
    await button(page, 'Forget API key').click();
    await dialog.getByText('The service is generating a key.').waitFor();
    const close = () => page.close({ runBeforeUnload: true });
    assert.equal(await refuseToLeave(page, close), 'beforeunload');
    await button(page, 'Forget both').click();
    await page.getByRole('textbox', { name: 'API key' }).waitFor();
    release();
    await prepare(page);
    assert.equal(await page.locator('.secret').count(), 0, 'a key of the session before came in');
  });

  it('assigns a late copy and a late answer to the right key', async () => {
    const [page, first] = await openWithKey();
    await page.evaluate(
      'navigator.clipboard.writeText = () => new Promise((done) => { globalThis.allowCopy = done; })',
    );
    await button(page, 'Copy').click();
    await button(page, 'Generate').click();
    const second = await generateBy(page, () => button(page, AGREE).click());
    await page.evaluate('allowCopy()');
    await page.getByText('Not copied yet').waitFor();
    const { held, release } = await holdNext(page, GENERATE);
    await button(page, 'Generate').click();
    const arrival = generateBy(page, () => button(page, AGREE).click());
    await held;
    await button(page, 'Forget').click();
    await page.getByRole('dialog', { name: 'Forget a key without a copy?' }).waitFor();
    release();
    const third = await arrival;
    await button(page, 'Forget it').click();
    assert.deepEqual(await Promise.all([first, second, third].map((key) => isShown(page, key))), [
      false,
      false,
      true,
    ]);
  });

  it('asks nothing once the key has a copy, and forgets it when the view changes', async () => {
    const [page, first] = await openWithKey();
    await button(page, 'Copy').click();
    await page.getByText('You have a copy').waitFor();
    const second = await generateKey(page);
    assert.equal(await isShown(page, first), false);
    await button(page, 'Copy').click();
    await page.getByText('You have a copy').waitFor();
    await showView(page, 'Usage');
    assert.equal(await page.getByRole('link', { name: 'Key not copied yet' }).count(), 0);
    await showView(page, 'Generate');
    assert.equal(await isShown(page, second), false);
    await button(page, 'Forget API key').click();
    await page.getByRole('textbox', { name: 'API key' }).waitFor();
  });
});
