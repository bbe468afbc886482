/** The test bench in Chromium: its reports against those of the command line, and that no request leaves it. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import type { Browser } from 'playwright-core';
import { type EntropyInput, entropyTrace } from '../../../packages/lab/src/entropy/trace.ts';
import { drop, openBench, run, save } from '../../support/browsers/bench-page.ts';
import { launchBrowser, NO_CHROMIUM } from '../../support/browsers/browser.ts';
import { aesCtr } from '../../support/lab/aes-stream.ts';
import { assertSameText, withoutTime } from '../../support/lab/same-text.ts';
import { runCommand } from '../../support/servers/run-command.ts';
import { MAIN, makeDataDir, removeDataDir } from '../../support/servers/server.ts';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** 60 sequences of 10,000 bits, and a remainder. */
const BYTES = aesCtr(Buffer.alloc(32, 23), 75_100);
const OPTIONS = ['--bits', '10000', '--sequences', 'all'];

const OTHER_FORMS = ['CSV', 'HTML', 'text'] as const;

/** What the identification of a report is computed from. */
function traceOf(json: string): object {
  const { input, options, software } = JSON.parse(json);
  return { input, options, software };
}

/** Returns estimates of the command line as if they were of another input with the same samples. */
function ofInput(json: string, other: Partial<EntropyInput>): string {
  const { report, input, options, software, created, ...figures } = JSON.parse(json);
  const { id: _, ...texts } = report;
  const trace = entropyTrace({
    report: texts,
    input: { ...input, ...other },
    flags: { bitsPerSymbol: options.bits_per_symbol ?? undefined },
    build: software.build,
    created,
  });
  return `${JSON.stringify({ ...trace, ...figures })}\n`;
}

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

async function command(file: string, ...options: string[]): Promise<string> {
  const { code, stdout, stderr } = await runCommand(['assess', file, ...OPTIONS, ...options]);
  assert.equal(code, 0, stderr);
  return stdout.replaceAll(file, basename(file));
}

