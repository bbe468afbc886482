/** The test bench in Firefox: its reports against those of the command line, and what it asks the network for. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { after, before, describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { FirefoxPage, NO_FIREFOX } from '../support/browsers/firefox.ts';
import { aesCtr } from '../support/lab/aes-stream.ts';
import { assertSameText, withoutTime } from '../support/lab/same-text.ts';
import { runCommand } from '../support/servers/run-command.ts';
import { MAIN, makeDataDir, removeDataDir } from '../support/servers/server.ts';

/** Runs in a row. Firefox has left one in ten without workers when a worker started them. */
const RUNS = 24;

describe('the test bench in Firefox', { skip: NO_FIREFOX }, () => {
  const folder = makeDataDir();
  const binary = join(folder, 'source.bin');
  let server: ChildProcess;
  let address = '';
  let page: FirefoxPage;
  before(async () => {
    writeFileSync(binary, aesCtr(Buffer.alloc(32, 23), 75_100));
    server = spawn(process.execPath, [MAIN, 'testbench'], { stdio: ['ignore', 'pipe', 'inherit'] });
    const [line] = await once(server.stdout as Readable, 'data');
    address = String(line).trim();
    page = await FirefoxPage.open(folder);
  });
  after(async () => {
    await page?.close();
    server?.kill('SIGKILL');
    removeDataDir(folder);
  });

  /** Opens the page and drops the file on it. */
  async function open(url: string): Promise<void> {
    await page.goto(url);
    await page.setFile('#file', binary);
    await page.wait(`document.querySelector('#start')?.checkVisibility()`);
    await fill('Bits in a sequence', '10000');
  }

  /** Fills in a field, or chooses the value of a list. */
  async function fill(label: string, value: string): Promise<void> {
    await page.evaluate(`(() => {
      const { control } = [...document.querySelectorAll('label')]
        .find((one) => one.textContent.includes(${JSON.stringify(label)}));
      control.value = ${JSON.stringify(value)};
      for (const name of ['input', 'change']) {
        control.dispatchEvent(new Event(name, { bubbles: true }));
      }
    })()`);
  }

  async function run(shown: '#entropy' | '#raster'): Promise<void> {
    await page.evaluate(`document.querySelector('#start').click()`);
    await page.wait(`document.querySelector('${shown}')?.checkVisibility()`);
  }

  /** Saves a file of the page and returns its text. */
  async function save(form: string, name: string): Promise<string> {
    await page.evaluate(
      `[...document.querySelectorAll('a')].find((link) => link.textContent.trim() === 'Save ${form}').click()`,
    );
    return page.readDownload(name);
  }

  it('writes what the command line writes, and asks for nothing but itself', async () => {
    await open(address);
    await run('#entropy');
    const options = ['assess', 'source.bin', '--bits', '10000', '--sequences', 'all'];
    const cwd = process.cwd();
    process.chdir(folder);
    try {
      for (const form of ['JSON', 'CSV']) {
        const suffix = form.toLowerCase();
        const { code, stdout, stderr } = await runCommand([...options, `--${suffix}`]);
        assert.equal(code, 0, stderr);
        const saved = await save(form, `source.bin.${suffix}`);
        assertSameText(withoutTime(saved), withoutTime(stdout), form);
      }
    } finally {
      process.chdir(cwd);
    }
    const sent = page.requests.filter((url) => !/^(blob|data):/.test(url));
    assert.deepEqual(sent, [address]);
  });

  it('refuses to send anything', async () => {
    const refused = await page.evaluate(`new Promise((resolve) => {
      addEventListener('securitypolicyviolation', (event) => resolve(event.effectiveDirective));
      fetch('https://example.com/').catch(() => {});
    })`);
    assert.equal(refused, 'connect-src');
  });

  it('ends every run, also of a page from a file', async () => {
    const built = join(folder, 'testbench.html');
    await runCommand(['testbench', '--output', built]);
    for (let i = 0; i < RUNS; i++) {
      await open(i % 2 === 0 ? address : pathToFileURL(built).href);
      await fill('Min-entropy', '');
      await run('#raster');
    }
  });
});
