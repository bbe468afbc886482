/**
 * The package phm-lab as another project installs it: its command line, and `assess` in Node and in browsers, whose reports are
 * those of `phm assess`. 40 s. packages/lab/test/ tests its source.
 */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { PROJECT_VERSION, softwareName } from '../../src/process/version.ts';
import { aesStream } from '../sp800-22/differential.ts';
import { BROWSERS, runInBrowser } from '../support/browsers/browser-page.ts';
import { assertSameText } from '../support/lab/same-text.ts';
import { findNode20 } from '../support/programs/node-20.ts';
import { packWorkspace } from '../support/programs/packed.ts';
import { codeBlocks, readPage } from '../support/texts/markdown.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const PROJECT = mkdtempSync(join(tmpdir(), 'assess-'));
/** Those of its README on a file of this name. */
const README_COMMANDS = [
  ...readPage('packages/lab/README.md').text.matchAll(/^npx phm-lab (\S+) (.*)$/gm),
];
const EXAMPLE =
  codeBlocks(readPage('packages/lab/README.md')).find(({ language }) => language === 'js')?.code ??
  '';

const SEQUENCES = 56;
const BITS = 20_000;
/** Where the README's commands run, on fewer bits than it takes. */
const FOLDER = join(PROJECT, 'first-report');
const CREATED = '2026-01-02T03:04:05Z';

const OPTIONS = {
  name: 'sample.bin',
  bits: BITS,
  workers: 2,
  supplements: 'all',
  created: CREATED,
  software: { program: `phm ${PROJECT_VERSION}`, build: softwareName() },
};

/** Runs in Node and in browsers. `source` is a stream, whose chunks do not end where sequences do. */
const COMMON = `
const texts = { json: '', csv: '', text: '', html: '' };
const write = Object.fromEntries(Object.keys(texts).map((kind) => [kind, (part) => { texts[kind] += part; }]));
async function run(assess, source) {
  const { summary } = await assess(source, { ...${JSON.stringify(OPTIONS)}, write });
  return JSON.stringify({ sequences: summary.sequences, ...texts });
}
`;

const SCRIPT = `${COMMON}
import { readFileSync } from 'node:fs';
import { assess } from 'phm-lab';
process.stdout.write(await run(assess, new Blob([readFileSync('sample.bin')])));
`;

const MODULE = `${COMMON}
const { assess } = await import('phm-lab');
body = await run(assess, await (await fetch('/sample.bin')).blob());
const streamed = await run(assess, (await fetch('/sample.bin')).body);
const same = (text) => JSON.stringify(JSON.parse(text).sequences) + JSON.parse(text).csv.split('\\n# ')[0];
if (same(streamed) !== same(body)) throw new Error('a stream has other reports than a blob');
let cancelled = false;
const silent = new ReadableStream({ cancel: () => { cancelled = true; } });
const abort = new AbortController();
setTimeout(() => abort.abort('stop'), 50);
const { code } = await assess(silent, { bits: 1000, signal: abort.signal }).catch((error) => error);
if (code !== 'aborted' || !cancelled) throw new Error('a signal ended with ' + code);
`;

/** Every kind of source of Node gives the same digest, and each ends by a signal while it waits. Writes what does not. */
const STREAMS = `
import { spawn } from 'node:child_process';
import { createReadStream, openAsBlob, readFileSync } from 'node:fs';
import { createServer, get } from 'node:http';
import { PassThrough, Readable } from 'node:stream';
import { createGunzip, gzipSync } from 'node:zlib';
import { assess } from 'phm-lab';

const bytes = readFileSync('sample.bin');
const options = { bits: ${BITS}, tests: ['frequency'], workers: 1 };
const server = createServer(({ url }, response) => {
  if (url === '/stalls') response.write(bytes.subarray(0, 2_500));
  else response.end(url === '/gzip' ? gzipSync(bytes) : bytes);
}).listen(0);
await new Promise((resolve) => server.once('listening', resolve));
const url = 'http://127.0.0.1:' + server.address().port;
const body = (path) => new Promise((resolve) => get(url + path, { agent: false }, resolve));
const stalled = () => {
  const stream = new PassThrough();
  stream.write(bytes.subarray(0, 2_500));
  return stream;
};
const kinds = {
  buffer: () => bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length),
  blob: () => openAsBlob('sample.bin'),
  file: () => createReadStream('sample.bin'),
  http: () => body('/'),
  gunzip: async () => (await body('/gzip')).pipe(createGunzip()),
  fetch: async () => (await fetch(url)).body,
  web: () => new Blob([bytes]).stream(),
  readable: () => Readable.from([bytes]),
  child: () => spawn('cat', ['sample.bin']).stdout,
  stdin: () => process.stdin,
};
const failed = [];
const digest = (await assess(bytes, options)).trace.input.sha256;
for (const [kind, make] of Object.entries(kinds)) {
  const { trace } = await assess(await make(), options);
  if (trace.input.sha256 !== digest) failed.push(kind);
}
const waiting = { pass: stalled, http: () => body('/stalls'), web: () => Readable.toWeb(stalled()), never: () => new ReadableStream() };
for (const [kind, make] of Object.entries(waiting)) {
  const source = await make();
  const abort = new AbortController();
  const run = assess(source, { ...options, format: 'binary', signal: abort.signal });
  setTimeout(() => abort.abort('stop'), 50);
  const { code } = await run.catch((error) => error);
  if (code !== 'aborted' || source.destroyed === false) failed.push(kind);
}
server.closeAllConnections();
server.close();
process.stdout.write(JSON.stringify(failed));
`;

