/** The documentation site as it is built: links, anchors, help of errors, policy and search. */
import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { describe, it } from 'node:test';
import { searchOf } from '../dashboard/docs-page/src/search.ts';
import { renderPage } from '../scripts/docs/markdown.ts';
import { readSourcePages } from '../scripts/docs/pages.ts';
import { ERRORS } from '../src/errors.ts';
import { ROOT } from './support/texts/imports.ts';
import { anchors, readPages } from './support/texts/markdown.ts';

const SITE = join(ROOT, 'build/docs');

/** Folders whose pages are for those who change the code. */
const NOT_ON_THE_SITE = /^(?:test|packages\/sealing|sdk\/exchanges|docs\/evidence\/.+\/)/;

/** What mends a site that is older than its pages. */
const BUILD = 'run "npm run build:docs"';

describe('the documentation site', () => {
  const pages = new Map<string, string>();
  const ids = new Map<string, Set<string>>();

  for (const path of globSync('**/*.html', { cwd: SITE })) {
    const html = readFileSync(join(SITE, path), 'utf8');
    pages.set(path, html);
    ids.set(path, new Set([...html.matchAll(/ id="([^"]+)"/g)].map(([, id = '']) => id)));
  }

  it('is built', () => {
    assert.ok(pages.size > 50, `build/docs has ${pages.size} pages: ${BUILD}`);
  });

  /** Returns the problem of an address on a page, or undefined. */
  function fault(from: string, address: string): string | undefined {
    if (/^(?:https?|mailto):/.test(address)) return undefined;
    const [path = '', anchor] = address.split('#');
    const joined = path === '' ? from : posix.join(posix.dirname(from), path);
    // One step above the site is the dashboard of the server.
    if (joined === '../') return undefined;
    const file = joined.endsWith('/') ? `${joined}index.html` : joined;
    if (!existsSync(join(SITE, file))) return `${from}: ${address}: no such file`;
    if (anchor === undefined || anchor === '') return undefined;
    const isThere = ids.get(file)?.has(decodeURIComponent(anchor));
    return isThere ? undefined : `${from}: ${address}: no such anchor`;
  }

  it('links only to pages, files and anchors that exist', () => {
    let links = 0;
    const faults = [...pages].flatMap(([path, html]) =>
      [...html.matchAll(/ (?:href|src|srcset)="([^"]*)"/g)].flatMap(([, address = '']) => {
        links += 1;
        return fault(path, address.replaceAll('&amp;', '&')) ?? [];
      }),
    );
    assert.ok(links > 5000, `${links} links`);
    assert.deepEqual(faults, [], `after a change of a page, ${BUILD}; then correct its links`);
    assert.notEqual(fault('index.html', 'gone.html'), undefined);
    assert.notEqual(fault('index.html', 'errors.html#gone'), undefined);
  });

  it('has only relative addresses, so that it works below any path', () => {
    for (const [path, html] of pages) {
      const own = [...html.matchAll(/ (?:href|src|srcset)="([^"]*)"/g)].map(
        ([, address = '']) => address,
      );
      assert.deepEqual(
        own.filter((address) => address.startsWith('/')),
        [],
        path,
      );
    }
  });

  it('gives each element an id of its own', () => {
    for (const [path, html] of pages) {
      const all = [...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
      const repeated = all.filter((id, place) => all.indexOf(id) !== place);
      assert.deepEqual(repeated, [], path);
    }
  });

  it('has no inline script, style or handler, and loads nothing from another host', () => {
    for (const [path, html] of pages) {
      const tags = html.replace(/<pre[\s\S]*?<\/pre>/g, '');
      for (const [tag] of tags.matchAll(
        /<script\b[^>]*>(?!<\/script>)|<style\b| style="| on\w+="/g,
      )) {
        assert.fail(`${path}: ${tag}`);
      }
      for (const [tag] of tags.matchAll(/<(?:script|link|img|iframe|object|video)\b[^>]*>/g)) {
        assert.doesNotMatch(tag, /(?:https?:)?\/\/[^"]/, path);
      }
    }
    for (const file of globSync('assets/*.{js,css}', { cwd: SITE })) {
      const text = readFileSync(join(SITE, file), 'utf8');
      assert.doesNotMatch(text, /\beval\(|new Function\(|@import|url\((?!data:)/, file);
    }
  });

  it('has a place for every error, to which `help` of a problem leads', () => {
    for (const code of Object.keys(ERRORS)) {
      assert.ok(ids.get('errors.html')?.has(code), `errors.html has no #${code}: ${BUILD}`);
    }
  });

  it('has every page of the project but those for its tests, in one group', () => {
    const known = readSourcePages().map(({ source }) => source);
    assert.equal(new Set(known).size, known.length);
    const missing = readPages()
      .map(({ path }) => path)
      .filter((path) => !NOT_ON_THE_SITE.test(path) && !known.includes(path));
    assert.deepEqual(missing, []);
  });

  it('was built from the pages as they are now', () => {
    for (const { source, output, text } of readSourcePages()) {
      const { headings } = renderPage(text, () => null);
      for (const { id } of headings) {
        const words = `${source}: #${id} is not built: ${BUILD}`;
        assert.ok(ids.get(output)?.has(id), words);
      }
    }
  });
});

describe('the search', () => {
  let built: ReturnType<typeof searchOf> | undefined;
  const search: ReturnType<typeof searchOf> = (query) => {
    const index = join(SITE, 'assets/search.json');
    assert.ok(existsSync(index), `the search is not built: ${BUILD}`);
    built ??= searchOf(readFileSync(index, 'utf8'));
    return built(query);
  };

  for (const [query, url] of [
    ['rotate an API key', 'guides/rotate-keys.html#replace-an-api-key'],
    ['quota_exceeded', 'errors.html#quota_exceeded'],
    ['PHM_CORS_ORIGINS', 'configuration.html#PHM_CORS_ORIGINS'],
    ['cors', 'configuration.html#PHM_CORS_ORIGINS'],
    ['revoke a key', 'reference.html#revokeKey'],
    ['reverse proxy nginx', 'guides/reverse-proxy.html'],
    ['rate limit', 'errors.html#rate_limited'],
    ['encrypt file', 'guides/encrypt-a-file.html'],
    ['bakup', 'operations.html'],
    ['envelope encryption', 'questions.html'],
    ['AWS KMS', 'questions.html'],
    ['terraform', 'questions.html'],
  ] as const) {
    it(`finds ${url} for "${query}" among the first results`, () => {
      const found = search(query).map((result) => result.url);
      assert.ok(
        found.some((one) => one === url || one.startsWith(`${url}#`)),
        `"${query}" finds ${found.join(', ')}: after a change of a page, ${BUILD}`,
      );
    });
  }

  it('finds nothing for what no page says', () => {
    assert.deepEqual(search('xyzzyqwv'), []);
  });
});

describe('the Markdown of the site', () => {
  it('has the anchors that GitHub gives', () => {
    for (const { path, text } of readPages()) {
      const ours = renderPage(text, () => null).headings.map(({ id }) => id);
      assert.deepEqual(new Set(ours), anchors(text), path);
    }
  });

  it('names files that are no pages by their path, and escapes what is not Markdown', () => {
    const { html } = renderPage('# A\n\n[code](../src/a.ts) `<b>` <!-- note -->\n', () => null);
    assert.match(html, /code \(<code>\.\.\/src\/a\.ts<\/code>\)/);
    assert.match(html, /<code>&lt;b&gt;<\/code>/);
    assert.doesNotMatch(html, /note|href="\.\./);
  });

  it('finds the pictures of HTML within Markdown', () => {
    const picture = '<picture><source srcset="dark.png"><img src="light.png" alt="A"></picture>';
    const { html } = renderPage(`# A\n\n${picture}\n`, (target) => `pictures/${target}`);
    assert.ok(
      html.includes('srcset="pictures/dark.png"') && html.includes('src="pictures/light.png"'),
    );
  });

  it('gives rows that begin with a name an anchor, once', () => {
    const table = '| Code | What |\n|---|---|\n| `not_found` | a |\n| `not_found` | b |\n';
    const { html, sections } = renderPage(`# A\n\n${table}`, () => null);
    assert.equal([...html.matchAll(/id="not_found"/g)].length, 1);
    assert.deepEqual(
      sections.filter(({ isRow }) => isRow).map(({ id, text }) => [id, text]),
      [['not_found', 'a']],
    );
  });
});
