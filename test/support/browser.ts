/** A Chromium of the machine, and pages in it that keep an account of what they must not do. */
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Browser, chromium, type Page, type Request } from 'playwright-core';
import { isLoopback } from '../../src/config/index.ts';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

/** `PHM_CHROMIUM`, or the first one on the path. */
export const CHROMIUM: string | undefined =
  process.env.PHM_CHROMIUM ??
  (process.env.PATH ?? '')
    .split(delimiter)
    .concat('/usr/bin')
    .flatMap((folder) => NAMES.map((name) => join(folder, name)))
    .find((path) => existsSync(path));

/** For `describe`: false where there is a browser, else the reason to skip. */
export const NO_CHROMIUM: string | false = CHROMIUM
  ? false
  : `no Chromium on this machine: install one (${NAMES.join(', ')}) or name it in PHM_CHROMIUM`;

export function launchBrowser(options: readonly string[] = []): Promise<Browser> {
  if (!CHROMIUM) throw new Error(String(NO_CHROMIUM));
  // Containers and roots have no user namespaces for its sandbox; it opens nothing but our own pages.
  return chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', ...options] });
}

export interface WatchedPage {
  readonly page: Page;
  /** Breaches of the content policy, script errors, warnings, requests to elsewhere, and tolerant ones. */
  readonly complaints: readonly string[];
  close(): Promise<void>;
}

/** Chromium reports each answer of 4xx and 5xx as an error of its own. */
const STATUS_REPORT = /^Failed to load resource: /;

/**
 * Makes frames, timers and changes of the address come late to the page, as on a busy machine. Keys and clicks
 * do not: what a page owes to the next key must not wait for any of these.
 */
const LATE = `(() => {
  const LATE_MS = 150;
  const { setTimeout: later, requestAnimationFrame: frame } = window;
  window.setTimeout = (work, delay = 0, ...rest) => later(work, delay + LATE_MS, ...rest);
  window.requestAnimationFrame = (work) => frame((time) => later(work, LATE_MS, time));
  addEventListener('hashchange', (event) => {
    if (!event.isTrusted) return;
    event.stopImmediatePropagation();
    later(() => dispatchEvent(new HashChangeEvent('hashchange')), LATE_MS);
  });
})()`;

/** What a new page has. */
const NEW_SIZE = { width: 1280, height: 720 };

export interface OpenOptions {
  /** The page is slow, and the reader is not. */
  readonly isLate?: boolean;
}

/** Whether the service would accept unknown fields in this request of the page. */
function isTolerant(request: Request): boolean {
  const { pathname, search } = new URL(request.url());
  const hasFields = search !== '' || request.postData() !== null;
  return /\/api\//.test(pathname) && hasFields && request.headers().prefer !== 'handling=strict';
}

/** Pages that a test has finished with, for the next: a new one costs its browser half a second of work. */
const finished = new WeakMap<Browser, Page[]>();

/** Opens a page of the dashboard at `address`. */
export async function openPage(
  browser: Browser,
  address: string,
  { isLate = false }: OpenOptions = {},
): Promise<WatchedPage> {
  const page = (isLate ? null : finished.get(browser)?.pop()) ?? (await newPage(browser, isLate));
  const { origin, hostname } = new URL(address);
  // Pages from elsewhere have no clipboard without TLS, and nothing to grant.
  if (isLoopback(hostname)) {
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'], { origin });
  }
  const complaints = watch(page, origin);
  await page.goto(address);
  await page.getByRole('heading', { level: 1 }).waitFor();
  return { page, complaints, close: () => (isLate ? page.context().close() : leave(page)) };
}

async function newPage(browser: Browser, isLate: boolean): Promise<Page> {
  const context = await browser.newContext({ reducedMotion: 'reduce' });
  if (isLate) await context.addInitScript(LATE);
  await context.addInitScript(
    "addEventListener('securitypolicyviolation', (e) => console.error('policy:', e.violatedDirective, e.blockedURI))",
  );
  return context.newPage();
}

/** Collects what the page must not do from now on. */
function watch(page: Page, origin: string): string[] {
  const complaints: string[] = [];
  page.on('console', (message) => {
    const isComplaint = ['error', 'warning'].includes(message.type());
    if (isComplaint && !STATUS_REPORT.test(message.text())) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('request', (request) => {
    const url = new URL(request.url());
    if (url.origin !== origin) complaints.push(`request to ${url.origin}`);
    if (isTolerant(request)) complaints.push(`request without strict handling: ${url.pathname}`);
  });
  return complaints;
}

/** Leaves the page for the next test, as a new one is: nothing stored, routed, watched or emulated. */
async function leave(page: Page): Promise<void> {
  await page.evaluate('localStorage.clear(); sessionStorage.clear()');
  await page.unrouteAll();
  await page.emulateMedia({ colorScheme: null, forcedColors: null });
  await page.setViewportSize(NEW_SIZE);
  await page.goto('about:blank');
  page.removeAllListeners();
  const browser = page.context().browser();
  if (browser) finished.set(browser, [...(finished.get(browser) ?? []), page]);
}

/** Enters an API key as a reader would. */
export async function enterApiKey(page: Page, apiKey: string): Promise<void> {
  await page.getByRole('textbox', { name: 'API key' }).fill(apiKey);
  await page.getByRole('button', { name: 'Use this key' }).click();
  await page.getByRole('button', { name: 'Forget API key' }).waitFor();
}

export async function showView(page: Page, label: string): Promise<void> {
  await page.getByRole('navigation').getByRole('link', { name: label, exact: true }).click();
}

/** What a test reads of the answer to a generate call. */
export interface Generated {
  readonly key: string;
  readonly key_id: string;
  readonly security_strength_bits: number;
  readonly hash_proof: string;
  readonly nist_score: number;
  readonly nist_report: {
    readonly tests_passed: number;
    readonly total_tests: number;
    readonly gate: { readonly p_value: number; readonly tests: number };
  };
}

/** Does `press`, which must send a generate call, and waits until the page shows its key. */
export async function generateBy(page: Page, press: () => Promise<void>): Promise<Generated> {
  const answer = page.waitForResponse((response) => response.url().endsWith('/api/v2/generate'));
  await press();
  const body: Generated = await (await answer).json();
  await page.getByText(body.key_id, { exact: true }).waitFor();
  return body;
}

export function generateKey(page: Page): Promise<Generated> {
  const button = page.getByRole('button', { name: 'Generate', exact: true });
  return generateBy(page, () => button.click());
}
