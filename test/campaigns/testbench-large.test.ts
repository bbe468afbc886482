/** The test bench in Chromium on a file of 200 MB: the page stays smooth, its heap small, and nothing leaves it. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import type { BrowserContext, Page } from 'playwright-core';
import { launchBrowser, NO_CHROMIUM } from '../support/browsers/browser.ts';
import { aesCtr } from '../support/lab/aes-stream.ts';
import { assertSameText, withoutTime } from '../support/lab/same-text.ts';
import { runCommand } from '../support/servers/run-command.ts';
import { makeDataDir, removeDataDir } from '../support/servers/server.ts';

const SIZE_BYTES = 200_000_000;
const OPTIONS = ['--bits', '1000000', '--sequences', 'all'];

/** The longest time without an answer. A slow page has seconds; other programs on the machine take some of it. */
const MAX_GAP_MS = 500;

const MAX_HEAP_BYTES = 150e6;

/** What a reader would feel. */
interface Felt {
  readonly frames: readonly number[];
  readonly ticks: readonly number[];
  readonly heap: readonly number[];
}

/** Measures the time between frames, and between ticks of 10 ms, from now on. */
const MEASURE = `(() => {
  const felt = { frames: [], ticks: [], heap: [] };
  let frame = performance.now();
  let tick = frame;
  const draw = (now) => {
    felt.frames.push(now - frame);
    frame = now;
    requestAnimationFrame(draw);
  };
  requestAnimationFrame((now) => {
    frame = now;
    requestAnimationFrame(draw);
  });
  setInterval(() => {
    const now = performance.now();
    felt.ticks.push(now - tick);
    tick = now;
    felt.heap.push(performance.memory.usedJSHeapSize);
  }, 10);
  globalThis.felt = felt;
})()`;

const summary = (values: readonly number[]): { median: number; most: number } => {
  const sorted = values.toSorted((a, b) => a - b);
  return { median: sorted[sorted.length >>> 1] ?? NaN, most: sorted.at(-1) ?? NaN };
};

/** Cuts the network, and records what the page asks for from then on. */
async function cutNetwork(context: BrowserContext, page: Page): Promise<string[]> {
  const complaints: string[] = [];
  page.on('console', (message) => complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(String(error)));
  await context.setOffline(true);
  context.on('request', (request) => {
    if (!request.url().startsWith('blob:')) complaints.push(`request to ${request.url()}`);
  });
  return complaints;
}

async function saveJson(page: Page): Promise<string> {
  const link = page.getByRole('link', { name: 'Save JSON', exact: true });
  const [file] = await Promise.all([page.waitForEvent('download'), link.click()]);
  return readFileSync(await file.path(), 'utf8');
}

describe('the test bench on a large file', { skip: NO_CHROMIUM }, () => {
  it('stays smooth, small and offline on 200 MB, and reports what the command line reports', async (test) => {
    const folder = makeDataDir();
    const browser = await launchBrowser(['--enable-precise-memory-info']);
    test.after(async () => {
      await browser.close();
      removeDataDir(folder);
    });
    const built = join(folder, 'testbench.html');
    const large = join(folder, 'large.bin');
    writeFileSync(large, aesCtr(Buffer.alloc(32, 28), SIZE_BYTES));
    await runCommand(['testbench', '--output', built]);
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(pathToFileURL(built).href);
    const complaints = await cutNetwork(context, page);
    await page.evaluate(MEASURE);
    await page.setInputFiles('#file', large);
    await page.locator('#start').waitFor();
    await page.getByLabel('Bits in a sequence').fill('1000000');
    await page.getByLabel('Min-entropy').selectOption('');
    const startMs = performance.now();
    await page.locator('#start').click();
    await page.locator('#raster').waitFor({ timeout: 180_000 });
    const seconds = (performance.now() - startMs) / 1000;
    const { frames, ticks, heap } = await page.evaluate<Felt>('felt');
    const [frame, tick, bytes] = [summary(frames), summary(ticks), summary(heap)];
    test.diagnostic(
      `${seconds.toFixed(1)} s; frames ${frames.length}, median ${frame.median.toFixed(1)} ms, longest ${frame.most.toFixed(0)} ms; ticks median ${tick.median.toFixed(1)} ms, longest ${tick.most.toFixed(0)} ms; heap at most ${(bytes.most / 1e6).toFixed(0)} MB`,
    );
    assert.ok(frames.length > 100, `${frames.length} frames`);
    assert.ok(frame.most < MAX_GAP_MS, `${frame.most} ms without a frame`);
    assert.ok(tick.most < MAX_GAP_MS, `${tick.most} ms without a tick`);
    assert.ok(bytes.most < MAX_HEAP_BYTES, `${bytes.most} bytes of heap`);
    const saved = await saveJson(page);
    assert.equal(JSON.parse(saved).sequences.length, 1600);
    const cwd = process.cwd();
    process.chdir(folder);
    test.after(() => process.chdir(cwd));
    const { stdout } = await runCommand(['assess', 'large.bin', ...OPTIONS, '--json']);
    assertSameText(withoutTime(saved), withoutTime(stdout), 'JSON');
    assert.deepEqual(complaints, []);
  });
});
