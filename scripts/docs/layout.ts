/** The frame of every page: header, sidebar, content, and what is on the page. */
import { posix } from 'node:path';
import { PROJECT_VERSION } from '../../src/process/version.ts';
import { html, Markup, NOTHING } from './html.ts';
import type { Heading } from './markdown.ts';
import { GROUPS, type Group } from './pages.ts';

export interface NavigationEntry {
  readonly group: Group;
  readonly title: string;
  readonly output: string;
  /** Parts of the page that the sidebar shows while it is open. */
  readonly parts?: readonly { readonly id: string; readonly title: string }[];
}

interface PageContent {
  readonly output: string;
  readonly title: string;
  readonly content: Markup;
  readonly headings: readonly Heading[];
  readonly isWide?: boolean;
}

/** Returns the path from a page to a file of the site. */
export function relativeTo(output: string, target: string): string {
  return posix.relative(posix.dirname(output), target) || posix.basename(target);
}

/** Returns the whole page. All addresses are relative, so the site works below any path. */
export function pageHtml(page: PageContent, navigation: readonly NavigationEntry[]): string {
  const to = (target: string) => relativeTo(page.output, target);
  const root = posix.relative(posix.dirname(page.output), '.');
  const title =
    page.output === 'index.html'
      ? 'PHM key service documentation'
      : `${page.title} · PHM key service`;
  const contents = page.isWide ? NOTHING : contentsOf(page.headings);
  return html`<!doctype html>
<html lang="en" data-root="${root === '' ? './' : `${root}/`}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>${title}</title>
<link rel="icon" type="image/svg+xml" href="${to('assets/icon.svg')}">
<link rel="stylesheet" href="${to('assets/docs.css')}">
<script src="${to('assets/theme.js')}"></script>
<script type="module" src="${to('assets/docs.js')}"></script>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header class="bar">
<button type="button" class="menu" aria-expanded="false" aria-controls="navigation" hidden>Menu</button>
<a class="brand" href="${to('index.html')}">PHM <span class="more">key service</span> <span class="docs">docs</span></a>
<div id="search" class="search"></div>
<a class="dashboard" href="${to('../')}" hidden>Dashboard</a>
<button type="button" class="theme" hidden></button>
</header>
<div class="frame${page.isWide ? ' wide' : ''}">
<nav id="navigation" class="navigation" aria-label="Documentation">${navigationOf(page, navigation)}</nav>
<main id="content" tabindex="-1">${page.content}<footer class="version">Version ${PROJECT_VERSION}</footer></main>
${contents}
</div>
</body>
</html>
`.text;
}

function navigationOf(page: PageContent, navigation: readonly NavigationEntry[]): Markup[] {
  return GROUPS.map((group) => {
    const entries = navigation.filter((entry) => entry.group === group);
    const holdsPage = entries.some(({ output }) => output === page.output);
    const list = html`<ul>${entries.map((entry) => entryOf(page, entry))}</ul>`;
    // Closed groups keep the sidebar short. The evidence is for few readers.
    const isOpen = holdsPage || group !== 'Evidence';
    return html`<details${isOpen ? new Markup(' open') : NOTHING}><summary>${group}</summary>${list}</details>`;
  });
}

function entryOf(page: PageContent, { output, title, parts = [] }: NavigationEntry): Markup {
  const isHere = output === page.output;
  const current = isHere ? new Markup(' aria-current="page"') : NOTHING;
  const inner =
    isHere && parts.length > 0
      ? html`<ul>${parts.map(({ id, title: part }) => html`<li><a href="#${id}">${part}</a></li>`)}</ul>`
      : NOTHING;
  const words = title.replace(/^Evidence: (.)/, (_, first: string) => first.toUpperCase());
  return html`<li><a href="${relativeTo(page.output, output)}"${current}>${words}</a>${inner}</li>`;
}

function contentsOf(headings: readonly Heading[]): Markup {
  const shown = headings.filter(({ depth }) => depth === 2 || depth === 3);
  if (shown.length < 2) return html`<div class="contents"></div>`;
  const items = shown.map(
    ({ id, title, depth }) => html`<li class="depth-${depth}"><a href="#${id}">${title}</a></li>`,
  );
  return html`<nav class="contents" aria-label="On this page"><p>On this page</p><ul>${items}</ul></nav>`;
}