/** What a program with the types of Node and browsers may give. */
const TYPES = `
import { createReadStream } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import { type AssessOptions, assess, type Source } from 'phm-lab';

const bytes = new Uint8Array(100);
declare const message: IncomingMessage;
declare const response: Response;
const generator = async function* () { yield bytes; yield bytes.buffer; };
export const sources: Source[] = [
  bytes, Buffer.from(bytes), bytes.buffer, new SharedArrayBuffer(8), new DataView(bytes.buffer), new Int8Array(8),
  new Uint8ClampedArray(8), new Blob([bytes]), new File([bytes], 'a'), new Blob([bytes]).stream(),
  createReadStream('a'), message, new PassThrough(), process.stdin, generator(),
  ...(response.body ? [response.body] : []),
  { sizeBytes: undefined, read: async (into: Uint8Array) => into.length, close: async () => {} },
];
export const options: AssessOptions = { signal: new AbortController().signal, sequences: null, bits: null };
export const passed: Promise<boolean | null> = assess(message, options).then(({ summary }) => summary.passed);
// @ts-expect-error: elements of two bytes.
void assess(new Uint16Array(4));
// @ts-expect-error: a text.
void assess('0101');
// @ts-expect-error: an array.
void assess([1, 2, 3]);
// @ts-expect-error: misspelt.
void assess(bytes, { sequence: 3 });
// @ts-expect-error: misspelt.
void assess(bytes, { write: { HTML: () => {} } });
`;

interface Result {
  readonly sequences: number;
  readonly json: string;
  readonly csv: string;
  readonly text: string;
  readonly html: string;
}

/** The reports of the command line on the same input with the same options. */
const expected: Record<string, string> = {};

function phm(...options: string[]): string {
  const args = [
    'assess',
    'sample.bin',
    '--bits',
    String(BITS),
    '--sequences',
    'all',
    '--supplements',
    ...options,
  ];
  return execFileSync(process.execPath, [join(ROOT, 'src/main.mjs'), ...args], {
    cwd: PROJECT,
    encoding: 'utf8',
    env: { ...process.env, SOURCE_DATE_EPOCH: String(Date.parse(CREATED) / 1000) },
  });
}

function assertEqualReports(result: Result): void {
  assert.equal(result.sequences, SEQUENCES);
  for (const kind of ['json', 'csv', 'text', 'html'] as const) {
    assertSameText(result[kind], expected[kind] ?? '', kind);
  }
}

