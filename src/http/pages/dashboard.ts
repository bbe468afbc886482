/** `GET /`: the dashboard for browsers, and a short index for programs. */
import { relative, sep } from 'node:path';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { formatTimestamp } from '../../clock.ts';
import { AppError } from '../../errors.ts';
import { PROJECT_VERSION } from '../../process/version.ts';
import type { RouteContext } from '../context.ts';
import { serveBuilt } from './built-pages.ts';

/** The names of files in this folder change with their content. */
const HASHED_FOLDER = `assets${sep}`;
const FOR_EVER = 'public, max-age=31536000, immutable';

/** Serves the built dashboard and `GET /`. The prefix of `app` is the base path. */
export async function serveDashboard(app: FastifyInstance, context: RouteContext): Promise<void> {
  const { dashboardFolder: folder, logger } = context;
  const isServed = await serveBuilt(app, logger, {
    name: 'the dashboard',
    folder,
    cacheControl: (path) => {
      const isHashed = relative(folder, path).startsWith(HASHED_FOLDER);
      return isHashed ? FOR_EVER : 'no-cache';
    },
    options: { index: false },
  });
  serveFirstAddress(app, context, isServed);
}

/**
 * Browsers ask for `text/html`; other clients get an index of addresses. The base path without its slash redirects here by
 * a relative address, which also works behind proxies.
 */
function serveFirstAddress(app: FastifyInstance, context: RouteContext, isBuilt: boolean): void {
  const { authenticator, basePath, clock } = context;
  const index = {
    success: true,
    service: 'PHM key service',
    version: PROJECT_VERSION,
    links: {
      ...(isBuilt && { dashboard: `${basePath}/` }),
      documentation: `${basePath}/docs`,
      openapi: `${basePath}/api/v2/openapi.json`,
      health: `${basePath}/health`,
    },
  };
  app.get(
    '/',
    { schema: { hide: true }, prefixTrailingSlash: 'slash' },
    async (request, reply): Promise<FastifyReply> => {
      reply.header('vary', joinVary(reply, 'Accept'));
      if (!request.headers.accept?.includes('text/html')) {
        return reply.send({
          ...index,
          demo_api_key: await authenticator.demoKeyFor(request),
          timestamp: formatTimestamp(clock.nowMs()),
        });
      }
      if (isBuilt) return reply.sendFile('index.html');
      const detail = 'The dashboard is not built. Run "npm run build" and restart the server.';
      throw new AppError('not_found', { detail });
    },
  );
  if (basePath === '') return;
  const last = basePath.slice(basePath.lastIndexOf('/') + 1);
  app.get('', { schema: { hide: true }, prefixTrailingSlash: 'no-slash' }, (_request, reply) =>
    reply.redirect(`${last}/`, 308),
  );
}

/** Adds a name to `Vary`, which may already name `Origin`. */
function joinVary(reply: FastifyReply, name: string): string {
  const before = reply.getHeader('vary');
  return before === undefined ? name : `${before}, ${name}`;
}
