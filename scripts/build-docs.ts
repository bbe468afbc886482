/** Builds build/docs, which the server serves at `/docs`: our page and the files of the renderer. */
import { copyFileSync, cpSync, mkdirSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { precompress } from './precompress.ts';

const PAGE = fileURLToPath(new URL('../dashboard/docs-page', import.meta.url));
const BUILT = fileURLToPath(new URL('../build/docs', import.meta.url));

const RENDERER = dirname(
  createRequire(import.meta.url).resolve('@fastify/swagger-ui/static/swagger-ui-bundle.js'),
);
const RENDERER_FILES = ['swagger-ui-bundle.js', 'swagger-ui.css', 'favicon-32x32.png'];

rmSync(BUILT, { recursive: true, force: true });
cpSync(PAGE, BUILT, { recursive: true });
mkdirSync(join(BUILT, 'ui'));
for (const file of RENDERER_FILES) copyFileSync(join(RENDERER, file), join(BUILT, 'ui', file));
precompress(BUILT);