describe('the phm-lab package', () => {
  before(async () => {
    await packWorkspace('packages/lab', PROJECT);
    writeFileSync(join(PROJECT, 'package.json'), '{"private": true, "type": "module"}');
    execFileSync(
      'npm',
      ['install', '--prefer-offline', '--silent', `./phm-lab-${PROJECT_VERSION}.tgz`],
      {
        cwd: PROJECT,
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    );
    writeFileSync(join(PROJECT, 'script.mjs'), SCRIPT);
    mkdirSync(FOLDER);
    writeFileSync(join(FOLDER, 'sample.bin'), aesStream(25, 3 * 131_072 + 700_000));
    writeFileSync(join(PROJECT, 'noise.bin'), aesStream(24, 20_000));
    writeFileSync(join(PROJECT, 'sample.bin'), aesStream(23, (SEQUENCES * BITS) / 8 + 7));
    expected.json = phm('--json');
    expected.csv = phm('--csv');
    expected.text = phm('--html', 'page-of-phm.html');
    expected.html = readFileSync(join(PROJECT, 'page-of-phm.html'), 'utf8');
  });
  after(() => rmSync(PROJECT, { recursive: true, force: true, maxRetries: 5 }));

  it('contains code, types, kernels and the page, and depends on commander alone', () => {
    const lock = JSON.parse(readFileSync(join(PROJECT, 'package-lock.json'), 'utf8'));
    const packages = Object.keys(lock.packages);
    assert.deepEqual(packages, ['', 'node_modules/commander', 'node_modules/phm-lab']);
    const files = readdirSync(join(PROJECT, 'node_modules/phm-lab'), { recursive: true });
    const others = files.filter((file) => !/\.(js|d\.ts)$|^dist[^.]*$/.test(String(file)));
    assert.deepEqual(others.toSorted(), [
      'LICENSE',
      'README.md',
      'dist/sp800-22/build/relaxed-simd.wasm',
      'dist/sp800-22/build/simd.wasm',
      'dist/testbench.html',
      'package.json',
    ]);
  });

  it('passes the type check of a strict project without the types of Node or browsers', () => {
    const options = ['--strict', '--target', 'es2022', '--module', 'nodenext', '--types', ''];
    const source = `import { type Assessment, assess } from 'phm-lab';
      export const result: Promise<Assessment> = assess(new Uint8Array(100), { tests: ['runs'] });
      // @ts-expect-error: no such test.
      void assess(new Uint8Array(100), { tests: ['luck'] });`;
    writeFileSync(join(PROJECT, 'types.ts'), source);
    execFileSync(join(ROOT, 'node_modules/.bin/tsc'), [...options, '--noEmit', 'types.ts'], {
      cwd: PROJECT,
    });
  });

  it('passes the type check of a program that gives streams of Node and browsers', () => {
    writeFileSync(join(PROJECT, 'sources.ts'), TYPES);
    const types = ['--types', 'node', '--typeRoots', join(ROOT, 'node_modules/@types')];
    const lib = ['--lib', 'es2022,dom,dom.asynciterable'];
    const strict = ['--strict', '--exactOptionalPropertyTypes', '--module', 'nodenext', '--noEmit'];
    const args = [...strict, ...lib, ...types, 'sources.ts'];
    execFileSync(join(ROOT, 'node_modules/.bin/tsc'), args, { cwd: PROJECT });
  });

  const node20 = findNode20();
  for (const [name, node] of [
    ['Node 26', process.execPath],
    ['Node 20', node20],
  ] as const) {
    const skip = node === undefined && `there is no ${name} on this machine's PATH`;
    it(`has the commands of its README on ${name}`, { skip }, () => {
      const program = join(PROJECT, 'node_modules/.bin/phm-lab');
      for (const [, command = '', rest = ''] of README_COMMANDS) {
        const args = [program, command, ...rest.trim().replace('1000000', '100000').split(/ +/)];
        const output = execFileSync(node ?? '', args, { cwd: FOLDER, encoding: 'utf8' });
        assert.match(
          output,
          /^Program +phm-lab \d+\.\d+\.\d+, phm-lab\/\S+\+[0-9a-f]{16}$/m,
          command,
        );
      }
      assert.match(readFileSync(join(FOLDER, 'report.html'), 'utf8'), /^<!doctype html>/i);
    });

    it(`runs the example of its README on ${name}`, { skip }, () => {
      writeFileSync(join(PROJECT, 'example.mjs'), EXAMPLE);
      const output = execFileSync(node ?? '', ['example.mjs'], { cwd: PROJECT, encoding: 'utf8' });
      assert.match(
        output,
        /^(?:passed|FAILED) \[\s+\{\s+name: 'smallest',\s+judged: true[\s\S]*\n\}\n$/,
      );
    });

    it(`reads every kind of stream, and ends by a signal while it waits, on ${name}`, {
      skip,
    }, () => {
      writeFileSync(join(PROJECT, 'streams.mjs'), STREAMS);
      const input = readFileSync(join(PROJECT, 'sample.bin'));
      const settings = { cwd: PROJECT, input, timeout: 120_000 };
      assert.equal(execFileSync(node ?? '', ['streams.mjs'], settings).toString(), '[]');
    });

    it(`writes the page of the test bench, makes permutations, and refuses wrong usage on ${name}`, {
      skip,
    }, () => {
      const lab = (...args: string[]) =>
        spawnSync(node ?? '', [join(PROJECT, 'node_modules/.bin/phm-lab'), ...args], {
          cwd: PROJECT,
          encoding: 'utf8',
        });
      assert.equal(lab('testbench', '--output', 'bench.html').status, 0);
      const page = readFileSync(join(PROJECT, 'bench.html'), 'utf8');
      assert.match(page, /<code>phm-lab assess<\/code>/);
      const iid = lab('assess-entropy', 'noise.bin', '--iid', '--threads', '2', '--json');
      assert.equal(iid.status, 0, iid.stderr);
      assert.equal(JSON.parse(iid.stdout).software.build.slice(0, 8), 'phm-lab/');
      const wrong = lab('nothing');
      assert.deepEqual([wrong.status, wrong.stdout], [2, '']);
      assert.match(wrong.stderr, /^error: unknown command 'nothing'/);
      const missing = lab('assess', 'none.bin');
      assert.deepEqual([missing.status, missing.stdout], [2, '']);
      assert.equal(missing.stderr, 'phm-lab: none.bin cannot be read: there is no such file\n');
    });
  }

  it('writes the same bytes as phm assess on Node 26', () => {
    const printed = execFileSync(process.execPath, ['script.mjs'], { cwd: PROJECT });
    assertEqualReports(JSON.parse(printed.toString()));
  });

  it('writes the same bytes on Node 20', {
    skip: node20 === undefined && 'there is no Node 20',
  }, () => {
    const printed = execFileSync(node20 ?? '', ['script.mjs'], { cwd: PROJECT });
    assertEqualReports(JSON.parse(printed.toString()));
  });

  for (const browser of BROWSERS) {
    const { name, path } = browser;
    it(`writes the same bytes in ${name}`, { skip: !path && 'there is none' }, async () => {
      const imports = { 'phm-lab': '/node_modules/phm-lab/dist/lab/src/index.js' };
      assertEqualReports(JSON.parse(await runInBrowser(browser, PROJECT, imports, MODULE)));
    });
  }
});
