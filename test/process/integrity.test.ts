/** The files of a release are compared with its manifest: each that differs is named, whatever the difference. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, beforeEach, describe, it, mock } from 'node:test';
import { checkIntegrity, describeChanges, manifestOf } from '../../src/process/integrity.ts';
import { requireFiles } from '../../src/serve/files-check.ts';

const FILES = [
  'package.json',
  'sdk/package.json',
  'packages/tlog/package.json',
  'healthcheck.mjs',
  'bin/phm',
  'src/main.ts',
  'src/keys/generate.ts',
  'sdk/src/index.ts',
  'docs/examples/generate.json',
  'packages/tlog/src/note.ts',
  'packages/sp800-22/build/kernels.wasm',
  'build/kernels/modulation.wasm',
  'build/dashboard/index.html',
  'build/docs/index.html',
  'build/testbench/index.html',
];

/** Files that no server loads. */
const OTHERS = ['README.md', 'test/a.test.ts', 'packages/tlog/test/a.test.ts', 'src/.editor'];

describe('the files of an installation', () => {
  const folder = mkdtempSync(join(tmpdir(), 'phm-integrity-'));
  after(() => rmSync(folder, { recursive: true, force: true }));
  let root: string;
  let installations = 0;

  const write = (path: string, text: string | Uint8Array): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };

  beforeEach(() => {
    root = join(folder, String(installations++));
    for (const path of [...FILES, ...OTHERS]) write(path, `the content of ${path}\n`);
    const { path, text } = manifestOf(root);
    write(path, text);
  });

  it('are intact as they were built, and sha256sum says so too', () => {
    assert.deepEqual(checkIntegrity(root), { kind: 'intact', files: FILES.length });
    const checked = execFileSync('sha256sum', ['-c', 'build/manifest.sha256'], { cwd: root });
    assert.equal(checked.toString().match(/: OK$/gm)?.length, FILES.length);
  });

  it('are named if one bit differs', () => {
    for (const path of FILES) {
      const bytes = readFileSync(join(root, path));
      const changed = Buffer.from(bytes);
      changed[changed.length - 2] ^= 1;
      write(path, changed);
      const found = { kind: 'changed', changed: [path], missing: [], added: [] };
      assert.deepEqual(checkIntegrity(root), found);
      write(path, bytes);
    }
  });

  it('are named if they are missing or not of the release', () => {
    rmSync(join(root, 'src/main.ts'));
    write('src/keys/more.ts', '');
    rmSync(join(root, 'build/kernels'), { recursive: true });
    const found = checkIntegrity(root);
    assert.deepEqual(found, {
      kind: 'changed',
      changed: [],
      missing: ['build/kernels/modulation.wasm', 'src/main.ts'],
      added: ['src/keys/more.ts'],
    });
    assert.ok(found.kind === 'changed');
    assert.deepEqual(describeChanges(found), [
      'missing: build/kernels/modulation.wasm, src/main.ts',
      'not of the release: src/keys/more.ts',
    ]);
  });

  it('are named if they cannot be read, or are links to something else', () => {
    rmSync(join(root, 'src/main.ts'));
    mkdirSync(join(root, 'elsewhere'));
    symlinkSync('../elsewhere', join(root, 'src/main.ts'));
    symlinkSync('keys/generate.ts', join(root, 'src/linked.ts'));
    const found = { changed: ['src/main.ts'], missing: [], added: ['src/linked.ts'] };
    assert.deepEqual(checkIntegrity(root), { kind: 'changed', ...found });
    const { path, text } = manifestOf(root);
    rmSync(join(root, path));
    mkdirSync(join(root, path));
    const unreadable = { changed: [path], missing: [], added: [] };
    assert.deepEqual(checkIntegrity(root), { kind: 'changed', ...unreadable });
    rmSync(join(root, path), { recursive: true });
    write(path, text);
  });

  it('may be more examples than the release has', () => {
    write('docs/examples/__pycache__/a.pyc', 'x');
    assert.equal(checkIntegrity(root).kind, 'intact');
  });

  it('may differ where no server looks', () => {
    for (const path of OTHERS) write(path, 'other');
    assert.equal(checkIntegrity(root).kind, 'intact');
  });

  it('are not believed with a damaged manifest', () => {
    const { path, text } = manifestOf(root);
    for (const damaged of ['', text.slice(0, -1), `${text}x\n`, text.replace(/^./, 'g')]) {
      write(path, damaged);
      const found = checkIntegrity(root);
      // An empty list is a whole one, of no files.
      if (damaged === '') assert.ok(found.kind === 'changed' && found.added.length > 0);
      else assert.deepEqual(found.kind === 'changed' && found.changed, [path]);
    }
    rmSync(join(root, path));
    assert.deepEqual(checkIntegrity(root), { kind: 'unchecked' });
  });

  it('are listed in short', () => {
    const paths = Array.from({ length: 8 }, (_, i) => `f${i}`);
    const found = { kind: 'changed', changed: paths, missing: [], added: [] } as const;
    assert.deepEqual(describeChanges(found), ['changed: f0, f1, f2, f3, f4 and 3 more']);
  });
});

describe('a server whose files differ', () => {
  const found = { kind: 'changed', changed: ['src/main.ts'], missing: [], added: [] } as const;
  const logger = () => ({ info: mock.fn(), warn: mock.fn(), error: mock.fn() });

  it('does not start, and names them', () => {
    const log = logger();
    assert.throws(() => requireFiles('refuse', log, found), {
      name: 'SetupError',
      message: /^files differ from the release: changed: src\/main\.ts\. .*\nPHM_INTEGRITY=report /,
    });
  });

  it('starts if the operator says so, with an error in the log', () => {
    const log = logger();
    requireFiles('report', log, found);
    assert.deepEqual(log.error.mock.calls[0]?.arguments, [
      { changes: 'changed: src/main.ts' },
      'files differ from the release',
    ]);
    requireFiles('refuse', log, { kind: 'intact', files: 3 });
    assert.equal(log.info.mock.callCount(), 1);
  });
});
