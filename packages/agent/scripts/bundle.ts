/**
 * Makes the program of the package: JavaScript with everything in it, so that one tarball installs without a registry.
 * `npm pack` runs it (`prepack`).
 */
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';

const PACKAGE = fileURLToPath(new URL('..', import.meta.url));
const DIST = join(PACKAGE, 'dist');

rmSync(DIST, { recursive: true, force: true });
const output = await build({
  configFile: false,
  root: PACKAGE,
  logLevel: 'warn',
  ssr: { noExternal: true },
  build: {
    ssr: 'src/bin.ts',
    target: 'node20',
    minify: false,
    rolldownOptions: { output: { entryFileNames: 'phm-agent.js', chunkFileNames: '[name].js' } },
  },
});
const [result] = [output].flat();
if (!result || !('output' in result)) throw new Error('vite gave no program');
const modules = result.output.flatMap((one) => ('moduleIds' in one ? one.moduleIds : []));

cpSync(join(PACKAGE, '../../LICENSE'), join(PACKAGE, 'LICENSE'));
writeFileSync(join(DIST, 'LICENSES.txt'), licencesOf(modules));

/** Returns the licences of the packages whose code is in the program. */
function licencesOf(modules: readonly string[]): string {
  const folders = new Set(
    modules.flatMap((id) => /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(id)?.[1] ?? []),
  );
  return [...folders]
    .sort()
    .map((folder) => {
      const { name, version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
      return `${name} ${version}\n\n${licenceIn(folder)}`;
    })
    .join('\n----\n\n');
}

function licenceIn(folder: string): string {
  const file = readdirSync(folder).find((name) => /^licen[cs]e/i.test(name));
  if (file === undefined) throw new Error(`${dirname(folder)}: no licence in ${folder}`);
  return readFileSync(join(folder, file), 'utf8');
}
