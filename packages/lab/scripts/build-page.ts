/**
 * Builds the page of the test bench: one file with its styles, scripts, workers and kernels inside. Its content policy
 * allows exactly these, and no request.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'vite';
import { KERNEL_DIGESTS } from '../../sp800-22/src/kernels/digests.ts';
import { type Software, STYLE } from '../src/index.ts';

const SOURCES = fileURLToPath(new URL('../testbench/', import.meta.url));
const KERNELS = fileURLToPath(new URL('../../sp800-22/build/', import.meta.url));

/** Replaces the module that reads kernels from files by one that has them. */
const inlinedKernels: Plugin = {
  name: 'inlined-kernels',
  enforce: 'pre',
  load(id) {
    if (!id.endsWith('/sp800-22/src/wasm.ts')) return null;
    const kernels = Object.entries(KERNEL_DIGESTS).map(([name, digest]) => [
      digest,
      readFileSync(join(KERNELS, `${name}.wasm`), 'base64'),
    ]);
    return `const KERNELS = ${JSON.stringify(Object.fromEntries(kernels))};
export class KernelsError extends Error {}
export function compileKernels(_file, digest) {
  const bytes = Uint8Array.from(atob(KERNELS[digest]), (character) => character.charCodeAt(0));
  return new WebAssembly.Module(bytes);
}
export const fetchKernels = compileKernels;
export const compileBytes = compileKernels;`;
  },
  transform(code, id) {
    if (!/\/(sp800-22\/src\/kernels\/module|lab\/src\/platform)\.ts$/.test(id)) return null;
    return code.replace(/new URL\([^;]*?import\.meta\.url\)/, 'undefined');
  },
};

/** Returns a script with everything that it imports. */
async function bundle(entry: string, define: Readonly<Record<string, string>>): Promise<string> {
  const output = await build({
    configFile: false,
    root: SOURCES,
    logLevel: 'warn',
    define: Object.fromEntries(
      Object.entries(define).map(([name, value]) => [name, JSON.stringify(value)]),
    ),
    plugins: [inlinedKernels],
    build: {
      write: false,
      target: ['chrome123', 'firefox121', 'safari17.5'],
      lib: { entry: join(SOURCES, entry), formats: ['iife'], name: 'testbench' },
      minify: true,
    },
  });
  const [result] = [output].flat();
  if (!result || !('output' in result)) throw new Error(`${entry} gave no script`);
  return result.output[0].code.trim();
}

const digestOf = (text: string): string =>
  `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** A script in a page ends at the first of these characters. */
const inScript = (text: string): string =>
  text.replaceAll('</', '<\\/').replaceAll('<!--', '<\\!--');

/** Returns the page of a program, whose reports name it. The first word of its name is its command. */
export async function buildPage({ program, build }: Software): Promise<string> {
  const facts = { __PROGRAM__: program, __SOFTWARE__: build };
  const worker = await bundle('src/worker.ts', facts);
  const script = inScript(await bundle('src/main.ts', { ...facts, __WORKER__: worker }));
  const style = STYLE.text + readFileSync(join(SOURCES, 'page.css'), 'utf8');
  const policy = [
    "default-src 'none'",
    `script-src ${digestOf(script)} 'wasm-unsafe-eval'`,
    'worker-src blob:',
    `style-src ${digestOf(style)}`,
    'img-src data:',
    "connect-src 'none'",
    "form-action 'none'",
    "base-uri 'none'",
  ].join('; ');
  return readFileSync(join(SOURCES, 'index.html'), 'utf8')
    .replace('%POLICY%', policy)
    .replace('%PROGRAM%', program)
    .replace('%COMMAND%', program.replace(/ .*/, ''))
    .replace('<style></style>', () => `<style>${style}</style>`)
    .replace('<script></script>', () => `<script>${script}</script>`);
}
