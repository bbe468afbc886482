/** Serves the pages that `npm run build` makes: a route for each file, with its compressed forms. */
import { join } from 'node:path';
import fastifyStatic, { type FastifyStaticOptions } from '@fastify/static';
import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import { isBuilt } from './is-built.ts';
import { PAGE_HEADERS } from './page-headers.ts';

interface BuiltPages {
  /** Name in the log. */
  readonly name: string;
  readonly folder: string;
  /** `Cache-Control` of a file, by its path. */
  readonly cacheControl: (path: string) => string;
  /** `Content-Security-Policy` of all files, if it is not that of pages. */
  readonly policy?: () => string;
  readonly options: Pick<FastifyStaticOptions, 'prefix' | 'index' | 'decorateReply'>;
}

/**
 * Adds a route for each file in the folder. Files that are added later, dot files and compressed forms have no route.
 * Returns false and logs a warning if nothing is built.
 */
export async function serveBuilt(
  app: FastifyInstance,
  logger: FastifyBaseLogger,
  { name, folder, cacheControl, policy, options }: BuiltPages,
): Promise<boolean> {
  if (!isBuilt(folder)) {
    logger.warn(`${name} is not built: there is no ${join(folder, 'index.html')}`);
    return false;
  }
  const ownPolicy = policy && { 'content-security-policy': policy() };
  await app.register(fastifyStatic, {
    ...options,
    root: folder,
    wildcard: false,
    globIgnore: ['**/*.br', '**/*.gz'],
    preCompressed: true,
    acceptRanges: false,
    cacheControl: false,
    setHeaders: (reply, path) => {
      reply.headers({ ...PAGE_HEADERS, ...ownPolicy, 'cache-control': cacheControl(path) });
    },
  });
  return true;
}
