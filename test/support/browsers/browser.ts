/** Opens pages in the machine's Chromium and records everything that they must not do. */
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Browser, chromium, type Page, type Request, type Route } from 'playwright-core';
import { isLoopback } from '../../../src/config/index.ts';
import { PATIENCE_MS, until } from '../run/until.ts';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

function findProgram(names: readonly string[]): string | undefined {
  return (process.env.PATH ?? '')
    .split(delimiter)
    .concat('/usr/bin')
    .flatMap((folder) => names.map((name) => join(folder, name)))
    .find((path) => existsSync(path));
}

/** `PHM_CHROMIUM`, or the first Chromium on the path. */
export const CHROMIUM: string | undefined = process.env.PHM_CHROMIUM ?? findProgram(NAMES);

/** The first Firefox on the path. */
export const FIREFOX: string | undefined = findProgram(['firefox', 'firefox-esr']);

/** Reason to skip, for `describe`; false if there is a browser. */
export const NO_CHROMIUM: string | false = CHROMIUM
  ? false
  : `no Chromium on this machine: install one (${NAMES.join(', ')}) or name it in PHM_CHROMIUM`;

export async function launchBrowser(options: readonly string[] = []): Promise<Browser> {
  if (!CHROMIUM) throw new Error(String(NO_CHROMIUM));
  // The sandbox needs user namespaces, which containers and root lack. The browser opens only our own pages.
  const args = ['--no-sandbox', ...options];
  const browser = await chromium.launch({ executablePath: CHROMIUM, args });
  browser.on('context', (context) => context.setDefaultTimeout(PATIENCE_MS));
  return browser;
}

/** Waits for an expression to become true. Playwright's own wait needs `eval`, which our pages forbid. */
export function untilTrue(page: Page, expression: string): Promise<void> {
  return until(expression, () => page.evaluate<boolean>(expression));
}

/**
 * Records the texts that elements of this selector show from now on, also those that soon go. Returns what waits until one
 * of them had a text.
 */
export async function watchTexts(
  page: Page,
  selector: string,
): Promise<(text: RegExp) => Promise<void>> {
  await page.evaluate(`{
    const seen = (globalThis.seenTexts = []);
    const look = () => {
      for (const { textContent } of document.querySelectorAll(${JSON.stringify(selector)})) seen.push(textContent);
    };
    new MutationObserver(look).observe(document, {
      subtree: true, childList: true, characterData: true, attributes: true,
    });
  }`);
  return async (text) => {
    await untilTrue(page, `seenTexts.some((text) => ${text}.test(text))`);
  };
}

export interface WatchedPage {
  readonly page: Page;
  /**
   * Violations of the content security policy, script errors, warnings, requests to other hosts, and requests
   * that accept unknown fields.
   */
  readonly complaints: readonly string[];
  close(): Promise<void>;
}

/** Chromium reports each 4xx and 5xx response as an error of its own. */
const STATUS_REPORT = /^Failed to load resource: /;

/**
 * Delays frames, timers and changes of the address, as a busy machine does. Keys and clicks stay prompt: a page
 * must handle the next key without waiting for any of these.
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

/** Options of a new page. */
const NEW_SIZE = { width: 1280, height: 720 };

export interface OpenOptions {
  /** Makes the page slow, but not its reader. */
  readonly isLate?: boolean;
}

/** Reports whether the service would accept unknown fields in this request. */
function isTolerant(request: Request): boolean {
  const { pathname, search } = new URL(request.url());
  const hasFields = search !== '' || request.postData() !== null;
  return /\/api\//.test(pathname) && hasFields && request.headers().prefer !== 'handling=strict';
}

/** Pages that earlier tests have finished with. A new page costs the browser half a second of work. */
const finished = new WeakMap<Browser, Page[]>();

/** Opens a page of the dashboard at `address`. */
export async function openPage(
  browser: Browser,
  address: string,
  { isLate = false }: OpenOptions = {},
): Promise<WatchedPage> {
  const page = (isLate ? null : finished.get(browser)?.pop()) ?? (await newPage(browser, isLate));
  const { origin, hostname } = new URL(address);
  // Without TLS, pages from other hosts have no clipboard, so there is nothing to grant.
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

/** Records what the page must not do from now on. */
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

/** Resets the page for the next test: nothing stored, routed, watched or emulated. */
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

/** Types an API key as a reader would, and opens Generate if the address names no view. */
export async function enterApiKey(page: Page, apiKey: string): Promise<void> {
  await page.getByRole('textbox', { name: 'API key' }).fill(apiKey);
  await page.getByRole('button', { name: 'Use this API key' }).click();
  await page.getByRole('button', { name: 'Forget API key' }).waitFor();
  if ((await page.evaluate('location.hash')) === '') await showView(page, 'Generate');
}

/** Unfolds what few orders of a key need: source, modulation, tests, receipt. */
export async function openAdvanced(page: Page): Promise<void> {
  await page.getByText('Advanced: source').click();
}

export async function showView(page: Page, label: string): Promise<void> {
  await page.getByRole('navigation').getByRole('link', { name: label, exact: true }).click();
}

/** The parts of a generate response that tests read. */
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

/** Runs `press`, which must send a generate request, and waits until the page shows its key. */
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

/** Holds the next request to an address like this until `release` lets it pass. */
export async function holdNext(
  page: Page,
  address: string,
): Promise<{ held: Promise<void>; release(): void }> {
  const { promise: held, resolve: note } = Promise.withResolvers<void>();
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const pass = async (route: Route) => {
    note();
    await released;
    await route.continue();
  };
  await page.route(address, pass, { times: 1 });
  return { held, release };
}

/** Returns the `X-Request-Id` of a request as the header of an answer, as the service repeats it. */
export function requestIdOf(route: Route): { 'x-request-id': string } {
  return { 'x-request-id': route.request().headers()['x-request-id'] ?? '' };
}

/** Code for a page: its browser then lacks ML-DSA-44. */
export const WITHOUT_ML_DSA = `{
  const { importKey } = SubtleCrypto.prototype;
  SubtleCrypto.prototype.importKey = async function (...args) {
    if (args[2] === 'ML-DSA-44') throw new DOMException('Unrecognized name.', 'NotSupportedError');
    return importKey.apply(this, args);
  };
}`;
