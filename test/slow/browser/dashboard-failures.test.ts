/** What the dashboard says after failures, and what it keeps. In a browser, 20 s. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, afterEach, before, describe, it } from 'node:test';
import type { Browser, Page, Route } from 'playwright-core';
import {
  enterApiKey,
  generateBy,
  generateKey,
  launchBrowser,
  NO_CHROMIUM,
  openPage,
  requestIdOf,
  showView,
  type WatchedPage,
  watchTexts,
} from '../../support/browsers/browser.ts';
import { freePort } from '../../support/run/free-port.ts';
import {
  DEMO_KEY,
  DEMO_PROFESSIONAL_KEY,
  makeDataDir,
  phmJson,
  removeDataDir,
  Server,
} from '../../support/servers/server.ts';

const QUOTA = 1_000;
/** Longer than any step here: a second signal ends the server early. */
const OPTIONS = { PHM_RATE_LIMITS: 'off', PHM_DRAIN_SECONDS: '300' };
/** A name for this machine that gets no demo key and that browsers do not trust. */
const OTHER_NAME = 'keys.test';

/** Generates although the shown key has no copy. */
async function generateAnyway(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Generate', exact: true }).click();
  await page.getByRole('button', { name: 'Generate and replace it' }).click();
}

/** Counts requests that were not made, for every account with usage. */
function useUp(dataDir: string, used: number): void {
  const database = new DatabaseSync(join(dataDir, 'phm.db'), { timeout: 10_000 });
  database.prepare('UPDATE usage SET used = ?').run(used);
  database.close();
}

/** Issues two API keys without a monthly quota, one with all scopes and one that can only generate. */
async function issueUnlimitedKeys(dataDir: string): Promise<readonly [all: string, one: string]> {
  const account = await phmJson<{ account_id: string }>(
    ['account', 'create', '--init', '--name', 'large', '--plan', 'enterprise'],
    dataDir,
  );
  const issue = async (...options: string[]) => {
    const args = ['api-key', 'issue', '--account', account.account_id, ...options];
    return (await phmJson<{ api_key: string }>(args, dataDir)).api_key;
  };
  return [await issue(), await issue('--scope', 'generate')];
}

