/** Verdicts of `phm-lab assess` where the second level cannot judge all: few sequences, very many, and other parameters. */

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { aesCtr } from '../../../../test/support/aes-stream.ts';
import { commandJson, makeFolder, removeFolder, runCommand } from '../support/run-command.ts';

const stream = (length: number): Buffer => aesCtr(Buffer.alloc(32, 9), length);

let folder = '';
before(() => {
  folder = makeFolder();
});
after(() => removeFolder(folder));

function write(name: string, bytes: Uint8Array): string {
  const path = join(folder, name);
  writeFileSync(path, bytes);
  return path;
}

/** Six tests for short sequences, so that 10 of these have 60 results. */
const SIX_TESTS = [
  'frequency',
  'block_frequency',
  'cumulative_sums',
  'runs',
  'longest_run',
  'dft',
].flatMap((name) => ['--test', name]);

const assess = (file: string, ...flags: string[]) =>
  runCommand(['assess', file, '--sequences', 'all', '--threads', '1', '--fail', ...flags]);

describe('phm-lab assess --fail on 2 to 54 sequences', () => {
  it('fails a dead source by all sequences together', async () => {
    const { code, stdout, stderr } = await assess(
      write('dead.bin', Buffer.alloc(1250)),
      ...['--bits', '1000'],
    );
    assert.deepEqual([code, stderr], [1, '']);
    assert.match(stdout, /^All sequences together: FAILED\.$/m);
    assert.match(
      stdout,
      /^Their smallest corrected p, .* \(frequency, sequence 1\), times their number, /m,
    );
  });

  it('does not fail a sound source, and warns that it is not judged', async () => {
    const file = write('sound.bin', stream(1250));
    const { code, stdout, stderr } = await assess(file, '--bits', '1000', ...SIX_TESTS);
    assert.equal(code, 0);
    assert.match(stdout, /^All sequences together: no failure\.$/m);
    assert.match(
      stdout,
      /^Their smallest corrected p, 0\.003622 .*, 60, is 0\.217347; it fails below 0\.01\.$/m,
    );
    assert.match(stderr, /the source is not judged: needs at least 55 sequences, got 10/);
    const { summary } = await commandJson<{
      summary: { passed: boolean | null; all_sequences: { passed: boolean } };
    }>(['assess', file, '--bits', '1000', '--sequences', 'all']);
    assert.deepEqual([summary.passed, summary.all_sequences.passed], [null, true]);
  });
});

describe('phm-lab assess on more sequences than a distribution is known for', () => {
  const FLAGS = ['--bits', '128', '--test', 'longest_run'];

  it('fails a source whose every sequence fails', async () => {
    const { code, stdout } = await assess(write('zeros.bin', Buffer.alloc(16 * 1400)), ...FLAGS);
    assert.equal(code, 1);
    assert.match(
      stdout,
      /As of 1,300 sequences, with counts in proportion: proportion of longest_run/,
    );
  });

  it('passes a sound one', async () => {
    const { code } = await assess(write('many.bin', stream(16 * 1400)), ...FLAGS);
    assert.equal(code, 0);
  });
});

describe('phm-lab assess with a parameter for which no distribution was measured', () => {
  for (const [flag, value, bits] of [
    ['--serial-m', '2', 100],
    ['--approximate-entropy-m', '1', 128],
  ] as const) {
    it(`does not judge the rows of ${flag} ${value}, and says why`, async () => {
      const file = write('short.bin', stream((1000 * bits) / 8));
      const { code, stdout } = await assess(file, '--bits', String(bits), flag, value);
      assert.equal(code, 0, stdout);
      assert.match(stdout, new RegExp(`known for m = \\d+ only, got ${value}`));
    });
  }
});

describe('the headline of the page', () => {
  async function headline(file: string, ...flags: string[]): Promise<string> {
    const page = join(folder, 'page.html');
    await assess(file, ...flags, '--html', page);
    const [, title = ''] =
      /<h2><span class="sign"[^>]*>(.*?)<\/h2>/.exec(readFileSync(page, 'utf8')) ?? [];
    return title.replace('</span>', ' ');
  }

  it('says FAILED if only the supplements fail', async () => {
    // Every sequence repeats its first half: the lag of 5,120 bits.
    const parts = Array.from({ length: 60 }, (_, i) => {
      const half = aesCtr(Buffer.alloc(32, i), 640);
      return Buffer.concat([half, half]);
    });
    const file = write('copies.bin', Buffer.concat(parts));
    const supplements = ['--bits', '10240', '--supplements', '--test', 'frequency'];
    assert.match(await headline(file, ...supplements), /^✗ .*; supplements FAILED$/);
    const alone = ['--bits', '10240', '--test', 'autocorrelation'];
    assert.match(await headline(file, ...alone), /^✗ Supplements: FAILED, /);
  });

  it('shows no test if only supplements were run, of any number of sequences', async () => {
    const file = write('repeats.bin', Buffer.alloc(12_800, 'a period of 16 b'));
    const alone = ['--format', 'binary', '--bits', '10240', '--test', 'autocorrelation'];
    assert.equal(await headline(file, ...alone), '✗ Supplements: FAILED');
    const page = join(folder, 'sole.html');
    const sole = await runCommand(['assess', file, '--fail', ...alone, '--html', page]);
    const html = readFileSync(page, 'utf8');
    assert.equal(sole.code, 1);
    const title = 'Supplements, not part of SP 800-22: 10,240 bits';
    const [text, trace] = sole.stdout.split('\nReport ');
    assert.match(text, new RegExp(`^${title}\n\nSupplements, not part of SP 800-22:\nsupplement `));
    assert.doesNotMatch(text, /SP 800-22 Rev|0 of 0|A test passes|Exact constants/);
    assert.match(trace, /^Parameters +none$/m);
    assert.ok(html.includes(`<p>${title}</p>`));
    assert.doesNotMatch(html, /SP 800-22 Rev\. 1a \(April|counted with the tests/);
    assert.match(html, /✗<\/span>0 of 1 applicable supplements passed, 1 FAILED<\/h2>/);
    assert.doesNotMatch(html, /id="tests"|id="source"|href="#tests"|tests passed|in eight/);
  });

  it('says FAILED if the sequences fail together', async () => {
    const title = await headline(write('few.bin', Buffer.alloc(1250)), '--bits', '1000');
    assert.match(title, /^✗ \d+ of \d+ single tests passed, source FAILED$/);
  });
});
