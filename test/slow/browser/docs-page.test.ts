/** The documentation in a real browser under its own policy, below a path prefix: search, requests, accessibility. 30 s. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { launchBrowser, NO_CHROMIUM, untilTrue } from '../../support/browsers/browser.ts';
import { FolderServer } from '../../support/browsers/folder-server.ts';
import { findBarriers } from '../../support/browsers/walk-views.ts';
import { DEMO_KEY, makeDataDir, removeDataDir, Server } from '../../support/servers/server.ts';
import { runInShell } from '../../support/texts/examples.ts';
import { ROOT } from '../../support/texts/imports.ts';

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
    assert.equal(
      page.headers.get('content-security-policy'),
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'",
    );
    await page.body?.cancel();
  });

  it('redirects a page without its suffix and a folder without its slash, and serves no other names', async () => {
    for (const [path, status, end] of [
      ['errors', 200, 'errors.html'],
      ['guides/rotate-keys', 200, 'guides/rotate-keys.html'],
      ['sdk/python', 200, 'sdk/python/'],
      ['assets/docs.js', 200, 'assets/docs.js'],
      ['assets/docs.js.br', 404, 'assets/docs.js.br'],
      ['assets', 404, 'assets'],
      ['guides', 404, 'guides'],
      ['errors.md', 404, 'errors.md'],
      ['json', 404, 'json'],
    ] as const) {
      const answer = await fetch(`${server.address}/docs/${path}`);
      assert.deepEqual(
        [answer.status, answer.url],
        [status, `${server.address}/docs/${end}`],
        path,
      );
      await answer.body?.cancel();
    }
  });

  it('serves its files compressed, at less than a third of the size', async () => {
    for (const path of ['reference.html', 'assets/search.json', 'assets/docs.js']) {
      const lengthOf = async (coding: string) => {
        const headers = { 'accept-encoding': coding };
        const answer = await fetch(`${server.address}/docs/${path}`, { headers });
        assert.equal(answer.headers.get('content-encoding'), coding === 'identity' ? null : coding);
        await answer.body?.cancel();
        return Number(answer.headers.get('content-length'));
      };
      const plain = await lengthOf('identity');
      assert.ok((await lengthOf('br')) < plain / 2.5, path);
      assert.ok((await lengthOf('gzip')) < plain / 2, path);
    }
  });

  it('offers a demo key only to clients that may use it', async () => {
    const offered = async (headers = {}) => (await server.request('/', { headers })).body;
    assert.equal((await offered()).demo_api_key, DEMO_KEY);
    assert.equal((await offered({ 'X-Forwarded-For': '192.0.2.7' })).demo_api_key, null);
  });
});

describe('/docs in a browser', { skip: NO_CHROMIUM }, () => {
  const complaints: string[] = [];
  const strangers: string[] = [];
  let browser: Awaited<ReturnType<typeof launchBrowser>>;
  let page: Page;

  before(async () => {
    browser = await launchBrowser();
    page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning')
        complaints.push(message.text());
    });
    page.on('pageerror', ({ message }) => complaints.push(message));
    page.on('request', (request) => {
      if (!request.url().startsWith(`${server.address}/`)) strangers.push(request.url());
    });
  });
  after(() => browser.close());

  const panel = (operation: string) => page.locator(`.try[data-operation=${operation}]`);
  const open = async (path: string) => {
    await page.goto(`${server.address}/docs/${path}`);
  };

  it('finds a heading by keyboard, and loads the index only then', async () => {
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    await open('');
    await untilTrue(page, "document.querySelector('.search-box') !== null");
    assert.ok(!asked.some((url) => url.endsWith('/search.json')));
    await page.keyboard.press('/');
    await page.keyboard.type('replace an API key');
    const chosen = page.locator('[role=option][aria-selected=true]');
    await chosen.waitFor();
    const first = await chosen.innerText();
    await page.keyboard.press('ArrowDown');
    assert.notEqual(await chosen.innerText(), first);
    await page.keyboard.press('ArrowUp');
    assert.equal(await chosen.innerText(), first);
    await page.keyboard.press('Enter');
    await page.waitForURL(`${server.address}/docs/guides/rotate-keys.html#replace-an-api-key`);
    await untilTrue(page, "document.querySelector(':target') !== null");
  });

  it('closes the results with Escape and says so when there are none', async () => {
    await page.keyboard.press('/');
    await page.keyboard.type('xyzzyqwv');
    await page.getByText('Nothing found.').waitFor();
    await page.keyboard.press('Escape');
    await page.locator('.search-results').waitFor({ state: 'hidden' });
  });

  it('sends a plain request with the demo key, to the server below its prefix', async () => {
    await open('reference#generate');
    const generate = panel('generate');
    await generate.getByRole('button', { name: 'Send' }).press('Enter');
    await generate.getByText(/^Answered 200 in /).waitFor();
    const answer = JSON.parse(await generate.locator('.answer pre').innerText());
    assert.equal(answer.security_level, 256);
    assert.equal(answer.nist_validation, undefined);
  });

  it('fills the key of the answer into the requests that need it', async () => {
    const answer = JSON.parse(await panel('generate').locator('.answer pre').innerText());
    for (const operation of ['getKey', 'revokeKey', 'receipt']) {
      const field = panel(operation).getByRole('textbox', { name: 'key_id' });
      assert.equal(await field.inputValue(), answer.key_id, operation);
    }
    const validate = panel('validate');
    await validate.getByRole('combobox', { name: 'Example' }).selectOption('1');
    const body = JSON.parse(await validate.getByRole('textbox', { name: 'Body' }).inputValue());
    assert.deepEqual(body, { key: answer.key, hash_proof: answer.hash_proof });
    await validate.getByRole('button', { name: 'Send' }).click();
    await validate.getByText(/^Answered 200 in /).waitFor();
    assert.equal(JSON.parse(await validate.locator('.answer pre').innerText()).valid, true);
    const revoke = panel('revokeKey');
    await revoke.getByRole('button', { name: 'Send' }).click();
    await revoke.getByText(/^Answered 200 in /).waitFor();
  });

  it('shows programs that run as they are, with its own address', async () => {
    for (const operation of ['generate', 'validate', 'getKey', 'metrics']) {
      const shown = await panel(operation).locator('.panel > pre').innerText();
      assert.ok(shown.includes(`${server.address}/api/v2/`), shown);
      const { success } = JSON.parse(await runInShell(shown, server.address));
      assert.equal(success, true, operation);
    }
    await panel('generate').getByRole('button', { name: 'TypeScript' }).click();
    const typescript = await panel('generate').locator('.panel > pre').innerText();
    assert.match(typescript, /await phm\.generate\(\{ security_level: 256 \}\)/);
    assert.ok(typescript.includes(`baseUrl: '${server.address}'`));
    await panel('generate').getByRole('button', { name: 'Python' }).click();
    assert.match(
      await panel('generate').locator('.panel > pre').innerText(),
      /phm\.generate\(256\)/,
    );
  });

  it('leads from a problem to what it means', async () => {
    const validate = panel('validate');
    await validate.getByRole('textbox', { name: 'Body' }).fill('{"key": 5}');
    await validate.getByRole('button', { name: 'Send' }).click();
    await validate.getByText(/^Answered 400 in /).waitFor();
    const { help } = JSON.parse(await validate.locator('.answer pre').innerText());
    assert.equal(help, 'docs/errors#invalid_request');
    await page.goto(`${server.address}/${help}`);
    assert.equal(page.url(), `${server.address}/docs/errors.html#invalid_request`);
    await page.locator('tr:target').getByText('invalid_request').first().waitFor();
  });

  it('shows the own API key of the reader in no program, and keeps it nowhere', async () => {
    await open('reference#generate');
    await page.getByLabel('Your API key').fill('phmsk_own_secret');
    const shown = panel('generate').locator('.panel > pre');
    await untilTrue(
      page,
      "document.querySelector('.panel > pre').textContent.includes('api-key.txt')",
    );
    assert.doesNotMatch(await shown.innerText(), /phmsk_/);
    const kept = await page.evaluate<string>(
      'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])',
    );
    assert.doesNotMatch(kept, /phmsk|phm_|proof_/);
    await panel('generate').getByRole('button', { name: 'Send' }).click();
    await panel('generate')
      .getByText(/^Answered 401 in /)
      .waitFor();
  });

  it('keeps a chosen theme from page to page', async () => {
    await page.emulateMedia({ colorScheme: 'light' });
    await open('');
    await page.getByRole('button', { name: 'Dark theme' }).click();
    await open('errors');
    await page.locator('html[data-theme=dark]').waitFor({ state: 'attached' });
    await page.getByRole('button', { name: 'Light theme' }).click();
  });

  /** Checks the page that is open. */
  const checkPage = async (path: string, colorScheme: 'light' | 'dark', width: number) => {
    const where = `${path} ${colorScheme} ${width}`;
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    assert.deepEqual(await findBarriers(page), [], where);
    const wider = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
    assert.ok((await page.evaluate<number>(wider)) <= 0, where);
  };

  it('is accessible and fits every width in both themes', async () => {
    await page.evaluate('sessionStorage.clear()');
    const pages = ['', 'reference', 'errors', 'configuration', 'guides/rotate-keys', 'evidence'];
    for (const path of pages) {
      await open(path);
      if (path === 'reference')
        await panel('generate').getByRole('button', { name: 'Send' }).waitFor();
      for (const colorScheme of ['light', 'dark'] as const) {
        for (const width of [390, 1440]) await checkPage(path, colorScheme, width);
      }
    }
    for (const path of ['cli', 'sdk/', 'encrypted-files', 'receipts', 'guides/failover']) {
      await open(path);
      await checkPage(path, 'light', 390);
      await checkPage(path, 'dark', 1440);
    }
  });

  it('has accessible results and a menu on a narrow screen', async () => {
    await page.setViewportSize({ width: 390, height: 800 });
    await page.keyboard.press('/');
    await page.keyboard.type('quota');
    await page.locator('[role=option]').first().waitFor();
    assert.deepEqual(await findBarriers(page), []);
    await page.keyboard.press('Escape');
    const menu = page.getByRole('button', { name: 'Menu' });
    const link = page.locator('#navigation').getByRole('link', { name: 'Errors' });
    assert.equal(await link.isVisible(), false);
    await menu.click();
    await link.waitFor();
    const top = "document.querySelector('#navigation').getBoundingClientRect().top";
    assert.equal(await page.evaluate(top), 56);
    assert.deepEqual(await findBarriers(page), []);
    await page.keyboard.press('Escape');
    await link.waitFor({ state: 'hidden' });
  });

  it('works from a server of files, which it sends nothing', async () => {
    const files = await FolderServer.start(join(ROOT, 'build/docs'));
    const copy = await browser.newPage();
    const failed: string[] = [];
    copy.on('pageerror', ({ message }) => failed.push(message));
    await copy.goto(`${files.address}/reference.html`);
    await copy.getByText('it sends no requests').waitFor();
    const shown = await copy.locator('.panel > pre').first().innerText();
    assert.match(shown, /http:\/\/127\.0\.0\.1:8080\/api\/v2\/generate/);
    assert.equal(await copy.getByRole('button', { name: 'Send' }).count(), 0);
    await copy.keyboard.press('/');
    await copy.keyboard.type('quota_exceeded');
    await copy.locator('[role=option]').first().waitFor();
    await copy.keyboard.press('Enter');
    await copy.waitForURL(`${files.address}/errors.html#quota_exceeded`);
    assert.deepEqual(failed, []);
    await copy.close();
    await files.stop();
  });

  it('is readable without scripts', async () => {
    const plain = await browser.newPage({ javaScriptEnabled: false });
    await plain.goto(`${server.address}/docs/reference`);
    await plain.getByRole('heading', { name: 'Revoke a key' }).waitFor();
    assert.match(await plain.locator('.try pre').first().innerText(), /^# api-key\.txt|^curl/);
    assert.ok(await plain.locator('#navigation').getByRole('link', { name: 'Errors' }).isVisible());
    await plain.close();
  });

  it('prints the content alone', async () => {
    await page.emulateMedia({ media: 'print' });
    for (const part of ['.bar', '.navigation', '.contents']) {
      assert.equal(await page.locator(part).isVisible(), false, part);
    }
    assert.ok(await page.getByRole('heading', { level: 1 }).isVisible());
    await open('reference');
    assert.ok(await page.locator('.part .fields').first().isVisible());
    await page.emulateMedia({ media: 'screen' });
  });

  it('violates no policy and contacts no other server', () => {
    // Chromium reports refused requests of the page, which were asked for.
    const own = complaints.filter((text) => !/^Failed to load resource: .* 40[01]/.test(text));
    assert.deepEqual(own, []);
    assert.deepEqual(strangers, []);
  });
});
