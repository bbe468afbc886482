/** Every link of the documents, and every page that the source names, leads somewhere. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join, posix, relative } from 'node:path';
import { before, describe, it } from 'node:test';
import { ROOT } from './support/texts/imports.ts';
import {
  anchors,
  filesBelow,
  linkTargets,
  type Page,
  readPages,
} from './support/texts/markdown.ts';

/** Folders whose files name pages in messages and comments. */
const SOURCES = [
  'bench',
  'dashboard',
  'deploy',
  'docs',
  'packages',
  'scripts',
  'sdk',
  'src',
  'test',
];
const TEXT = /\.(?:tsx?|mjs|py|json|ya?ml|conf|cfg|service|example|html|css|sql|toml|sh)$/;

/** Returns the problem of a link of a page, or undefined. */
function fault(
  from: string,
  target: string,
  pages: ReadonlyMap<string, string>,
): string | undefined {
  const [path = '', anchor] = target.split('#');
  const file = path === '' ? from : posix.join(posix.dirname(from), decodeURIComponent(path));
  if (!existsSync(join(ROOT, file))) return `${from}: ${target}: no such file`;
  if (anchor === undefined) return undefined;
  const text = pages.get(statSync(join(ROOT, file)).isDirectory() ? `${file}README.md` : file);
  if (text === undefined) return `${from}: ${target}: an anchor in a file that is no page`;
  return anchors(text).has(anchor) ? undefined : `${from}: ${target}: no such heading`;
}

/** Returns the pages that a file of the source names, as `docs/errors.md#codes`. */
function namedPages(text: string): string[] {
  const found = text.matchAll(/(?<![\w./-])docs\/[\w/-]+\.md(?:#[a-z0-9_-]+)?/g);
  return [...found].map(([target]) => target);
}

describe('the documents', () => {
  let pages: Page[];
  let texts: Map<string, string>;
  before(() => {
    pages = readPages();
    texts = new Map(pages.map(({ path, text }) => [path, text]));
  });

  it('link only to files and headings that exist', () => {
    const faults = pages.flatMap(({ path, text }) =>
      linkTargets(text)
        .filter((target) => !/^[a-z]+:/.test(target))
        .map((target) => fault(path, target, texts)),
    );
    assert.ok(faults.length > 200, `${faults.length} links`);
    assert.deepEqual(
      faults.filter((words) => words !== undefined),
      [],
    );
  });

  it('link to other hosts by https, except on loopback', () => {
    const plain = pages.flatMap(({ path, text }) =>
      linkTargets(text)
        .filter((target) => /^[a-z]+:/.test(target) && !/^(?:https:|mailto:)/.test(target))
        .filter((target) => !/^https?:\/\/(?:127\.0\.0\.1|localhost)[:/]/.test(target))
        .map((target) => `${path}: ${target}`),
    );
    assert.deepEqual(plain, []);
  });

  it('are named in the source only where they exist', () => {
    // This file names pages that do not exist, as counter-examples.
    const self = relative(ROOT, import.meta.filename);
    const files = SOURCES.flatMap(filesBelow).filter((path) => TEXT.test(path) && path !== self);
    const faults = files.flatMap((path) =>
      namedPages(readFileSync(join(ROOT, path), 'utf8')).map((target) => {
        const words = fault('README.md', target, texts);
        return words && `${path}: ${words}`;
      }),
    );
    assert.ok(faults.length > 50, `${faults.length} references`);
    assert.deepEqual(
      faults.filter((words) => words !== undefined && words !== ''),
      [],
    );
  });

  it('are all in the index of docs/', () => {
    const index = texts.get('docs/README.md') ?? '';
    const linked = new Set(
      linkTargets(index).map((target) => posix.join('docs', target.split('#')[0] ?? '')),
    );
    const unlisted = pages
      .map(({ path }) => path)
      .filter((path) => path.startsWith('docs/') && path !== 'docs/README.md' && !linked.has(path));
    assert.deepEqual(unlisted, []);
  });

  it('are found out when a link is wrong', () => {
    const some = new Map([
      ['docs/errors.md', '# Errors\n\n## The codes\n\n```\n## no heading\n```\n'],
    ]);
    assert.equal(fault('README.md', 'docs/errors.md#the-codes', some), undefined);
    for (const target of ['docs/errors.md#no-heading', 'docs/gone.md', 'package.json#name']) {
      assert.notEqual(fault('README.md', target, some), undefined, target);
    }
    assert.deepEqual(linkTargets('[a](b.md) `[c](d.md)` ![e](f.png)\n[g]: h.md\n'), [
      'b.md',
      'f.png',
      'h.md',
    ]);
    assert.deepEqual(namedPages("// docs/a.md, 'docs/b/c.md#d'; xdocs/e.md"), [
      'docs/a.md',
      'docs/b/c.md#d',
    ]);
  });
});
