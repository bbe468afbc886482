/** Adds to dist/ what the compiler does not emit: the kernels of the suite, and the page of the test bench. */
import { cpSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { labSoftware, readVersion } from '../src/software.ts';
import { buildPage } from './build-page.ts';

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

cpSync(at('../../sp800-22/build'), at('../dist/sp800-22/build'), { recursive: true });
writeFileSync(
  at('../dist/testbench.html'),
  await buildPage(labSoftware(readVersion(), at('../dist'))),
);
