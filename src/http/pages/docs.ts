/** The documentation at `/docs`: pages built from Markdown and from the OpenAPI document, all from this server. */
import { globSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FastifyInstance } from 'fastify';
import type { RouteContext } from '../context.ts';
import { serveBuilt } from './built-pages.ts';

/** Built by `scripts/build-docs.ts`. */
const BUILT_PAGES = fileURLToPath(new URL('../../../build/docs', import.meta.url));

/** Serves the pages and their files without an API key. */
export async function serveDocs(app: FastifyInstance, { logger }: RouteContext): Promise<void> {
  const isServed = await serveBuilt(app, logger, {
    name: 'the documentation',
    folder: BUILT_PAGES,
    cacheControl: () => 'no-cache',
    options: { prefix: '/docs/', decorateReply: false },
  });
  if (!isServed) return;
  redirect(app, '/docs', 'docs/');
  for (const file of globSync('**/*.html', { cwd: BUILT_PAGES })) {
    const page = file.replaceAll('\\', '/');
    // `help` of a problem names a page without its suffix, as people do. Locations are relative: a proxy may add a prefix.
    if (basename(page) !== 'index.html') {
      redirect(app, `/docs/${page.replace(/\.html$/, '')}`, basename(page));
    } else if (page !== 'index.html') {
      const folder = page.slice(0, -'/index.html'.length);
      redirect(app, `/docs/${folder}`, `${basename(folder)}/`);
    }
  }
}

function redirect(app: FastifyInstance, from: string, to: string): void {
  app.get(from, { schema: { hide: true } }, (_request, reply) => reply.redirect(to, 308));
}
