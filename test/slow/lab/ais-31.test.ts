/** AIS 20/31: the widths that `npm test` leaves out, and the package as another project installs it. 10 s. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { procedureA, procedureB } from '#ais-20-31';
import { PROJECT_VERSION } from '../../../src/version.ts';
import { aesStream, assertProcedureA, REFERENCE } from '../../ais-20-31/reference.ts';
import { BROWSERS, runInBrowser } from '../../support/browser-page.ts';
import { codeBlocks, readPage } from '../../support/markdown.ts';
import { findNode20 } from '../../support/node-20.ts';
import { packWorkspace } from '../../support/packed.ts';
import { assertSameText } from '../../support/same-text.ts';

describe('procedure A', () => {
  for (const width of [1, 13] as const) {
    it(`gives the figures of the BSI's program for numbers of ${width} bits`, () => {
      assertProcedureA(procedureA(aesStream(), { width }), REFERENCE.aes.a[width]);
    });
  }
});

describe('the ais-20-31 package', () => {
  const project = mkdtempSync(join(tmpdir(), 'ais-20-31-'));
  after(() => rmSync(project, { recursive: true, force: true }));
  const run = (command: string, args: readonly string[], cwd = project): string =>
    execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });

  before(async () => {
    await packWorkspace('packages/ais-20-31', project);
    writeFileSync(join(project, 'package.json'), '{"private": true, "type": "module"}');
    run('npm', ['install', '--offline', '--silent', `./ais-20-31-${PROJECT_VERSION}.tgz`]);
    writeFileSync(join(project, 'sample.bin'), aesStream());
  });

  it('runs the documented example', () => {
    const blocks = codeBlocks(readPage('packages/ais-20-31/README.md'));
    const example = blocks.find(({ language }) => language === 'js')?.code ?? '';
    writeFileSync(join(project, 'example.mjs'), example);
    assert.equal(
      run(process.execPath, ['example.mjs']),
      'procedure A: passed\nprocedure B: passed\n',
    );
  });

  const script = (sample: string): string => `
const { procedureA, procedureB } = await import('ais-20-31');
const sample = ${sample};
const body = JSON.stringify([procedureA(sample), procedureB(sample)]);
`;
  const expected = JSON.stringify([procedureA(aesStream()), procedureB(aesStream())]);
  for (const [version, node] of [
    [26, process.execPath],
    [20, findNode20()],
  ] as const) {
    it(`gives the figures of the service on Node ${version}`, {
      skip: !node && 'there is none',
    }, () => {
      const read = "(await import('node:fs')).readFileSync('sample.bin')";
      writeFileSync(join(project, 'script.mjs'), `${script(read)}process.stdout.write(body);`);
      assertSameText(run(node ?? '', ['script.mjs']), expected, 'the result');
    });
  }

  for (const browser of BROWSERS) {
    const { name, path } = browser;
    it(`gives the figures of the service in ${name}`, {
      skip: !path && 'there is none',
    }, async () => {
      const imports = { 'ais-20-31': '/node_modules/ais-20-31/dist/index.js' };
      const fetched = "new Uint8Array(await (await fetch('/sample.bin')).arrayBuffer())";
      const module = script(fetched).replace('const body', 'body');
      assertSameText(await runInBrowser(browser, project, imports, module), expected, 'the result');
    });
  }
});
