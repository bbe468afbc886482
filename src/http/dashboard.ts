/** The first address of the service: the dashboard for browsers, and a short index for programs. */
import { existsSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { formatTimestamp } from '../clock.ts';
import { AppError } from '../errors.ts';
import { PROJECT_VERSION } from '../version.ts';
import type { RouteContext } from './app.ts';
import { PAGE_HEADERS } from './page-headers.ts';

/** Names of files in this folder change with their content. */
const HASHED_FOLDER = `assets${sep}`;
const FOR_EVER = 'public, max-age=31536000, immutable';

/** Whether there is a dashboard in a folder. */
export function isDashboardBuilt(folder: string): boolean {
  return existsSync(join(folder, 'index.html'));
}

/**
 * Serves the files of the built dashboard, each by an address of its own: what is put into the folder
 * later, dot files and compressed forms have none. `app` has the base path for its prefix.
 */
export async function serveDashboard(app: FastifyInstance, context: RouteContext): Promise<void> {
  const { dashboardFolder: root, logger } = context;
  const isBuilt = isDashboardBuilt(root);
  if (isBuilt) {
    await app.register(fastifyStatic, {
      root,
      wildcard: false,
      globIgnore: ['**/*.br', '**/*.gz'],
      index: false,
      preCompressed: true,
      acceptRanges: false,
      cacheControl: false,
      setHeaders: (reply, path) => {
        const isHashed = relative(root, path).startsWith(HASHED_FOLDER);
        reply.headers({ ...PAGE_HEADERS, 'cache-control': isHashed ? FOR_EVER : 'no-cache' });
      },
    });
  } else {
    logger.warn(`the dashboard is not built: there is no ${join(root, 'index.html')}`);
  }
  serveFirstAddress(app, context, isBuilt);
}

/**
 * Browsers ask for `text/html`; whoever does not gets an index of addresses. The base path without
 * its slash leads here by a relative address, which holds behind proxies too.
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
      const detail = 'The dashboard is not built: run "npm run build" and start the server again.';
      throw new AppError('not_found', { detail });
    },
  );
  if (basePath === '') return;
  const last = basePath.slice(basePath.lastIndexOf('/') + 1);
  app.get('', { schema: { hide: true }, prefixTrailingSlash: 'no-slash' }, (_request, reply) =>
    reply.redirect(`${last}/`, 308),
  );
}

/** `Vary` may name `Origin` already. */
function joinVary(reply: FastifyReply, name: string): string {
  const before = reply.getHeader('vary');
  return before === undefined ? name : `${before}, ${name}`;
}
