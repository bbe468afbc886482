/** Pages that `npm run build` makes: their files, with compressed forms, as routes of the server. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import fastifyStatic, { type FastifyStaticOptions } from '@fastify/static';
import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import { PAGE_HEADERS } from './page-headers.ts';

export interface BuiltPages {
  /** What the log calls them. */
  readonly name: string;
  readonly folder: string;
  /** `Cache-Control` of a file, by its path. */
  readonly cacheControl: (path: string) => string;
  readonly options: Pick<FastifyStaticOptions, 'prefix' | 'index' | 'decorateReply'>;
}

/** Whether there is a page in a folder. */
export function isBuilt(folder: string): boolean {
  return existsSync(join(folder, 'index.html'));
}

/**
 * Serves each file that is there by an address of its own: what is put into the folder later, dot
 * files and compressed forms have none. False, and a warning, when nothing is built.
 */
export async function serveBuilt(
  app: FastifyInstance,
  logger: FastifyBaseLogger,
  { name, folder, cacheControl, options }: BuiltPages,
): Promise<boolean> {
  if (!isBuilt(folder)) {
    logger.warn(`${name} is not built: there is no ${join(folder, 'index.html')}`);
    return false;
  }
  await app.register(fastifyStatic, {
    ...options,
    root: folder,
    wildcard: false,
    globIgnore: ['**/*.br', '**/*.gz'],
    preCompressed: true,
    acceptRanges: false,
    cacheControl: false,
    setHeaders: (reply, path) => {
      reply.headers({ ...PAGE_HEADERS, 'cache-control': cacheControl(path) });
    },
  });
  return true;
}
