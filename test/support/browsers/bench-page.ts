/** Opens the page of the test bench and uses it as a reader does. */
import { readFileSync } from 'node:fs';
import type { Browser, Page } from 'playwright-core';

interface BenchPage {
  readonly page: Page;
  /** Messages, errors and requests of the page. */
  readonly complaints: readonly string[];
}

/** Opens the page, cuts the network, and records what the page asks for from then on. */
export async function openBench(browser: Browser, address: string): Promise<BenchPage> {
  const context = await browser.newContext();
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('console', (message) => complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(String(error)));
  await page.goto(address);
  await page.getByRole('heading', { level: 1 }).waitFor();
  await context.setOffline(true);
  context.on('request', (request) => {
    if (!request.url().startsWith('blob:')) complaints.push(`request to ${request.url()}`);
  });
  return { page, complaints };
}

/** Drops a file on the page and fills in the length of its sequences. */
export async function drop(page: Page, path: string, bits = '10000'): Promise<void> {
  await page.setInputFiles('#file', path);
  await page.locator('#start').waitFor();
  await page.getByLabel('Bits in a sequence').fill(bits);
}

export async function run(page: Page): Promise<void> {
  await page.locator('#start').click();
  await page.locator('#entropy').waitFor();
}

/** Saves a file of the page and returns its text. */
export async function save(page: Page, form: string): Promise<string> {
  const link = page.getByRole('link', { name: `Save ${form}`, exact: true });
  const [file] = await Promise.all([page.waitForEvent('download'), link.click()]);
  return readFileSync(await file.path(), 'utf8');
}
