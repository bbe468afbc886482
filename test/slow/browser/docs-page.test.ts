/** The page of the API documentation: it works in a real browser under its own policy. 10 s. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { launchBrowser, NO_CHROMIUM } from '../../support/browser.ts';
import { DEMO_KEY, makeDataDir, removeDataDir, Server } from '../../support/server.ts';
import { findBarriers } from '../../support/walk-views.ts';

const dataDir = makeDataDir();
let server: Server;

before(async () => {
  server = await Server.start(dataDir, { PHM_BASE_PATH: '/phm' });
});
after(async () => {
  await server.stop();
  removeDataDir(dataDir);
});

describe('/docs', () => {
  it('redirects to its page, which loads from this server only', async () => {
    const page = await fetch(`${server.address}/docs`);
    assert.equal(page.url, `${server.address}/docs/`);
    assert.match(page.headers.get('content-type') ?? '', /^text\/html/);
    assert.match(
      page.headers.get('content-security-policy') ?? '',
      /^default-src 'none'; script-src 'self'; style-src 'self';/,
    );
    assert.doesNotMatch(await page.text(), /https?:\/\//);
  });

  it('serves the files that the page names and no others of the renderer', async () => {
    for (const [file, status] of [
      ['ui/swagger-ui-bundle.js', 200],
      ['ui/swagger-ui.css', 200],
      ['docs.js', 200],
      ['docs.js.br', 404],
      ['ui/index.html', 404],
      ['ui/oauth2-redirect.html', 404],
      ['ui/swagger-ui.js', 404],
      ['json', 404],
    ] as const) {
      const answer = await fetch(`${server.address}/docs/${file}`);
      assert.equal(answer.status, status, file);
      await answer.body?.cancel();
    }
  });

  it('serves them compressed, at less than a third of the size', async () => {
    const lengthOf = async (coding: string) => {
      const headers = { 'accept-encoding': coding };
      const answer = await fetch(`${server.address}/docs/ui/swagger-ui-bundle.js`, { headers });
      assert.equal(answer.headers.get('content-encoding'), coding === 'identity' ? null : coding);
      await answer.body?.cancel();
      return Number(answer.headers.get('content-length'));
    };
    const plain = await lengthOf('identity');
    assert.ok((await lengthOf('br')) < plain / 4);
    assert.ok((await lengthOf('gzip')) < plain / 3);
  });

  it('offers a demo key only to clients that may use it', async () => {
    const offered = async (headers = {}) => (await server.request('/', { headers })).body;
    assert.equal((await offered()).demo_api_key, DEMO_KEY);
    assert.equal((await offered({ 'X-Forwarded-For': '192.0.2.7' })).demo_api_key, null);
  });
});

describe('/docs in a browser', { skip: NO_CHROMIUM }, () => {
  const generate = '#operations-keys-generate';
  const complaints: string[] = [];
  const strangers: string[] = [];
  let browser: Awaited<ReturnType<typeof launchBrowser>>;
  let page: Page;

  before(async () => {
    browser = await launchBrowser();
    page = await browser.newPage({ viewport: { width: 360, height: 800 } });
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning')
        complaints.push(message.text());
    });
    page.on('pageerror', ({ message }) => complaints.push(message));
    page.on('request', (request) => {
      const url = request.url();
      if (!url.startsWith(server.address) && !url.startsWith('data:')) strangers.push(url);
    });
    await page.goto(`${server.address}/docs`);
  });
  after(() => browser.close());

  it('generates a key with the demo key, by keyboard', async () => {
    await page.locator(`${generate} .opblock-summary-control`).press('Enter');
    await page.locator(`${generate} .try-out__btn`).press('Enter');
    await page.locator(`${generate} .execute`).press('Enter');
    const body = page.locator(`${generate} .live-responses-table .microlight`).first();
    await body.waitFor();
    assert.match(await body.innerText(), /"certification_status": "PASS"/);
  });

  it('shows the examples with its own address', async () => {
    const samples = page.locator(`${generate} .samples`);
    for (const [language, word] of [
      ['Python', 'urlopen('],
      ['TypeScript', 'new PhmClient('],
      ['curl', 'curl -s'],
    ] as const) {
      await samples.getByRole('button', { name: language }).press('Enter');
      const text = await samples.locator('pre').innerText();
      assert.ok(text.includes(word), language);
      assert.ok(text.includes(server.address), text);
    }
  });

  it('asks for an API key in a dialog that keeps the focus and returns it', async () => {
    const opener = page.getByRole('button', { name: 'Authorize' });
    await opener.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'API key' });
    await dialog.getByRole('button', { name: 'Logout' }).press('Enter');
    const field = dialog.getByRole('textbox');
    await field.waitFor();
    const isFocusIn = (selector: string) =>
      page.evaluate<boolean>(
        `document.activeElement.closest(${JSON.stringify(selector)}) !== null`,
      );
    for (let presses = 0; presses < 6; presses++) {
      assert.ok(
        await isFocusIn('[role=dialog]'),
        `the focus is outside after ${presses} times Tab`,
      );
      await page.keyboard.press('Tab');
    }
    await field.fill(DEMO_KEY);
    await field.press('Enter');
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    assert.ok(await isFocusIn('.btn.authorize'));
  });

  it('names every control, announces the answer, and is readable in both colour schemes', async () => {
    await page.getByRole('status').getByText('The server responded with status 200.').waitFor();
    await page.getByRole('textbox', { name: 'Request body' }).waitFor();
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      const ground = colorScheme === 'dark' ? 'html.dark-mode' : 'html:not(.dark-mode)';
      await page.locator(ground).waitFor();
      const found = await findBarriers(page);
      // The renderer puts the link to a call into the button that opens it.
      const own = found.filter((line) => !/^(nested-interactive|heading-order|region):/.test(line));
      assert.deepEqual(own, [], colorScheme);
    }
  });

  it('fits a narrow screen, violates no policy and contacts no other server', async () => {
    const wider = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
    assert.equal(await page.evaluate(wider), 0);
    assert.deepEqual(complaints, []);
    assert.deepEqual(strangers, []);
  });
});
