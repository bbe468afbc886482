/** The workers of the test bench in Chromium: as many as a run needs, none after it, and a failure ends the run. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { launchBrowser, NO_CHROMIUM, untilTrue } from '../../support/browsers/browser.ts';
import { aesCtr } from '../../support/lab/aes-stream.ts';
import { PATIENCE_MS } from '../../support/run/until.ts';
import { runCommand } from '../../support/servers/run-command.ts';
import { makeDataDir, removeDataDir } from '../../support/servers/server.ts';

/** Gives the page four cores, and records in `suites` the starts and ends of suite workers. */
const WATCH = `(() => {
  Object.defineProperty(navigator, 'hardwareConcurrency', { value: 4 });
  const Original = Worker;
  const suites = (globalThis.suites = { started: 0, ended: 0, programs: {} });
  globalThis.Worker = class extends Original {
    constructor(address, { name }) {
      const program = suites.programs[name];
      super(program ? URL.createObjectURL(new Blob([program])) : address, { name });
      if (name !== 'suite') return;
      suites.started++;
      this.terminate = () => {
        suites.ended++;
        super.terminate();
      };
    }
  };
})()`;

describe('the workers of the test bench', { skip: NO_CHROMIUM }, () => {
  const folder = makeDataDir();
  const built = join(folder, 'testbench.html');
  const small = join(folder, 'small.bin');
  const large = join(folder, 'large.bin');
  let browser: Browser;
  before(async () => {
    writeFileSync(small, aesCtr(Buffer.alloc(32, 29), 50_000));
    writeFileSync(large, aesCtr(Buffer.alloc(32, 30), 80_000_000));
    await runCommand(['testbench', '--output', built]);
    browser = await launchBrowser();
  });
  after(async () => {
    await browser?.close();
    removeDataDir(folder);
  });

  /** Drops a file on a new page. */
  async function open(path: string, bits: string): Promise<Page> {
    const page = await browser.newPage();
    await page.addInitScript(WATCH);
    await page.goto(pathToFileURL(built).href);
    await page.setInputFiles('#file', path);
    await page.locator('#start').waitFor();
    await page.getByLabel('Bits in a sequence').fill(bits);
    await page.getByLabel('Min-entropy').selectOption('');
    return page;
  }

  async function run(page: Page): Promise<void> {
    await page.locator('#start').click();
    await page.locator('#raster').waitFor();
  }

  /** Suite workers that the page has started and ended. */
  const suites = (page: Page): Promise<[number, number]> =>
    page.evaluate('[suites.started, suites.ended]');

  /** Waits until the page has no worker, of any kind. */
  async function assertNone(page: Page): Promise<void> {
    for (const worker of page.workers()) {
      const isOver = () => !page.workers().includes(worker);
      if (!isOver()) await worker.waitForEvent('close', { timeout: PATIENCE_MS });
    }
    assert.deepEqual(page.workers(), []);
  }

  it('starts one for one sequence, one for each core for many, and ends them', async () => {
    const page = await open(small, '400000');
    await run(page);
    assert.deepEqual(await suites(page), [1, 1]);
    await page.getByLabel('Bits in a sequence').fill('10000');
    await run(page);
    assert.deepEqual(await suites(page), [5, 5]);
    await assertNone(page);
    await page.close();
  });

  it('ends them when the run is cancelled, and when another file is opened', async () => {
    const page = await open(large, '1000000');
    await page.locator('#start').click();
    await page.getByText(/^[1-9]\d* of \d+ sequences tested/).waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByText('Ended early: cancelled.').waitFor();
    assert.deepEqual(await suites(page), [4, 4]);
    await page.locator('#start').click();
    await page.getByText(/^[1-9]\d* of \d+ sequences tested/).waitFor();
    const asked: string[] = [];
    page.once('dialog', (dialog) => {
      asked.push(dialog.message());
      void dialog.accept();
    });
    await page.setInputFiles('#file', small);
    await page.getByText('small.bin').first().waitFor();
    assert.match(asked.join(), /^The tests on large\.bin are running\. End them without a report/);
    assert.deepEqual(await suites(page), [8, 8]);
    await page.locator('#start').waitFor();
    await untilTrue(
      page,
      '/^[0-9a-f]{64}$/.test(document.querySelector("#facts").lastChild.textContent)',
    );
    await assertNone(page);
    await page.close();
  });

  it('ends the run with the reason of a worker that fails, and the next run is whole', async () => {
    const page = await open(small, '10000');
    for (const [program, reason] of [
      [`throw new Error('out of order')`, /the tests on sequence \d+ failed: .*out of order/],
      [
        `onmessage = ({ data: { port } }) => { port.onmessage = () => { throw new Error('later') } }`,
        /the tests on sequence \d+ failed: .*later/,
      ],
    ] as const) {
      await page.evaluate(`suites.programs.suite = ${JSON.stringify(program)}`);
      await page.locator('#start').click();
      assert.match(await page.getByRole('alert').innerText(), reason);
      assert.equal(await page.locator('#start').isEnabled(), true);
      await assertNone(page);
    }
    await page.evaluate('suites.programs = {}');
    await run(page);
    assert.equal(await page.getByRole('alert').count(), 0);
    await page.close();
  });
});
