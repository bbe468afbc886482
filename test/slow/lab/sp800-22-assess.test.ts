/** `assess` of the package sp800-22 in Node and in browsers: its reports are those of `phm assess`. 30 s. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { PROJECT_VERSION, softwareName } from '../../../src/process/version.ts';
import { aesStream } from '../../sp800-22/differential.ts';
import { BROWSERS, runInBrowser } from '../../support/browser-page.ts';
import { findNode20 } from '../../support/node-20.ts';
import { packWorkspace } from '../../support/packed.ts';
import { assertSameText } from '../../support/same-text.ts';

const ROOT = resolve(import.meta.dirname, '../../..');
const PROJECT = mkdtempSync(join(tmpdir(), 'assess-'));
const SEQUENCES = 56;
const BITS = 20_000;
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
import { assess } from 'sp800-22';
process.stdout.write(await run(assess, new Blob([readFileSync('sample.bin')])));
`;

const MODULE = `${COMMON}
const { assess } = await import('sp800-22');
body = await run(assess, await (await fetch('/sample.bin')).blob());
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
  return execFileSync(process.execPath, [join(ROOT, 'src/main.ts'), ...args], {
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

describe('assess of the sp800-22 package', () => {
  before(async () => {
    await packWorkspace('packages/sp800-22', PROJECT);
    writeFileSync(join(PROJECT, 'package.json'), '{"private": true, "type": "module"}');
    execFileSync('npm', ['install', '--offline', '--silent', `./sp800-22-${PROJECT_VERSION}.tgz`], {
      cwd: PROJECT,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    writeFileSync(join(PROJECT, 'script.mjs'), SCRIPT);
    writeFileSync(join(PROJECT, 'sample.bin'), aesStream(23, (SEQUENCES * BITS) / 8 + 7));
    expected.json = phm('--json');
    expected.csv = phm('--csv');
    expected.text = phm('--html', 'page-of-phm.html');
    expected.html = readFileSync(join(PROJECT, 'page-of-phm.html'), 'utf8');
  });
  after(() => rmSync(PROJECT, { recursive: true, force: true, maxRetries: 5 }));

  const node20 = findNode20();
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
      const imports = { 'sp800-22': '/node_modules/sp800-22/dist/package.js' };
      assertEqualReports(JSON.parse(await runInBrowser(browser, PROJECT, imports, MODULE)));
    });
  }
});
