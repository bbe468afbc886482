/**
 * `phm assess --html` as users see it: the page, its file, and files that must stay unchanged. The command runs in this
 * process, or in a separate one for tests of pipes and signals.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { minimumBits, resolveParameters, rowLabels, TEST_NAMES } from '#sp800-22';
import { PART_NAMES } from '../../../packages/sp800-22/src/source-rule/index.ts';
import { aesCtr } from '../../support/lab/aes-stream.ts';
import { OpenAssess } from '../../support/lab/open-assess.ts';
import { runCommand } from '../../support/servers/run-command.ts';
import { MAIN, makeDataDir, removeDataDir } from '../../support/servers/server.ts';

let dataDir: string;
before(() => {
  dataDir = makeDataDir();
});
after(() => removeDataDir(dataDir));

/** Returns an AES-256-CTR stream, which passes the tests and is the same in every run. */
const stream = (length: number): Buffer => aesCtr(Buffer.alloc(32, 5), length);

function write(name: string, content: string | Uint8Array): string {
  const path = join(dataDir, name);
  writeFileSync(path, content);
  return path;
}

/** One thread: short sequences take less time than starting another one. */
const assess = (...args: string[]) =>
  runCommand(['assess', '--threads', '1', ...args], { SOURCE_DATE_EPOCH: '1700000000' });

/** Six tests for short sequences, with eight rows. */
const SIX_TESTS = [
  'frequency',
  'block_frequency',
  'cumulative_sums',
  'runs',
  'longest_run',
  'dft',
].flatMap((name) => ['--test', name]);

const MANY = ['--bits', '1000', '--sequences', 'all'];

/** Runs `phm assess … --html`, which must succeed, and returns the page. */
async function pageOf(file: string, ...args: string[]): Promise<string> {
  const path = join(dataDir, `${basename(file)}.html`);
  const { code, stderr } = await assess(file, ...args, '--html', path);
  assert.deepEqual([code, stderr.replace(/^hint: .*\n/gm, '')], [0, '']);
  const page = readFileSync(path, 'utf8');
  assertWellFormed(page);
  assertSelfContained(page);
  return page;
}

const VOID = new Set(['meta', 'link', 'img', 'wbr', 'br']);

/** Asserts that the elements of the page are nested and closed correctly. */
function assertWellFormed(page: string): void {
  const open: string[] = [];
  const body = page.replace(/<style>.*?<\/style>/s, '').replace('<!DOCTYPE html>', '');
  assert.doesNotMatch(body.replace(/<\/?[a-z][a-z0-9]*(\s[^<>]*)?>/g, ''), /[<>]/);
  for (const [, close, name, rest] of body.matchAll(/<(\/?)([a-z][a-z0-9]*)([^<>]*)>/g)) {
    if (close) assert.equal(open.pop(), name);
    else if (!VOID.has(name) && !rest.endsWith('/')) open.push(name);
  }
  assert.deepEqual(open, []);
}

const LINKS = [
  'https://csrc.nist.gov/news/2022/decision-to-revise-nist-sp-800-22-rev-1a',
  'https://doi.org/10.6028/NIST.SP.800-22r1a',
];

