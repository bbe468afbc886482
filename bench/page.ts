/**
 * Measures the dashboard: bytes on the wire, and the first contentful paint on a slow processor.
 *
 *   node bench/page.ts [--runs N] [--throttle N] [--save]
 *
 * Each run has its own browser context, so that nothing is cached. The real server runs over loopback, so the
 * figures describe the page and not a network. Server and browser share the cores.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Browser, Page } from 'playwright-core';
import { enterApiKey, launchBrowser, showView } from '../test/support/browsers/browser.ts';
import { DEMO_PROFESSIONAL_KEY, Server } from '../test/support/servers/server.ts';
import { positive } from './load.ts';
import { machine, median, saveResult } from './results.ts';

interface Part {
  readonly path: string;
  readonly bytes: number;
}

/** Records the bodies that a page loads from its server, compressed as sent. */
function watchParts(page: Page): Part[] {
  const parts: Part[] = [];
  page.on('requestfinished', async (request) => {
    const { pathname: path } = new URL(request.url());
    if (path.startsWith('/api/') || path === '/health') return;
    const { responseBodySize: bytes } = await request.sizes();
    // A repeated request for an unchanged file has no body.
    if (bytes > 0) parts.push({ path, bytes });
  });
  return parts;
}

/** Returns the milliseconds from the start of the navigation to the first content, on a slowed processor. */
async function firstPaint(browser: Browser, address: string, throttle: number): Promise<number> {
  const context = await browser.newContext();
  try {
    const page = await context.newPage();
    const session = await context.newCDPSession(page);
    await session.send('Emulation.setCPUThrottlingRate', { rate: throttle });
    await page.goto(address);
    await page.getByRole('heading', { level: 1 }).waitFor();
    return await page.evaluate<number>(`new Promise((resolve) => {
      new PerformanceObserver((list) => {
        const [entry] = list.getEntriesByName('first-contentful-paint');
        if (entry) resolve(entry.startTime);
      }).observe({ type: 'paint', buffered: true });
    })`);
  } finally {
    await context.close();
  }
}

async function weigh(browser: Browser, address: string): Promise<{ first: Part[]; later: Part[] }> {
  const page = await browser.newPage();
  const parts = watchParts(page);
  await page.goto(address);
  await page.getByRole('textbox', { name: 'API key' }).waitFor();
  await page.waitForLoadState('networkidle');
  const first = [...parts];
  await enterApiKey(page, DEMO_PROFESSIONAL_KEY);
  await showView(page, 'Usage');
  await page.locator('canvas').first().waitFor();
  await page.waitForLoadState('networkidle');
  return { first, later: parts.slice(first.length) };
}

function describeParts(title: string, parts: readonly Part[]): string[] {
  const total = parts.reduce((sum, { bytes }) => sum + bytes, 0);
  const lines = parts.map(({ path, bytes }) => `  ${path.padEnd(36)}${String(bytes).padStart(8)}`);
  return [`${title.padEnd(38)}${String(total).padStart(8)}`, ...lines];
}

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '5' },
    throttle: { type: 'string', default: '4' },
    save: { type: 'boolean', default: false },
  },
});
const runs = positive('--runs', values.runs);
const throttle = positive('--throttle', values.throttle);
const folder = mkdtempSync(join(tmpdir(), 'phm-bench-'));
const server = await Server.start(join(folder, 'data'));
const browser = await launchBrowser();
try {
  const address = `${server.address}/`;
  // Without a key there is no chart.
  await server.generate({ security_level: 256 }, DEMO_PROFESSIONAL_KEY);
  const { first, later } = await weigh(browser, address);
  const paints: number[] = [];
  for (let run = 0; run < runs; run++) paints.push(await firstPaint(browser, address, throttle));
  const text = `${[
    machine(),
    `Chromium ${browser.version()}`,
    '',
    'bytes on the wire, compressed bodies',
    ...describeParts('first view', first),
    ...describeParts('later, with the first chart', later),
    '',
    `first contentful paint, processor slowed ${throttle} times: median ${median(paints).toFixed(0)} ms of ${runs} (${paints.map((ms) => ms.toFixed(0)).join(', ')})`,
  ].join('\n')}\n`;
  process.stdout.write(text);
  if (values.save) saveResult('page', text);
} finally {
  await browser.close();
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
}
