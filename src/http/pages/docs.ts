/** The API documentation at `/docs`: our own page around Swagger UI, with all files from this server. */
import { fileURLToPath } from 'node:url';
import type { FastifyInstance } from 'fastify';
import type { RouteContext } from '../context.ts';
import { serveBuilt } from './built-pages.ts';

/** Built from `dashboard/docs-page/` and the renderer (`scripts/build-docs.ts`). */
const BUILT_PAGE = fileURLToPath(new URL('../../../build/docs', import.meta.url));

/** Serves the page and its files without an API key. */
export async function serveDocs(app: FastifyInstance, { logger }: RouteContext): Promise<void> {
  const isServed = await serveBuilt(app, logger, {
    name: 'the API documentation',
    folder: BUILT_PAGE,
    cacheControl: () => 'no-cache',
    options: { prefix: '/docs/', decorateReply: false },
  });
  if (!isServed) return;
  app.get('/docs', { schema: { hide: true } }, (_request, reply) => reply.redirect('docs/', 308));
}