describe('the dashboard after a failure', { skip: NO_CHROMIUM }, () => {
  const dataDir = makeDataDir();
  let server: Server;
  let browser: Browser;
  const opened: WatchedPage[] = [];

  async function open(address = `${server.address}/`): Promise<Page> {
    const watched = await openPage(browser, address);
    opened.push(watched);
    return watched.page;
  }
  const alertOf = (page: Page) => page.getByRole('alert');

  before(async () => {
    // A port that stays its own while the server is down.
    const PHM_PORT = String(await freePort());
    server = await Server.start(dataDir, { ...OPTIONS, PHM_PORT });
    browser = await launchBrowser([`--host-resolver-rules=MAP ${OTHER_NAME} 127.0.0.1`]);
  });
  afterEach(async () => {
    const finished = opened.splice(0);
    await Promise.all(finished.map((watched) => watched.close()));
    const complaints = finished.flatMap((watched) => watched.complaints);
    // Browsers warn beyond loopback that this header has no effect without TLS.
    const own = complaints.filter((text) => !/^The Cross-Origin-Opener-Policy header/.test(text));
    assert.deepEqual(own, [], 'policy, console and requests to elsewhere');
  });
  after(async () => {
    await browser?.close();
    await server?.stop();
    removeDataDir(dataDir);
  });

  it('says what to do about a wrong API key, and discards it', async () => {
    const page = await open();
    const field = page.getByRole('textbox', { name: 'API key' });
    await field.fill('phmsk_not_a_key');
    await page.getByRole('button', { name: 'Use this API key' }).click();
    await alertOf(page).getByText('The API key is not valid').waitFor();
    assert.equal(await field.getAttribute('aria-invalid'), 'true');
    await field.fill('two words');
    await page.getByRole('button', { name: 'Use this API key' }).click();
    await alertOf(page).getByText('contains spaces or invalid characters').waitFor();
    await enterApiKey(page, DEMO_KEY);
    assert.equal(await alertOf(page).count(), 0);
  });

  it('retries the failed request with the demo key, whatever is in the field', async () => {
    const page = await open();
    await page.getByRole('textbox', { name: 'API key' }).fill('phmsk_not_a_key');
    await page.route('**/api/v2/metrics?*', (route) => route.abort(), { times: 1 });
    await page.getByRole('button', { name: 'Use the public demo key' }).click();
    await alertOf(page).getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('button', { name: 'Forget API key' }).waitFor();
  });

  it('says that it did not send a request, instead of calling the server slow', async () => {
    const page = await open();
    await enterApiKey(page, DEMO_KEY);
    const refusal = { success: false, code: 'rate_limited', title: 'Refused', detail: 'Wait.' };
    const headers = { 'retry-after': '40' };
    await page.route('**/api/v2/validate', (route) =>
      route.fulfill({ status: 429, headers, json: refusal }),
    );
    await showView(page, 'Validate');
    await page.getByRole('textbox', { name: 'Key', exact: true }).fill('ff'.repeat(16));
    await page.getByRole('button', { name: 'Validate', exact: true }).click();
    await alertOf(page).getByText('Refused').waitFor();
    await showView(page, 'Evidence');
    await alertOf(page).getByText('this page did not send this one').waitFor();
  });

  it('says when an exhausted quota resets', async () => {
    const order = { security_level: 128 };
    await server.generate(order);
    useUp(dataDir, QUOTA - 1);
    await server.generate(order);
    const page = await open();
    await enterApiKey(page, DEMO_KEY);
    await page.getByRole('button', { name: 'Generate', exact: true }).click();
    await alertOf(page)
      .getByText(/The quota resets on \d+ \w+ \d{4}/)
      .waitFor();
    assert.equal(await page.getByRole('button', { name: /^Try again/ }).count(), 0);
    await showView(page, 'Usage');
    await page.getByText('The quota is used up').waitFor();
    const meter = page.getByRole('meter', { name: 'Requests used this month' });
    assert.equal(await meter.getAttribute('aria-valuetext'), '1,000 of 1,000 used');
    await showView(page, 'Evidence');
    await page.getByText('You can generate more keys next month').waitFor();
  });

  it('treats a double click as one request, for a key or a verdict', async () => {
    const page = await open();
    await enterApiKey(page, DEMO_PROFESSIONAL_KEY);
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    await page.locator('form.order button[type=submit]').dblclick({ delay: 100 });
    await page.getByRole('heading', { name: 'Your 256-bit key' }).waitFor();
    assert.equal(asked.filter((path) => path.endsWith('/generate')).length, 1);
    await showView(page, 'Validate');
    await page.getByRole('textbox', { name: 'Key' }).fill('00'.repeat(16));
    await page.getByRole('button', { name: 'Validate', exact: true }).dblclick({ delay: 100 });
    await page.getByRole('heading', { name: 'Not valid' }).waitFor();
    assert.equal(asked.filter((path) => path.endsWith('/validate')).length, 1);
  });

  it('waits for Retry-After before a retry', async () => {
    const page = await open();
    await enterApiKey(page, DEMO_PROFESSIONAL_KEY);
    const names: string[] = [];
    const refuse = (route: Route) => {
      const named = requestIdOf(route);
      names.push(named['x-request-id']);
      return route.fulfill({ ...refusal, headers: { 'retry-after': '2', ...named } });
    };
    const refusal = {
      status: 503,
      json: { success: false, code: 'overloaded', title: 'Too much work', detail: 'Wait.' },
    };
    await page.route('**/api/v2/generate', refuse, { times: 1 });
    // The button says so for only two seconds.
    const waited = await watchTexts(page, '[role=alert] button:disabled');
    await page.getByRole('button', { name: 'Generate', exact: true }).click();
    await waited(/^Try again in [12] s$/);
    await alertOf(page)
      .getByText(names[0] ?? '')
      .waitFor();
    await page.getByRole('button', { name: 'Try again', exact: true }).press('Enter');
    await page.getByRole('heading', { name: 'Your 256-bit key' }).waitFor();
    assert.equal(await alertOf(page).count(), 0);
    const place = await page.evaluate('document.activeElement.textContent');
    assert.equal(place, 'Your 256-bit key', 'the focus went with the button');
  });

  it('distinguishes a draining server from a stopped one, and loses nothing of the page', async () => {
    const page = await open();
    await enterApiKey(page, DEMO_PROFESSIONAL_KEY);
    await page.getByRole('button', { name: 'Generate', exact: true }).click();
    await page.getByRole('button', { name: 'Reveal' }).click();
    const status = await open();
    await showView(status, 'Status');
    const ended = server.stop('SIGTERM');
    const askUntil = async (heading: string) => {
      while ((await status.getByRole('heading', { name: heading, exact: true }).count()) === 0) {
        await status.getByRole('button', { name: 'Check now' }).click();
        await status.waitForTimeout(100);
      }
    };
    await askUntil('Shutting down');
    await status.getByText('Failing: Accepting requests.').waitFor();
    await server.stop('SIGTERM');
    await ended;
    await askUntil('The server does not answer');
    await status.getByText('Checks, last known state').waitFor();

    assert.equal(await page.locator('.raster').count(), 1, 'the key went with the server');
    await showView(page, 'Usage');
    await alertOf(page).getByText('The server does not answer').waitFor();
    await showView(page, 'Generate');
    await page.locator('.secret').getByText('Not copied yet').waitFor();
    await generateAnyway(page);
    await alertOf(page).getByText('the service never shows a key twice').waitFor();
    await alertOf(page).getByText('The key that is shown is the previous one').waitFor();
    await page.getByRole('link', { name: 'Server does not answer' }).waitFor();

    // A hidden page does not check the state by itself.
    await page.evaluate("Object.defineProperty(document, 'visibilityState', { value: 'hidden' })");
    server = await Server.start(dataDir, { ...OPTIONS, PHM_PORT: new URL(server.address).port });
    await generateBy(page, () => generateAnyway(page));
    await page.getByRole('link', { name: 'Server ready' }).waitFor();
  });

  it('shows why demo keys ended, where copying is impossible, and which scope is missing', async () => {
    const { port } = new URL(server.address);
    const elsewhere = await open(`http://${OTHER_NAME}:${port}/`);
    await elsewhere.getByRole('textbox', { name: 'API key' }).waitFor();
    const demo = elsewhere.getByRole('button', { name: 'Use the public demo key' });
    assert.equal(await demo.count(), 0);

    const page = await open();
    await enterApiKey(page, DEMO_PROFESSIONAL_KEY);
    const { key_id: id } = await generateKey(page);
    const [issued, scoped] = await issueUnlimitedKeys(dataDir);
    await showView(page, 'Usage');
    // Servers learn of an API key within two seconds.
    while ((await alertOf(page).count()) === 0) {
      const answer = page.waitForResponse((response) => response.url().includes('/series'));
      await page.getByRole('button', { name: 'Refresh' }).click();
      await (await answer).finished();
    }
    await alertOf(page)
      .getByText('demo keys ended on this server when the operator issued')
      .waitFor();
    await showView(page, 'Generate');
    await page.getByText(id).waitFor();
    await generateAnyway(page);
    await alertOf(page).getByText('The key that is shown is the previous one').waitFor();
    await page.getByRole('button', { name: 'Enter another API key' }).click();
    await page.getByRole('button', { name: 'Forget both' }).click();
    await page.getByRole('textbox', { name: 'API key' }).waitFor();
    assert.equal(await page.getByRole('button', { name: /demo key/ }).count(), 0);

    await enterApiKey(elsewhere, issued);
    await elsewhere.getByRole('button', { name: 'Generate', exact: true }).click();
    await elsewhere.getByRole('button', { name: 'Copy', exact: true }).click();
    await elsewhere
      .getByText('did not let this page copy, because it was loaded without TLS.')
      .waitFor();
    await elsewhere.getByText('Not copied yet').waitFor();
    await elsewhere.getByRole('button', { name: 'Reveal' }).click();
    await elsewhere.locator('code.digits').selectText();
    await elsewhere.keyboard.press('ControlOrMeta+C');
    await elsewhere.getByText('You have a copy').waitFor();
    await showView(elsewhere, 'Usage');
    await elsewhere.getByText('Unlimited.').waitFor();

    // An API key without the scope of the call that tries it is valid all the same.
    await elsewhere.getByRole('button', { name: 'Forget API key' }).click();
    await enterApiKey(elsewhere, scoped);
    await showView(elsewhere, 'Keys');
    await alertOf(elsewhere).getByText('This API key lacks the scope "read".').waitFor();
    await showView(elsewhere, 'Generate');
    await generateKey(elsewhere);
  });
});
