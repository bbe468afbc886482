/** A dashboard below a base path, for tests of its views in a real browser. */
import assert from 'node:assert/strict';
import { after, afterEach, before } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { makeDataDir, removeDataDir, Server } from '../servers/server.ts';
import { launchBrowser, type OpenOptions, openPage, type WatchedPage } from './browser.ts';

const BASE = '/keys';

export const clipboard = (page: Page): Promise<string> =>
  page.evaluate<string>('navigator.clipboard.readText()');

/** Returns everything that a page could leave behind, as text. */
export const traces = (page: Page): Promise<string> =>
  page.evaluate<string>(`(async () => JSON.stringify([
    { ...localStorage }, { ...sessionStorage }, document.cookie, location.href, history.state,
    await indexedDB.databases(), await caches.keys(), document.documentElement.outerHTML,
    [...document.querySelectorAll('input')].map(({ value }) => value),
  ]))()`);

/**
 * Starts a server and a browser for the tests of the `describe` that calls this. Returns what opens the page of a test, one a
 * test. Each page must end without complaints.
 */
export function dashboardSite(): (options?: OpenOptions) => Promise<Page> {
  const dataDir = makeDataDir();
  let server: Server;
  let browser: Browser;
  let address: string;
  let opened: WatchedPage;

  async function open(options?: OpenOptions): Promise<Page> {
    opened = await openPage(browser, address, options);
    return opened.page;
  }

  before(async () => {
    // Under a base path, a request to a root-relative address would fail.
    server = await Server.start(dataDir, { PHM_BASE_PATH: BASE });
    address = `${new URL(server.address).origin}${BASE}/`;
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
  return open;
}
