/** All files of the documentation site that come from Markdown and the OpenAPI document. */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join, posix } from 'node:path';
import { Markup } from './html.ts';
import { type NavigationEntry, pageHtml, relativeTo } from './layout.ts';
import { type RenderedPage, renderPage } from './markdown.ts';
import { openApiText } from './openapi.ts';
import { REFERENCE, ROOT, readSourcePages, type SourcePage } from './pages.ts';
import { type OpenApi, renderReference } from './reference.ts';
import { searchIndexText } from './search-entries.ts';

/** Files by their path in the site. */
type SiteFiles = Map<string, string | Uint8Array>;

/** Pictures keep their path from the root of the project below this folder. */
const PICTURES = 'pictures';
const PICTURE = /\.(?:png|svg|jpg|webp)$/;

export async function siteFiles(): Promise<SiteFiles> {
  const sources = readSourcePages();
  const files: SiteFiles = new Map();
  const rendered = sources.map((page) => ({ page, ...renderSource(page, sources, files) }));
  const reference = renderReference(JSON.parse(await openApiText()) as OpenApi);
  const navigation = navigationOf(sources, reference.parts);
  for (const { page, html, headings } of rendered) {
    const content = new Markup(html);
    files.set(page.output, pageHtml({ ...page, content, headings }, navigation));
  }
  const { content } = reference;
  const wide = { ...REFERENCE, content, headings: [], isWide: true };
  files.set(REFERENCE.output, pageHtml(wide, navigation));
  const indexed = rendered.map(({ page, sections }) => ({ ...page, sections }));
  const operations = { ...REFERENCE, group: 'Reference', sections: reference.sections };
  files.set('assets/search.json', searchIndexText([...indexed, operations]));
  files.set('assets/operations.json', JSON.stringify(reference.operations));
  return files;
}

function renderSource(
  page: SourcePage,
  sources: readonly SourcePage[],
  files: SiteFiles,
): RenderedPage {
  return renderPage(page.text, (target) => {
    const [path = '', anchor] = target.split('#');
    const hash = anchor === undefined ? '' : `#${anchor}`;
    if (path === '') return hash;
    const file = posix.join(posix.dirname(page.source), decodeURIComponent(path));
    if (PICTURE.test(file)) return addPicture(page, file, files);
    const source = isFolder(file) ? posix.join(file, 'README.md') : file;
    const found = sources.find((other) => other.source === source);
    return found ? relativeTo(page.output, found.output) + hash : null;
  });
}

function isFolder(file: string): boolean {
  const path = join(ROOT, file);
  return existsSync(path) && statSync(path).isDirectory();
}

function addPicture(page: SourcePage, file: string, files: SiteFiles): string {
  const output = `${PICTURES}/${file}`;
  files.set(output, readFileSync(join(ROOT, file)));
  return relativeTo(page.output, output);
}

function navigationOf(
  sources: readonly SourcePage[],
  parts: readonly { readonly id: string; readonly title: string }[],
): NavigationEntry[] {
  const entries: NavigationEntry[] = sources.map(({ group, title, output }) => ({
    group,
    title,
    output,
  }));
  const place = entries.findIndex(({ group }) => group === 'Reference');
  return entries.toSpliced(place, 0, { group: 'Reference', ...REFERENCE, parts });
}
