import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { defineConfig, type Plugin } from 'vite';
import { precompress } from '../scripts/precompress.ts';

/** Address of the running service for `vite dev`: PHM_DEV_SERVER, or the service's default. */
const SERVICE = process.env.PHM_DEV_SERVER ?? 'http://127.0.0.1:8080';

const BUILT = fileURLToPath(new URL('../build/dashboard', import.meta.url));

const CLIENT = fileURLToPath(new URL('../sdk/src/client.ts', import.meta.url));

const NO_FILES = '\0no-files';

/** Leaves the encryption of files out: the client of `sdk/` has it, the page does not use it, and it is 100 KB. */
const withoutFiles: Plugin = {
  name: 'without-files',
  enforce: 'pre',
  resolveId: (source, importer) =>
    importer === CLIENT && source.startsWith('./files/') ? NO_FILES : null,
  load: (id) => (id === NO_FILES ? `export let ${namesFromFiles().join(', ')};` : null),
};

/** Returns the values that the client imports from the files that the page leaves out. */
function namesFromFiles(): string[] {
  const imports = readFileSync(CLIENT, 'utf8').matchAll(/^import \{([^}]*)\} from '\.\/files\//gm);
  const names = [...imports].flatMap(([, list = '']) => list.split(',').map((name) => name.trim()));
  return names.filter((name) => name !== '' && !name.startsWith('type '));
}

export default defineConfig({
  root: import.meta.dirname,
  // Relative addresses work under any base path.
  base: './',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: BUILT,
    emptyOutDir: true,
    // The first versions with light-dark(), which the themes need.
    target: ['chrome123', 'firefox121', 'safari17.5'],
    // Everything is a file of its own, because the content policy forbids data: scripts and styles.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  server: { proxy: { '/api': SERVICE, '/health': SERVICE, '/log': SERVICE, '/docs': SERVICE } },
  plugins: [
    withoutFiles,
    { name: 'precompress', apply: 'build', closeBundle: () => precompress(BUILT) },
  ],
});