/** Asserts that the page loads and runs nothing, and links only to the standard. */
function assertSelfContained(page: string): void {
  const policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:";
  assert.ok(
    page.includes(`<meta http-equiv="Content-Security-Policy" content="${escaped(policy)}">`),
  );
  assert.doesNotMatch(page, /<script|@import|url\(/i);
  for (const [tag] of page.matchAll(/<[a-z][^<>]*>/g))
    assert.doesNotMatch(tag, /\son\w+=|javascript:/i);
  for (const [, source] of page.matchAll(/\ssrc="([^"]*)"/g))
    assert.match(source, /^data:image\/png/);
  const targets = [...page.matchAll(/<(\w+)[^>]*\shref="([^"]*)"/g)];
  const elsewhere = targets.filter(([, , target]) => !/^(#[a-z]+|data:,)$/.test(target));
  assert.deepEqual(
    elsewhere.map(([, tag, target]) => `${tag} ${target}`),
    LINKS.map((link) => `a ${link}`),
  );
  for (const [, id] of page.matchAll(/href="#([a-z]+)"/g)) assert.ok(page.includes(`id="${id}"`));
}

const escaped = (text: string): string => text.replaceAll("'", '&#39;');

const countOf = (page: string, part: string): number => page.split(part).length - 1;

/** Returns the result of each part of the verdict, by its title, with the figures beside it. */
function partsOf(
  page: string,
): Record<string, { p: string; limit: string; result: string; found: string }> {
  const [, body = ''] =
    /<caption>Parts of the verdict<\/caption>.*?<tbody>(.*?)<\/tbody>/s.exec(page) ?? [];
  const rows = body
    .split('</tr>')
    .slice(0, -1)
    .map((row) => {
      const [title, p, limit, result, found] = [...row.matchAll(/<t[hd][^>]*>(.*?)<\/t[hd]>/g)].map(
        ([, cell]) => cell.replace(/<[^>]*>/g, ''),
      );
      return [title, { p, limit, result, found }] as const;
    });
  assert.equal(rows.length, PART_NAMES.length);
  return Object.fromEntries(rows);
}

/** Returns the results of the parts, in their order. */
const resultsOf = (page: string): string[] =>
  Object.values(partsOf(page)).map(({ result }) => result);

describe('the page of phm assess --html', () => {
  it('reports one sequence: verdict, tests with reasons, p-values, pictures', async () => {
    const page = await pageOf(write('one.bin', stream(1000)));
    assert.match(
      page,
      /<title>Report [0-9a-f]{12}-[0-9a-f]{8}: SP 800-22 report on [^<]*one\.bin<\/title>/,
    );
    assert.match(page, /SP 800-22 Rev\. 1a: 8,000 bits, exact constants/);
    const parameters = resolveParameters(8000);
    const applicable = TEST_NAMES.filter((name) => minimumBits(name, parameters) <= 8000);
    const [short, tests] = [applicable.length, TEST_NAMES.length];
    const counts = `${short} of ${short} applicable tests passed; ${tests - short} of ${tests} not applicable`;
    assert.match(page, /✓<\/span>Source: passed<\/h2>/);
    assert.ok(page.includes(`<p>${counts}.</p>`), counts);
    const notJudged = { p: '-', limit: '0.003', result: 'not judged' };
    assert.deepEqual(partsOf(page)['second level'], {
      ...notJudged,
      found: 'needs at least 55 sequences, got 1',
    });
    const passed = PART_NAMES.map((name) => (name === 'second_level' ? 'not judged' : '✓ passed'));
    assert.deepEqual(resultsOf(page), passed);
    assert.match(
      page,
      /<p>Smallest p-value: 0\.\d+, \w+, sequence 1, bits 0 to 7,999 of the input\.<\/p>/,
    );
    assert.match(page, /<h2>What this does not prove<\/h2>/);
    assert.match(page, /NIST certifies nothing by SP 800-22/);
    assert.match(page, /rank<\/th><td>not applicable: needs at least 38,912 bits, got 8,000<\/td>/);
    assert.equal(countOf(page, '<th scope="row">'), TEST_NAMES.length + PART_NAMES.length);
    const pValues = applicable.flatMap((name) => rowLabels(name, 8000)).length;
    assert.ok(page.includes(`aria-label="${pValues} p-values of ${short} tests; below 0.01: 0;`));
    for (const heading of ['Bits', 'Random walk', 'Spectrum']) {
      assert.ok(page.includes(`<figure><h3>${heading} of sequence 1</h3>`), heading);
    }
    assert.match(page, /<dt>SHA-256 of the bytes read<\/dt><dd>[0-9a-f]{64}<\/dd>/);
    assert.equal(countOf(page, '2023-11-14T22:13:20Z'), 3);
    assert.doesNotMatch(page, /class="histogram"|ended early/i);
  });

  it('names the tests that a sequence failed', async () => {
    const page = await pageOf(write('zero.bin', new Uint8Array(200)), '--test', 'frequency');
    assert.match(page, /✗<\/span>Source: FAILED<\/h2>/);
    const { 'smallest p-value': smallest, 'low sequences': low } = partsOf(page);
    assert.deepEqual(smallest, {
      ...{ p: '0', limit: '0.003', result: '✗ FAILED' },
      found: 'frequency of sequence 1: 0, of 1',
    });
    assert.equal(low.result, '✗ FAILED');
    assert.match(page, /<p>0 of 1 tests passed\.<\/p><p>Failed: frequency\.<\/p>/);
    assert.match(page, /<td><span class="failed">✗ failed<\/span><\/td>/);
    assert.doesNotMatch(page, /Few sequences say little/);
    assert.match(page, /S_n = −1,600; its largest distance from 0 is 1,600, or 40\.00 √n/);
    assert.match(
      page,
      /Above the picture \(▲\): 40\.0 √n at k = 0\. k = 0 reflects the share of ones\./,
    );
  });

  it('names the piece of a sequence that fails the source, and does not speak of chance', async () => {
    const bytes = stream(2 ** 17);
    bytes.write(
      'Model TRNG-7, firmware 1.2.3, captured 2026-11-29. '.repeat(11).slice(0, 512),
      4096,
    );
    const page = await pageOf(write('header.bin', bytes), '--format', 'binary');
    assert.match(page, /✗<\/span>Source: FAILED<\/h2>/);
    const { pieces, 'smallest p-value': smallest } = partsOf(page);
    assert.deepEqual([smallest.result, pieces.result], ['✓ passed', '✗ FAILED']);
    assert.match(
      pieces.found,
      /^bits 32,768 to 36,863 of sequence 1: 0 of 512 ones in bit 1 of each byte$/,
    );
    assert.match(page, /<dt>tests failed<\/dt><dd>2<\/dd>/);
    // A sentence on chance beside it would contradict.
    assert.doesNotMatch(page, /sound sequence in eight/);
    const sound = await pageOf(write('chance.bin', stream(2 ** 17)));
    assert.match(sound, /About one sound sequence in eight fails one or more of the 15 tests/);
  });

  it('shows every row of a judged source and marks the failed row', async () => {
    const bytes = stream(7500).map((byte, i) => (i % 2 === 0 ? byte | 0x11 : byte));
    const page = await pageOf(write('sixty.bin', bytes), ...MANY, ...SIX_TESTS);
    assert.match(page, /✗<\/span>Source: FAILED<\/h2>/);
    const unjudged = 'not judged';
    assert.deepEqual(resultsOf(page), [...Array(3).fill('✗ FAILED'), ...Array(3).fill(unjudged)]);
    const { found } = partsOf(page)['second level'];
    assert.match(page, /<caption>Rows that FAILED: a check is below 0\.000188<\/caption>/);
    assert.match(page, /0\.3 % divided by 16 checks of 8 rows/);
    assert.match(page, /Interval: 0\.9514643 to 1\.0000000, 58 to 60 of 60\./);
    assert.match(page, /distributed as those of a sound source at this length/);
    const failed = Number(/^(\d) of 8 rows failed$/.exec(found)?.[1]);
    assert.ok(failed > 0);
    // Six tests, eight rows, and those that failed once more in the verdict.
    assert.equal(countOf(page, 'class="histogram"'), 14 + failed);
    assert.equal(countOf(page, '<tr class="failed">'), 2 * failed);
    assert.equal(countOf(page, 'class="histogram ecdf"'), 6);
    assert.match(page, /<tr class="failed"><th scope="row">frequency<\/th>/);
    assert.match(page, /<h2>Proportion of sequences with p ≥ 0\.01<\/h2>/);
    assert.doesNotMatch(page, /<h2>p-values<\/h2>/);
  });

  it('plots the p-values of too few sequences for rows, and says what was not judged', async () => {
    const page = await pageOf(
      write('nine.bin', stream(1125)),
      ...MANY,
      '--test',
      'cumulative_sums',
    );
    assert.match(page, /✓<\/span>Source: passed<\/h2>/);
    const { 'smallest p-value': smallest, 'second level': secondLevel } = partsOf(page);
    assert.deepEqual([smallest.result, secondLevel.result], ['✓ passed', 'not judged']);
    assert.equal(secondLevel.found, 'needs at least 55 sequences, got 9');
    assert.match(page, /<dt>single tests failed<\/dt><dd>0<\/dd>/);
    assert.match(page, /<p>Few sequences say little about their source\./);
    assert.match(page, /aria-label="18 p-values of 1 test;/);
    assert.equal(countOf(page, '<th scope="row">'), 1 + PART_NAMES.length);
    assert.doesNotMatch(page, /random_excursions|class="histogram"/);
    assert.match(page, /<h2>Sequences? 1 (and \d )?in pictures<\/h2>/);
  });

  it('is the same for the same input, on any number of threads', async () => {
    const file = write('same.bin', stream(7500));
    const [one, three] = [
      await pageOf(file, ...MANY, '--threads', '1'),
      await pageOf(file, ...MANY, '--threads', '3'),
    ];
    assert.equal(three, one);
    assert.ok(one.length < 150_000);
  });

  it('names what a laboratory says, and ends with its identification', async () => {
    const texts = ['--laboratory', 'Lab <1>', '--device', 'D & Co'];
    const page = await pageOf(write('lab.bin', stream(7500)), ...MANY, ...texts);
    assert.match(page, /<h1><bdi>lab\.bin<\/bdi><\/h1>/);
    assert.match(page, /<dt>Device under test<\/dt><dd>D &amp; Co<\/dd>/);
    assert.match(page, /except in full without written approval of the laboratory/);
    assert.match(page, /<dt>Laboratory<\/dt><dd>Lab &lt;1&gt;<\/dd>/);
    const [, id] = /<dt>Report<\/dt><dd>([0-9a-f-]{21})<\/dd>/.exec(page) ?? [];
    assert.ok(page.includes(`End of report ${id}</p>`));
    assert.match(page, /<p>Authorised by/);
  });

  it('has no picture of the bits with --omit-bits', async () => {
    const file = write('secret.bin', stream(7500));
    const [shown, omitted] = [
      await pageOf(file, ...MANY),
      await pageOf(file, ...MANY, '--omit-bits'),
    ];
    assert.match(shown, /<img class="raster"/);
    assert.match(shown, /content:"[^"]*Contains bits of the item/);
    assert.doesNotMatch(omitted, /<img |Contains bits|as secret as/);
    assert.match(omitted, /The picture of the bits is left out\./);
    assert.match(omitted, /<h3>Random walk of sequence 1<\/h3>/);
    const { code, stderr } = await assess(file, ...MANY, '--omit-bits');
    assert.deepEqual([code, stderr], [2, 'phm: --omit-bits needs --html\n']);
  });

  it('says which bits were tested, and which were not', async () => {
    const page = await pageOf(write('rest.bin', stream(1001)), ...MANY, '--offset', '3');
    assert.match(page, /<dt>Bits tested<\/dt><dd>3 to 8002; 5 after them are not tested<\/dd>/);
    assert.match(
      await pageOf(write('whole.bin', stream(1000)), ...MANY),
      /<dd>0 to 7999, the end of the input<\/dd>/,
    );
  });

  it('states the decision rule, and where it differs from the standard', async () => {
    const one = ['--test', 'block_frequency'];
    const ofMany = await pageOf(write('rule.bin', stream(2 ** 17)), '--bits', '16384', ...one);
    assert.match(ofMany, /<p>A test passes if its smallest p-value, corrected for their number,/);
    assert.match(ofMany, /block_frequency also runs with M = 128, the value of the NIST program/);
    assert.doesNotMatch(ofMany, /class probabilities/);
    const short = await pageOf(write('ten.bin', stream(1250)), ...MANY, ...one);
    assert.doesNotMatch(short, /Differences from SP 800-22/);
    assert.match(short, /The source fails if p of one part is below its limit\./);
    assert.match(short, /The limits sum to 0\.9 %: at most so many sound sources fail\./);
    const shares = [...short.matchAll(/(?:<p>|\. )([A-Z][a-z -]+), (0\.\d+) %: /g)];
    assert.deepEqual(
      shares.map(([, title, share]) => `${title} ${share}`),
      [
        ...['Smallest p-value 0.3', 'Second level 0.3', 'Low sequences 0.2'],
        ...['Pieces 0.04', 'Drift 0.04', 'Repeats 0.02'],
      ],
    );
  });

  it('lists failing sequences and shows the worst beside the first', async () => {
    const bytes = stream(1125).fill(0, 500, 625);
    const page = await pageOf(
      write('worst.bin', bytes),
      ...MANY,
      '--test',
      'runs',
      '--test',
      'frequency',
    );
    assert.match(page, /<h2>Sequences 1 and 5 in pictures<\/h2>/);
    assert.match(
      page,
      />5<\/th><td class="number">4,000<\/td><td class="number">4,999<\/td><td><span class="counts">frequency /,
    );
    assert.equal(countOf(page, '<img class="raster"'), 2);
  });

  it('does not change standard output', async () => {
    const file = write('stdout.bin', stream(1000));
    for (const kind of [[], ['--json'], ['--csv']]) {
      const without = await assess(file, ...MANY, ...kind);
      assert.deepEqual(
        await assess(file, ...MANY, ...kind, '--html', join(dataDir, 'x.html')),
        without,
      );
    }
  });

  it('escapes a hostile file name', async () => {
    const name = `<script>alert(1)<\u2215script>"'><img src=x onerror=alert(1)>&lt;\u001b[31m.bin`;
    const page = await pageOf(write(name, stream(200)));
    const shown = '&lt;script&gt;alert(1)&lt;∕script&gt;&quot;&#39;&gt;&lt;img src=x';
    assert.equal(countOf(page, shown), 4);
    assert.ok(page.includes('&amp;lt;\\u001b[31m.bin'));
    assert.equal(countOf(page, '<img '), 1);
  });
});

describe('phm assess --html after an interrupt', () => {
  async function interrupt(command: OpenAssess): Promise<void> {
    const ended = command.ended();
    command.child.kill('SIGINT');
    assert.equal(await ended, 1, command.stderr);
  }

  it('writes a page of the finished sequences that says it ended early', async () => {
    const path = join(dataDir, 'early.html');
    // Standard input has slightly more than three sequences and stays open.
    const command = new OpenAssess(['-', ...MANY, '--test', 'runs', '--csv', '--html', path]);
    command.child.stdin?.write(stream(380));
    await command.untilWritten('\n3,runs,1,,');
    await interrupt(command);
    assert.match(command.stderr, /^phm: interrupted; the report covers .* 3 sequences$/m);
    const page = readFileSync(path, 'utf8');
    assertWellFormed(page);
    assert.match(page, /3 sequences of 1,000 bits, exact constants; <strong[^>]*>ended early/);
    assert.match(
      page,
      /<strong>Ended early:<\/strong> this report covers only what was finished: 3 sequences\./,
    );
  });

  it('keeps an older page if no sequence was finished', async () => {
    const path = write('older.html', 'older');
    const command = new OpenAssess(['-', '--bits', String(2 ** 26), '--html', path]);
    // The input exceeds the pipe's buffer but not a sequence, so the write ends only once the command reads.
    await new Promise((resolve) => command.child.stdin?.write(Buffer.alloc(2 ** 22), resolve));
    await interrupt(command);
    assert.equal(readFileSync(path, 'utf8'), 'older');
  });
});

describe('the file of phm assess --html', () => {
  it('replaces an older page, is readable by its owner only, and leaves nothing else', async () => {
    const folder = join(dataDir, 'folder');
    mkdirSync(folder);
    const path = join(folder, 'page.html');
    writeFileSync(path, 'older');
    symlinkSync('page.html', join(folder, 'link.html'));
    const { code } = await assess(
      write('ok.bin', stream(200)),
      '--html',
      join(folder, 'link.html'),
    );
    assert.equal(code, 0);
    assert.match(readFileSync(path, 'utf8'), /^<!DOCTYPE html>/);
    assert.equal(statSync(path).mode & 0o777, 0o600);
    assert.deepEqual(readdirSync(folder).sort(), ['link.html', 'page.html']);
  });

  it('is rejected before any input is read if it is not writable', async () => {
    const file = write('plain.bin', stream(200));
    const [hard, soft] = [join(dataDir, 'hard.bin'), join(dataDir, 'soft.bin')];
    linkSync(file, hard);
    symlinkSync(file, soft);
    const cases: [html: string, code: number, words: RegExp][] = [
      ['-', 2, /--html needs the name of a file, because standard output has the report/],
      ['', 2, /--html needs the name of a file, got ""/],
      [`${dataDir}/none/`, 2, /--html needs the name of a file/],
      [join(dataDir, 'none', 'x.html'), 1, /x\.html cannot be written: there is no such directory/],
      [join(file, 'x.html'), 1, /x\.html cannot be written: there is no such directory/],
      [dataDir, 1, /cannot be written: it is a directory/],
      ['/dev/null', 1, /\/dev\/null cannot be written: it is not a regular file/],
      [file, 2, /plain\.bin would replace the input; name another file/],
      [hard, 2, /hard\.bin would replace the input/],
      [soft, 2, /soft\.bin would replace the input/],
    ];
    for (const [html, code, words] of cases) {
      const result = await assess(file, '--html', html);
      assert.deepEqual([result.code, result.stdout], [code, ''], `${html}: ${result.stderr}`);
      assert.match(result.stderr, words);
    }
    assert.deepEqual(readFileSync(file), stream(200));
  });

  it('is rejected if standard input or standard output is redirected to it', () => {
    const path = write('redirected.bin', stream(200));
    const args = [MAIN, 'assess', '-', '--html', path];
    const input = spawnSync(process.execPath, args, {
      stdio: [openSync(path, 'r'), 'pipe', 'pipe'],
    });
    assert.match(String(input.stderr), /would replace the input/);
    const output = spawnSync(process.execPath, args, {
      input: stream(200),
      stdio: ['pipe', openSync(path, 'r+'), 'pipe'],
    });
    assert.match(String(output.stderr), /would replace the report on standard output/);
    assert.deepEqual(readFileSync(path), stream(200));
  });

  it('causes an error after the report if its directory disappears during the run', async () => {
    const folder = join(dataDir, 'going');
    mkdirSync(folder);
    const command = new OpenAssess(['-', ...MANY, '--csv', '--html', join(folder, 'x.html')]);
    command.child.stdin?.write(stream(126));
    await command.untilWritten('\n1,frequency');
    rmSync(folder, { recursive: true });
    command.child.stdin?.end();
    assert.equal(await command.ended(), 1);
    assert.match(command.stderr, /x\.html cannot be written: there is no such directory/);
    assert.match(command.stdout, /\n1,dft,/);
  });
});