describe('the test bench', { skip: NO_CHROMIUM }, () => {
  const folder = makeDataDir();
  const built = join(folder, 'testbench.html');
  const binary = join(folder, 'source.bin');
  let browser: Browser;
  before(async () => {
    writeFileSync(binary, BYTES);
    const { code, stderr } = await runCommand(['testbench', '--output', built]);
    assert.deepEqual([code, stderr], [0, '']);
    browser = await launchBrowser();
  });
  after(async () => {
    await browser?.close();
    removeDataDir(folder);
  });

  it('writes what the command line writes, from a server and without a network', async (context) => {
    const server = spawn(process.execPath, [MAIN, 'testbench'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    // A failed test would otherwise leave a server behind, and its pipe would keep this process alive.
    context.after(() => server.kill('SIGKILL'));
    const [line] = await once(server.stdout, 'data');
    const { page, complaints } = await openBench(browser, String(line).trim());
    await drop(page, binary);
    assert.match(await page.locator('#recognised').innerText(), /binary data/);
    await run(page);
    const html = join(folder, 'cli.html');
    const cwd = process.cwd();
    process.chdir(folder);
    try {
      const name = basename(binary);
      const expected = {
        JSON: await command(name, '--json', '--html', html),
        CSV: await command(name, '--csv'),
        HTML: readFileSync(html, 'utf8'),
        text: await command(name),
      };
      const saved = await save(page, 'JSON');
      // First, because the identification stands before them and differs with any of them.
      assert.deepEqual(traceOf(saved), traceOf(expected.JSON));
      assertSameText(withoutTime(saved), withoutTime(expected.JSON), 'JSON');
      for (const form of OTHER_FORMS) {
        assertSameText(withoutTime(await save(page, form)), withoutTime(expected[form]), form);
      }
      const entropyPage = join(folder, 'cli.entropy.html');
      const estimates = {
        JSON: (await runCommand(['assess-entropy', name, '--json', '--html', entropyPage])).stdout,
        HTML: readFileSync(entropyPage, 'utf8'),
        text: (await runCommand(['assess-entropy', name])).stdout,
      };
      for (const form of ['JSON', 'HTML'] as const) {
        const saved = await save(page, `estimates as ${form}`);
        assertSameText(withoutTime(saved), withoutTime(estimates[form]), `estimates as ${form}`);
      }
      const text = (await page.locator('#entropy pre').textContent()) ?? '';
      assertSameText(withoutTime(text), withoutTime(estimates.text), 'the text of the estimates');
    } finally {
      process.chdir(cwd);
    }
    assert.deepEqual(complaints, []);
    await page.context().close();
    server.kill('SIGINT');
    assert.deepEqual(await once(server, 'exit'), [0, null]);
  });

  it('skips bits of hexadecimal digits in gzip, from a file and without a network', async () => {
    const packed = join(folder, 'source.hex.gz');
    writeFileSync(packed, gzipSync(BYTES.toString('hex')));
    const { page, complaints } = await openBench(browser, pathToFileURL(built).href);
    await drop(page, packed);
    assert.match(await page.locator('#recognised').innerText(), /gzip.*hexadecimal/);
    await page.getByLabel('Bits to skip').fill('13');
    await run(page);
    const rows = (csv: string): string => csv.replace(/^#.*\n/gm, '');
    const csv = await save(page, 'CSV');
    assert.match(csv, /^# Format,"gzip:hex"$/m);
    assert.equal(rows(csv), rows(await command(binary, '--csv', '--offset', '13')));
    assert.deepEqual(complaints, []);
    await page.context().close();
  });

  it('asks for the format of decimal numbers', async () => {
    const numbers = join(folder, 'numbers.txt');
    writeFileSync(numbers, [...BYTES].join('\n'));
    const { page } = await openBench(browser, pathToFileURL(built).href);
    await drop(page, numbers);
    await page.locator('#start').click();
    assert.equal(await page.locator('#run').isVisible(), false);
    await page.getByLabel('Format').selectOption('csv');
    assert.equal(await page.getByLabel('Bits per value').inputValue(), '8');
    await run(page);
    const rows = (csv: string): string => csv.replace(/^#.*\n/gm, '');
    assert.equal(rows(await save(page, 'CSV')), rows(await command(binary, '--csv')));
    await page.context().close();
  });

  it('measures the chosen column, and again when another is chosen', async () => {
    const table = join(folder, 'table.csv');
    const lines = [...BYTES].map((byte, i) => `${1_700_000_000 + i},${byte & 31},${byte}`);
    const content = Buffer.from(['time,part,value', ...lines].join('\n'));
    writeFileSync(table, content);
    const { page } = await openBench(browser, pathToFileURL(built).href);
    await drop(page, table);
    const measured = async (column: string): Promise<string> => {
      await page.getByLabel('Column', { exact: true }).fill(column);
      return page.getByLabel('Bits per value').inputValue();
    };
    // Two columns can be the samples, so that none is chosen.
    const column = page.getByLabel('Column', { exact: true });
    assert.equal(await column.inputValue(), '');
    await page.locator('#start').click();
    assert.equal(await page.locator('#run').isVisible(), false);
    assert.equal(await page.locator('#column:invalid').count(), 1);
    assert.deepEqual(
      [await measured('1'), await measured('3'), await measured('2')],
      ['31', '8', '5'],
    );
    await run(page);
    const values = join(folder, 'table.bin');
    writeFileSync(
      values,
      BYTES.map((byte) => byte & 31),
    );
    const options = ['assess-entropy', values, '--bits-per-symbol', '5', '--json'];
    const { stdout } = await runCommand(options);
    const expected = ofInput(stdout, {
      name: 'table.csv',
      size: content.length,
      bytes: content.length,
      bytes_sha256: sha256(content),
      format: 'csv:2:5',
    });
    const estimates = await save(page, 'estimates as JSON');
    assertSameText(withoutTime(estimates), withoutTime(expected), 'the estimates of values');
    await page.getByLabel('Bits per value').fill('12');
    await page.getByText('no estimate: its samples have at most 8 bits').waitFor();
    await run(page);
    assert.match(
      await page.locator('#entropy').innerText(),
      /at most 8 bits, and these values have 12/,
    );
    await page.context().close();
  });

  it('estimates from the first 1,000,000 samples after the skipped bits', async () => {
    const long = join(folder, 'samples.bin');
    const bytes = aesCtr(Buffer.alloc(32, 25), 130_000);
    writeFileSync(long, bytes);
    const rest = join(folder, 'rest.bin');
    writeFileSync(rest, bytes.subarray(100));
    const name = basename(long);
    const expected = async (path: string, ...options: string[]): Promise<string> => {
      const { stdout } = await runCommand(['assess-entropy', path, ...options, '--json']);
      return withoutTime(stdout);
    };
    const { page } = await openBench(browser, pathToFileURL(built).href);
    await drop(page, long);
    await page.getByLabel('Min-entropy').selectOption('bits');
    const estimates = async (skipped: string): Promise<string> => {
      await page.getByLabel('Bits to skip').fill(skipped);
      await run(page);
      return withoutTime(await save(page, 'estimates as JSON'));
    };
    const part = ['--packed', '--subset', '0,1000000'];
    assertSameText(
      await estimates('0'),
      ofInput(await expected(long, ...part), { name }),
      'the estimates of a part',
    );
    const afterSkipping = async (read: Uint8Array, ...options: string[]): Promise<string> =>
      ofInput(await expected(rest, ...options), {
        name,
        size: bytes.length,
        bytes: read.length,
        bytes_sha256: sha256(read),
        offset_bits: 800,
      });
    const upToMillion = bytes.subarray(0, 100 + 125_000);
    const ofBits = await afterSkipping(upToMillion, ...part);
    assertSameText(await estimates('800'), ofBits, 'the estimates of bits after others');
    await page.getByLabel('Min-entropy').selectOption('whole');
    const ofBytes = await afterSkipping(bytes);
    assertSameText(await estimates('800'), ofBytes, 'the estimates of bytes after others');
    await page.getByLabel('Bits to skip').fill('13');
    await run(page);
    assert.match(await page.locator('#entropy').innerText(), /must be a multiple of 8/);
    await page.context().close();
  });

  it('estimates from a text read as it is, with the texts of a laboratory', async () => {
    const name = 'digits.txt';
    writeFileSync(join(folder, name), aesCtr(Buffer.alloc(32, 26), 1_000).toString('hex'));
    const { page } = await openBench(browser, pathToFileURL(built).href);
    await drop(page, join(folder, name), '');
    await page.getByLabel('Format', { exact: true }).selectOption('binary');
    await page.getByText('Texts in the report').click();
    await page.getByLabel('Laboratory').fill('Laboratory <5>');
    await page.getByLabel('Note').fill('22 °C, 3.3 V');
    await run(page);
    const html = join(folder, 'digits.html');
    const texts = ['--laboratory', 'Laboratory <5>', '--note', '22 °C, 3.3 V'];
    const cwd = process.cwd();
    process.chdir(folder);
    try {
      const asItIs = ['--format', 'binary'];
      const options = ['assess-entropy', name, ...asItIs, ...texts, '--json', '--html', html];
      const { stdout } = await runCommand(options);
      const json = await save(page, 'estimates as JSON');
      assertSameText(withoutTime(json), withoutTime(stdout), 'JSON');
    } finally {
      process.chdir(cwd);
    }
    const saved = await save(page, 'estimates as HTML');
    for (const text of ['looks like hexadecimal digits', 'Laboratory &lt;5&gt;']) {
      assert.ok(saved.includes(text), text);
    }
    assertSameText(withoutTime(saved), withoutTime(readFileSync(html, 'utf8')), 'HTML');
    await page.context().close();
  });

  it('takes the tests and parameters of the command line', async () => {
    const { page } = await openBench(browser, pathToFileURL(built).href);
    await drop(page, binary);
    await page.getByText('Tests and parameters of SP 800-22').click();
    for (const test of ['runs', 'dft']) await page.getByLabel(test, { exact: true }).uncheck();
    await page.getByLabel('Block frequency:').fill('nist, 2000');
    await page.getByLabel('Serial:').fill('5');
    await page.getByLabel('Non-overlapping templates:').fill('4');
    await page.getByLabel('Approximate entropy:').fill('99');
    await page.locator('#start').click();
    assert.equal(await page.locator('#run').isVisible(), false, 'outside the bounds');
    await page.getByLabel('Approximate entropy:').fill('3');
    const words = (await page.locator('#command').innerText()).split(' ').slice(1);
    await page.getByLabel('Min-entropy').selectOption('');
    await page.locator('#start').click();
    await page.locator('#raster').waitFor();
    const cwd = process.cwd();
    process.chdir(folder);
    try {
      assert.ok(words.includes('--serial-m') && words.filter((w) => w === '--test').length === 13);
      const { code, stdout, stderr } = await runCommand([...words, '--json']);
      assert.equal(code, 0, stderr);
      assertSameText(withoutTime(await save(page, 'JSON')), withoutTime(stdout), 'JSON');
    } finally {
      process.chdir(cwd);
    }
    await page.context().close();
  });

  it('cancels before a sequence is finished, and while the entropy is estimated', async () => {
    const packed = join(folder, 'large.bin.gz');
    writeFileSync(packed, gzipSync(aesCtr(Buffer.alloc(32, 26), 80_000_000), { level: 0 }));
    const { page, complaints } = await openBench(browser, pathToFileURL(built).href);
    await drop(page, packed, '50000000');
    await page.locator('#start').click();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByText('Cancelled: no sequence was finished.').waitFor();
    assert.equal(await page.locator('#start').isEnabled(), true);
    const samples = join(folder, 'million.bin');
    writeFileSync(samples, aesCtr(Buffer.alloc(32, 27), 1_000_000));
    await drop(page, samples, '1000000');
    await page.locator('#start').click();
    await page.locator('#raster').waitFor();
    assert.equal(await page.locator('#entropy').count(), 0, 'the estimate goes on');
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByText('There is no estimate: cancelled.').waitFor();
    assert.equal(await page.locator('#start').isEnabled(), true);
    assert.deepEqual(complaints, []);
    await page.context().close();
  });

  it('shows the later of two files that come at once', async () => {
    const first = join(folder, 'first.txt');
    writeFileSync(first, BYTES.toString('hex'));
    const { page, complaints } = await openBench(browser, pathToFileURL(built).href);
    // The second file overtakes the first, which is read late.
    await page.evaluate(`(() => {
      const { arrayBuffer } = Blob.prototype;
      const late = Promise.withResolvers();
      globalThis.late = late.promise;
      Blob.prototype.arrayBuffer = async function () {
        Blob.prototype.arrayBuffer = arrayBuffer;
        await new Promise((resolve) => setTimeout(resolve, 500));
        setTimeout(late.resolve, 100);
        return arrayBuffer.call(this);
      };
    })()`);
    for (const [name, path] of [
      ['first', first],
      ['second', binary],
    ] as const) {
      await page.evaluate(`(() => {
        const input = document.createElement('input');
        input.type = 'file';
        input.id = '${name}';
        document.body.append(input);
      })()`);
      await page.setInputFiles(`#${name}`, path);
    }
    await page.evaluate(`(() => {
      for (const name of ['first', 'second']) {
        const dataTransfer = new DataTransfer();
        dataTransfer.items.add(document.getElementById(name).files[0]);
        dispatchEvent(new DragEvent('drop', { dataTransfer, cancelable: true }));
      }
    })()`);
    await page.evaluate('globalThis.late');
    await page.locator('#start').waitFor();
    await page.getByLabel('Bits in a sequence').fill('10000');
    assert.match(await page.locator('#command').innerText(), /source\.bin/);
    await run(page);
    assert.match(await page.locator('#files h2').innerText(), /source\.bin/);
    assert.match(await page.locator('#facts').innerText(), /source\.bin/);
    assert.deepEqual(complaints, []);
    await page.context().close();
  });

  it('reports the finished part of a cancelled run, as the command line reports that many sequences', async () => {
    const long = join(folder, 'long.bin');
    writeFileSync(long, aesCtr(Buffer.alloc(32, 24), 80_000_000));
    const { page } = await openBench(browser, pathToFileURL(built).href);
    await drop(page, long, '1000000');
    await page.getByLabel('Min-entropy').selectOption('');
    await page.locator('#start').click();
    await page.getByText(/^[1-9]\d* of \d+ sequences tested/).waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByText('Ended early: cancelled.').waitFor();
    const { summary, sequences, input } = JSON.parse(await save(page, 'JSON'));
    assert.equal(summary.complete, false);
    const done = sequences.length;
    assert.ok(done > 0 && done < 640, `${done} sequences`);
    assert.ok((await page.locator('#run p').first().innerText()).startsWith(`${done} of `));
    const { stdout } = await runCommand([
      ...['assess', long, '--bits', '1000000', '--sequences', String(done), '--json'],
    ]);
    const expected = JSON.parse(stdout);
    assert.deepEqual(sequences, expected.sequences);
    assert.deepEqual([input.bytes, input.sha256], [expected.input.bytes, expected.input.sha256]);
    await page.context().close();
  });

  it('refuses to send anything', async () => {
    const { page } = await openBench(browser, pathToFileURL(built).href);
    const refused = await page.evaluate(`new Promise((resolve) => {
      addEventListener('securitypolicyviolation', (event) => resolve(event.effectiveDirective));
      fetch('https://example.com/').catch(() => {});
    })`);
    assert.equal(refused, 'connect-src');
    await page.context().close();
  });

  it('has no defects that axe finds, in both themes, narrow and wide', async () => {
    const { page } = await openBench(browser, pathToFileURL(built).href);
    await drop(page, binary);
    await run(page);
    await page.evaluate(AXE);
    for (const colorScheme of ['light', 'dark'] as const) {
      for (const width of [320, 1280]) {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize({ width, height: 720 });
        const found = await page.evaluate<string[]>(
          'axe.run().then(({ violations }) => violations.map(({ id, nodes }) => id + " " + nodes[0].html))',
        );
        assert.deepEqual(found, [], `${colorScheme}, ${width} pixels`);
        const overflow = await page.evaluate<number>(
          'document.documentElement.scrollWidth - document.documentElement.clientWidth',
        );
        assert.ok(overflow <= 0, `${width} pixels: ${overflow} too wide`);
      }
    }
    await page.context().close();
  });
});
