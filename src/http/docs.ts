/** The API documentation at `/docs`: a page of our own around Swagger UI, all from this server. */
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { PAGE_HEADERS } from './page-headers.ts';

const PAGE = fileURLToPath(new URL('./docs-page', import.meta.url));

/** The renderer's files, of which the page names these. */
const RENDERER = dirname(
  createRequire(import.meta.url).resolve('@fastify/swagger-ui/static/swagger-ui-bundle.js'),
);
const RENDERER_FILES = ['swagger-ui-bundle.js', 'swagger-ui.css', 'favicon-32x32.png'];

/** Serves the page and its files; none needs an API key. */
export async function serveDocs(app: FastifyInstance): Promise<void> {
  const common = {
    wildcard: false,
    acceptRanges: false,
    cacheControl: false,
    setHeaders: (reply: FastifyReply) => {
      reply.headers({ ...PAGE_HEADERS, 'cache-control': 'no-cache' });
    },
  };
  await app.register(fastifyStatic, {
    ...common,
    root: PAGE,
    prefix: '/docs/',
    decorateReply: false,
  });
  await app.register(fastifyStatic, {
    ...common,
    root: RENDERER,
    prefix: '/docs/ui/',
    globIgnore: [`!(${RENDERER_FILES.join('|')})`],
    decorateReply: false,
  });
  app.get('/docs', { schema: { hide: true } }, (_request, reply) => reply.redirect('docs/', 308));
}
