/** The API documentation at `/docs`: a page of our own around Swagger UI, all from this server. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { RouteContext } from './app.ts';
import { PAGE_HEADERS } from './page-headers.ts';

/** What `npm run build` makes of `docs-page/` and the renderer (`scripts/build-docs.ts`). */
const BUILT_PAGE = fileURLToPath(new URL('../../build/docs', import.meta.url));

/** Serves the page and its files; none needs an API key. */
export async function serveDocs(app: FastifyInstance, { logger }: RouteContext): Promise<void> {
  const index = join(BUILT_PAGE, 'index.html');
  if (!existsSync(index)) {
    logger.warn(`the API documentation is not built: there is no ${index}`);
    return;
  }
  await app.register(fastifyStatic, {
    root: BUILT_PAGE,
    prefix: '/docs/',
    wildcard: false,
    globIgnore: ['**/*.br', '**/*.gz'],
    preCompressed: true,
    acceptRanges: false,
    cacheControl: false,
    decorateReply: false,
    setHeaders: (reply: FastifyReply) => {
      reply.headers({ ...PAGE_HEADERS, 'cache-control': 'no-cache' });
    },
  });
  app.get('/docs', { schema: { hide: true } }, (_request, reply) => reply.redirect('docs/', 308));
}
