/** Builds build/testbench/index.html, the page of `phm testbench` and of the server. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildPage } from '../packages/lab/scripts/build-page.ts';
import { PROJECT_VERSION, softwareName } from '../src/process/version.ts';
import { precompress } from './precompress.ts';

const BUILT = fileURLToPath(new URL('../build/testbench/', import.meta.url));

const page = await buildPage({ program: `phm ${PROJECT_VERSION}`, build: softwareName() });
rmSync(BUILT, { recursive: true, force: true });
mkdirSync(BUILT, { recursive: true });
writeFileSync(join(BUILT, 'index.html'), page);
precompress(BUILT);
