/**
 * Builds build/docs, which the server serves at `/docs`, and which any web server can serve: a page for each Markdown page,
 * the API reference, the search index, and the scripts and styles of `dashboard/docs-page/`.
 */
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type BuildEnvironmentOptions, build } from 'vite';
import { ROOT } from './docs/pages.ts';
import { siteFiles } from './docs/site.ts';
import { precompress } from './precompress.ts';

const SOURCES = join(ROOT, 'dashboard/docs-page');
const BUILT = join(ROOT, 'build/docs');
const ASSETS = join(BUILT, 'assets');

/** One below the best: the many pages take 2 s less of every `npm ci`, and are 2 % larger. */
const PAGE_QUALITY = 10;

/** Builds a bundle into the assets. The first versions with light-dark(), as for the dashboard. */
async function bundle(options: BuildEnvironmentOptions): Promise<void> {
  await build({
    configFile: false,
    root: SOURCES,
    base: './',
    publicDir: false,
    logLevel: 'warn',
    oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
    build: {
      outDir: ASSETS,
      emptyOutDir: false,
      target: ['chrome123', 'firefox121', 'safari17.5'],
      reportCompressedSize: false,
      ...options,
    },
  });
}

/** The scripts of the pages. The parts that few readers need are files of their own. */
function bundlePages(): Promise<void> {
  return bundle({
    modulePreload: { polyfill: false },
    rolldownOptions: {
      input: join(SOURCES, 'src/main.tsx'),
      output: { entryFileNames: 'docs.js', chunkFileNames: '[name].js' },
    },
  });
}

/** The script that runs before a page is painted, so it is no module. */
function bundleTheme(): Promise<void> {
  return bundle({
    lib: {
      entry: join(SOURCES, 'src/theme.ts'),
      formats: ['iife'],
      name: 'theme',
      fileName: () => 'theme.js',
    },
  });
}

rmSync(BUILT, { recursive: true, force: true });
mkdirSync(ASSETS, { recursive: true });
const [files] = await Promise.all([siteFiles(), bundlePages(), bundleTheme()]);
for (const [path, content] of files) {
  mkdirSync(dirname(join(BUILT, path)), { recursive: true });
  writeFileSync(join(BUILT, path), content);
}
const styles = ['../src/styles/palette.css', 'docs.css'].map((path) =>
  readFileSync(join(SOURCES, path), 'utf8'),
);
writeFileSync(join(ASSETS, 'docs.css'), styles.join('\n'));
copyFileSync(join(ROOT, 'dashboard/public/icon.svg'), join(ASSETS, 'icon.svg'));
precompress(BUILT, PAGE_QUALITY);
