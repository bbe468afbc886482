/** The pages of the documentation site: which Markdown file becomes which page, in which group of the sidebar. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT: string = fileURLToPath(new URL('../../', import.meta.url));

export const GROUPS = [
  'Start',
  'Guides',
  'Reference',
  'Explanation',
  'Evidence',
  'Operate',
] as const;

export type Group = (typeof GROUPS)[number];

export interface SourcePage {
  /** Path of the Markdown file from the root of the project. */
  readonly source: string;
  /** Path of the page below `docs/` of the site. */
  readonly output: string;
  readonly group: Group;
  readonly title: string;
  readonly text: string;
}

/** The reference of the operations, which comes from the OpenAPI document. */
export const REFERENCE = { output: 'reference.html', title: 'API reference' };

/** Pages whose place the folder does not say, in the order of the sidebar. */
const PLACED: Readonly<Record<Group, readonly string[]>> = {
  Start: [
    'docs/README.md',
    'README.md',
    'docs/questions.md',
    'sdk/README.md',
    'sdk/python/README.md',
    'docs/examples/README.md',
    'docs/dashboard.md',
  ],
  Guides: [],
  Reference: [
    'docs/api.md',
    'docs/errors.md',
    'docs/cli.md',
    'docs/configuration.md',
    'docs/clients.md',
    'docs/sealing.md',
    'docs/encrypted-files.md',
    'docs/receipts.md',
    'docs/ledger.md',
    'docs/prime-harmonic-modulation.md',
    'packages/agent/README.md',
    'packages/agent/PSK.md',
    'packages/lab/README.md',
    'packages/sp800-22/README.md',
    'packages/sp800-90b/README.md',
    'packages/ais-20-31/README.md',
    'packages/tlog/README.md',
  ],
  Explanation: ['docs/architecture.md', 'SECURITY.md', 'docs/security-review.md'],
  Evidence: ['docs/evidence/README.md'],
  Operate: [
    'docs/operations.md',
    'docs/incidents.md',
    'docs/monitoring.md',
    'deploy/README.md',
    'docs/releasing.md',
    'CHANGELOG.md',
    'CONTRIBUTING.md',
  ],
};

/** Folders whose other pages follow: a new page needs no line here. */
const FOLDERS: readonly (readonly [string, Group])[] = [
  ['docs/guides/*.md', 'Guides'],
  ['docs/evidence/*.md', 'Evidence'],
  ['docs/*.md', 'Explanation'],
];

/** Reads all pages, in the order of the sidebar. */
export function readSourcePages(): SourcePage[] {
  const placed = GROUPS.flatMap((group) =>
    PLACED[group].map((source) => readSourcePage(source, group)),
  );
  const known = new Set(placed.map(({ source }) => source));
  const others = FOLDERS.flatMap(([pattern, group]) =>
    globSync(pattern, { cwd: ROOT })
      .map((path) => path.replaceAll('\\', '/'))
      .filter((source) => !known.has(source))
      .map((source) => readSourcePage(source, group))
      .sort((a, b) => (a.title < b.title ? -1 : 1)),
  );
  return GROUPS.flatMap((group) => [...placed, ...others].filter((page) => page.group === group));
}

/** Titles of pages whose heading says too little beside the others. */
const TITLES: Readonly<Record<string, string>> = {
  'docs/README.md': 'Overview',
  'README.md': 'README',
  'sdk/README.md': 'TypeScript client',
  'sdk/python/README.md': 'Python client',
};

function readSourcePage(source: string, group: Group): SourcePage {
  const text = readFileSync(join(ROOT, source), 'utf8');
  const heading = /^# (.+)$/m.exec(text)?.[1] ?? source;
  const title = TITLES[source] ?? heading.replace(/[`*]/g, '');
  return { source, output: outputOf(source), group, title, text };
}

/** Folders become `index.html`; `docs/` is the root of the site. */
function outputOf(source: string): string {
  if (source === 'README.md') return 'readme.html';
  const path = source.startsWith('docs/') ? source.slice('docs/'.length) : source.toLowerCase();
  return path.replace(/README\.md$/i, 'index.md').replace(/\.md$/, '.html');
}
