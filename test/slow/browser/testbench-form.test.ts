/** The form of the test bench in Chromium: the command that it shows, and what it says of files and settings. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import type { Browser, Page } from 'playwright-core';
import { intelHex } from '../../../packages/lab/test/support/form-files.ts';
import { drop, openBench, save } from '../../support/browsers/bench-page.ts';
import { launchBrowser, NO_CHROMIUM } from '../../support/browsers/browser.ts';
import { aesCtr } from '../../support/lab/aes-stream.ts';
import { assertSameText, withoutTime } from '../../support/lab/same-text.ts';
import { runCommand } from '../../support/servers/run-command.ts';
import { makeDataDir, removeDataDir } from '../../support/servers/server.ts';

const BYTES = aesCtr(Buffer.alloc(32, 31), 75_100);

describe('the form of the test bench', { skip: NO_CHROMIUM }, () => {
  const folder = makeDataDir();
  const built = join(folder, 'testbench.html');
  let browser: Browser;
  before(async () => {
    await runCommand(['testbench', '--output', built]);
    browser = await launchBrowser();
  });
  after(async () => {
    await browser?.close();
    removeDataDir(folder);
  });

  /** Drops a new file on a new page. */
  async function open(name: string, content: Uint8Array | string, bits = '10000'): Promise<Page> {
    const path = join(folder, name);
    writeFileSync(path, content);
    const { page } = await openBench(browser, pathToFileURL(built).href);
    await drop(page, path, bits);
    return page;
  }

  /** Runs the tests to their end or failure, without an estimate, and returns what the page says of them. */
  async function outcome(page: Page): Promise<string> {
    await page.getByLabel('Min-entropy').selectOption('');
    await page.locator('#start').click();
    await page.locator('#raster, #run .problem').first().waitFor();
    return page.locator('#run p').first().innerText();
  }

  /** Runs the command that the page shows, in the folder of the file, and compares all that it writes. */
  async function compareWithCommand(page: Page): Promise<void> {
    const words = (await page.locator('#command').innerText()).split(' ').slice(1);
    const html = join(folder, 'command.html');
    const cwd = process.cwd();
    process.chdir(folder);
    try {
      for (const [form, option] of [
        ['JSON', ['--json', '--html', html]],
        ['CSV', ['--csv']],
        ['text', []],
      ] as const) {
        const { code, stdout, stderr } = await runCommand([...words, ...option]);
        assert.equal(code, 0, stderr);
        assertSameText(withoutTime(await save(page, form)), withoutTime(stdout), form);
      }
    } finally {
      process.chdir(cwd);
    }
    const expected = withoutTime(readFileSync(html, 'utf8'));
    assertSameText(withoutTime(await save(page, 'HTML')), expected, 'HTML');
  }

  it('shows numbers as the command line takes them, and the reports are equal', async () => {
    const page = await open('-x.bin', BYTES, '1e4');
    await page.getByLabel('Number of sequences').fill('05');
    await page.getByLabel('Bits to skip').fill('1e1');
    await page.getByText('Tests and parameters of SP 800-22').click();
    await page.getByLabel('Serial:').fill('1e1');
    await page.getByLabel('Block frequency:').fill('2e2');
    assert.equal(
      await page.locator('#command').innerText(),
      'phm assess ./-x.bin --offset 10 --bits 10000 --sequences 5 --block-frequency-m 200 --serial-m 10',
    );
    await outcome(page);
    await compareWithCommand(page);
    await page.context().close();
  });

  it('names the supplements in the command if no test is chosen', async () => {
    const page = await open('supplements.bin', BYTES, '20000');
    await page.getByLabel('Number of sequences').fill('5');
    await page.getByLabel('Supplements').selectOption('all');
    await page.getByText('Tests and parameters of SP 800-22').click();
    for (const box of await page.locator('[name="test"]').all()) await box.uncheck();
    assert.equal(
      await page.locator('#command').innerText(),
      'phm assess supplements.bin --bits 20000 --sequences 5 --test autocorrelation --test spectral_peak --test byte_distribution',
    );
    await outcome(page);
    await compareWithCommand(page);
    // The command refuses a parameter of a test that does not run.
    assert.equal(await page.getByLabel('Serial:').isEnabled(), false);
    await page.getByLabel('serial', { exact: true }).check();
    await page.getByLabel('Serial:').fill('5');
    assert.match(await page.locator('#command').innerText(), / --serial-m 5$/);
    await page.getByLabel('serial', { exact: true }).uncheck();
    await page.getByLabel('runs', { exact: true }).check();
    assert.match(await page.locator('#command').innerText(), / 5 --test runs --supplements$/);
    await page.locator('[name="supplements"]').selectOption('thorough');
    assert.match(await page.locator('#command').innerText(), / 5 --test runs --thorough$/);
    await page.context().close();
  });

  it('marks the field at fault alone, in words of the form', async () => {
    const page = await open('marks.bin', BYTES, '-5');
    const invalid = () =>
      page.evaluate<string[]>(
        '[...document.querySelectorAll("#form :is(input, select):invalid")].map(({ name }) => name)',
      );
    assert.deepEqual(await invalid(), ['bits']);
    assert.equal(await page.locator('#command').innerText(), '');
    await page.getByLabel('Bits in a sequence').fill('10000');
    await page.getByText('Tests and parameters of SP 800-22').click();
    await page.getByLabel('Serial:').fill('99');
    await page.getByLabel('Block frequency:').fill('foo');
    assert.deepEqual(await invalid(), ['block-frequency-m', 'serial-m']);
    const message = (id: string) =>
      page.evaluate<string>(`document.getElementById('${id}').validationMessage`);
    assert.match(await message('serial-m'), /^Use an integer from 2 to 24 \(.*§2\.11\.7.*\)\.$/);
    assert.match(
      await message('block-frequency-m'),
      /^Use "nist", "recommended" or an integer M ≥/,
    );
    // The length of a whole file is known at its end only.
    await page.getByLabel('Bits in a sequence').fill('');
    await page.getByLabel('Serial:').fill('');
    await page.getByLabel('Block frequency:').fill('25');
    assert.match(
      await outcome(page),
      /^"Block frequency: block lengths M .*" expected .*, got 25$/,
    );
    await page.context().close();
  });

  it('runs a format whatever the fields of another one hold', async () => {
    const page = await open('fields.csv', [...BYTES].map((byte) => `x,${byte}\n`).join(''));
    await page.getByLabel('Format', { exact: true }).selectOption('csv');
    await page.getByLabel('Column', { exact: true }).fill('99');
    await page.locator('#start').click();
    assert.equal(await page.locator('#run').isVisible(), false, 'outside the bounds');
    await page.getByLabel('Format', { exact: true }).selectOption('binary');
    assert.match(
      await page.locator('#command').innerText(),
      /^phm assess fields\.csv --format binary --bits/,
    );
    assert.match(await outcome(page), /sequences tested/);
    await page.context().close();
  });

  it('says that no bits are left after the skipped ones', async () => {
    const page = await open('short.bin', BYTES.subarray(0, 2_000));
    await page.getByLabel('Bits to skip').fill('16000');
    assert.equal(await outcome(page), 'expected bits after the 16,000 that are skipped, got none');
    await page.context().close();
  });

  it('says what to do about wide values and holes', async () => {
    const wide = await open('wide.csv', [...BYTES].map((byte) => `${byte + 2 ** 39}\n`).join(''));
    const hint = (page: Page): Promise<string> => page.locator('#bitsPerValue-hint').innerText();
    await wide.getByLabel('Format', { exact: true }).selectOption('csv');
    assert.match(await hint(wide), /need more than 32 bits, the maximum/);
    assert.match(await outcome(wide), /^line 1 has \d+, which needs more than 32 bits, the most/);
    await wide.context().close();
    const page = await open('hole.csv', [...BYTES].map((byte) => `1,${byte}\n`).join(''));
    await page.getByLabel('Format', { exact: true }).selectOption('csv');
    assert.equal(await hint(page), 'measured at the start of the file');
    await page.getByLabel('Bits per value').fill('2');
    assert.match(
      await outcome(page),
      /which needs more than 2 bits: give a larger number of bits per value$/,
    );
    await page.context().close();
  });

  it('refuses gzip of several members, or cut off, without a report', async () => {
    const long = gzipSync(aesCtr(Buffer.alloc(32, 32), 2_000_000));
    const short = gzipSync(BYTES);
    for (const [name, content, said] of [
      ['short.gz', Buffer.concat([short, short]), /^the gzip has several members/],
      ['two.gz', Buffer.concat([long, long]), /^the gzip has several members.*: decompress/],
      ['cut.gz', long.subarray(0, 1_500_000), /^the gzip is damaged or incomplete: /],
    ] as const) {
      const page = await open(name, content, '200000');
      assert.match(await outcome(page), said);
      assert.equal(await page.locator('#results').innerText(), '', 'a part would look complete');
      await page.context().close();
    }
  });

  it('takes the form of samples as --format has it, and the reports are equal', async () => {
    const samples = Buffer.alloc(2 * BYTES.length);
    for (const [i, byte] of BYTES.entries()) samples.writeUInt16LE(byte << 4, 2 * i);
    const page = await open('samples.bin', samples);
    const format = page.getByLabel('Format', { exact: true });
    await format.selectOption('parts');
    const form = page.getByLabel('Form with its options');
    assert.equal(await form.inputValue(), 's12in16le');
    await form.fill('u16le:4-');
    assert.equal(await page.locator('#command').innerText(), '', 'no such form');
    await page.locator('#start').click();
    assert.equal(await page.locator('#run').isVisible(), false);
    await form.fill('u16le:4-11');
    await page.getByLabel('Number of sequences').fill('5');
    assert.equal(
      await page.locator('#command').innerText(),
      'phm assess samples.bin --format u16le:4-11 --bits 10000 --sequences 5',
    );
    await outcome(page);
    await compareWithCommand(page);
    await page.context().close();
  });

  it('reads a file that names its form, and says so', async () => {
    const page = await open('records.hex', intelHex(BYTES));
    assert.equal(await page.locator('#recognised').innerText(), 'It looks like Intel HEX.');
    await page.getByLabel('Number of sequences').fill('5');
    await outcome(page);
    await compareWithCommand(page);
    assert.match(await save(page, 'CSV'), /^# Format,"ihex"$/m);
    const bits = await open(
      'bits.bin',
      BYTES.map((byte) => byte & 1),
    );
    assert.match(
      await bits.locator('#recognised').innerText(),
      /^It holds .*It is read as bit8\.$/,
    );
    assert.match(await outcome(bits), /^7 of 7 sequences tested/);
    assert.match(await save(bits, 'CSV'), /^# Format,"bit8"$/m);
    await page.context().close();
    await bits.context().close();
  });

  it('says which of several dropped files it takes, and asks before a file ends a run', async () => {
    const page = await open('running.bin', aesCtr(Buffer.alloc(32, 33), 20_000_000), '50000000');
    const dropFiles = (...names: string[]): Promise<unknown> =>
      page.evaluate(`(() => {
        const dataTransfer = new DataTransfer();
        for (const name of ${JSON.stringify(names)}) {
          dataTransfer.items.add(new File([new Uint8Array(20000)], name));
        }
        dispatchEvent(new DragEvent('drop', { dataTransfer, cancelable: true }));
      })()`);
    await page.getByLabel('Min-entropy').selectOption('');
    await page.locator('#start').click();
    await page.getByRole('button', { name: 'Cancel' }).waitFor();
    const questions: string[] = [];
    page.once('dialog', (dialog) => {
      questions.push(dialog.message());
      void dialog.dismiss();
    });
    await dropFiles('next.bin', 'other.bin');
    assert.deepEqual(questions, [
      'The tests on running.bin are running. End them without a report, and open next.bin?',
    ]);
    assert.match(await page.locator('#facts').innerText(), /running\.bin/);
    assert.equal(await page.locator('#dropped').innerText(), '');
    page.once('dialog', (dialog) => void dialog.accept());
    await dropFiles('next.bin', 'other.bin', 'third.bin');
    assert.equal(
      await page.locator('#dropped').innerText(),
      '3 files were dropped; this page tests one at a time: next.bin. Not taken: other.bin, third.bin.',
    );
    await page.locator('#facts', { hasText: 'next.bin' }).waitFor();
    await dropFiles('last.bin');
    await page.locator('#facts', { hasText: 'last.bin' }).waitFor();
    assert.equal(await page.locator('#dropped').innerText(), '', 'no run, no question');
    await page.context().close();
  });

  it('has no form for an empty file', async () => {
    const { page } = await openBench(browser, pathToFileURL(built).href);
    for (const [name, content, text] of [
      ['empty.bin', '', 'The file is empty.'],
      ['empty.gz', gzipSync(''), 'The file is gzip of nothing.'],
    ] as const) {
      const path = join(folder, name);
      writeFileSync(path, content);
      await page.setInputFiles('#file', path);
      await page.getByText(text).waitFor();
      assert.equal(await page.locator('#settings').isVisible(), false);
    }
    await page.setInputFiles('#file', built);
    await page.locator('#start').waitFor();
    await page.context().close();
  });

  it('says what to write instead of numbers with 0x of different lengths', async () => {
    const text = [...BYTES].map((byte) => `0x${byte.toString(16)}`).join(' ');
    const page = await open('uneven.txt', text);
    const said = await page.locator('#recognised').innerText();
    assert.match(said, /hexadecimal numbers of different lengths\. Write leading zeros/);
    await page.getByLabel('Format', { exact: true }).selectOption('hex');
    assert.match(await outcome(page), /^line 1, column \d+: found 1 digit after 0x.*"0x%02x"$/);
    await page.context().close();
  });
});
