/** The test bench at `/testbench`: one page that tests a file in the browser and sends nothing. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FastifyInstance } from 'fastify';
import type { RouteContext } from '../context.ts';
import { serveBuilt } from './built-pages.ts';

/** Built from `packages/lab/testbench/` (`scripts/build-testbench.ts`). */
const BUILT_PAGE = fileURLToPath(new URL('../../../build/testbench', import.meta.url));

/** The page's own policy, which names the digests of its script and style. */
const POLICY = /http-equiv="Content-Security-Policy" content="([^"]+)"/;

/** The page begins with its policy. */
const HEAD_BYTES = 4096;

/** Serves the page without an API key. */
export async function serveTestbench(
  app: FastifyInstance,
  { logger }: RouteContext,
): Promise<void> {
  const isServed = await serveBuilt(app, logger, {
    name: 'the test bench',
    folder: BUILT_PAGE,
    cacheControl: () => 'no-cache',
    policy: () => `${policyOf(BUILT_PAGE)}; frame-ancestors 'none'`,
    options: { prefix: '/testbench/', decorateReply: false },
  });
  if (!isServed) return;
  app.get('/testbench', { schema: { hide: true } }, (_request, reply) =>
    reply.redirect('testbench/', 308),
  );
}

function policyOf(folder: string): string {
  // A part of a string keeps the whole: of the page, a megabyte.
  const head = readFileSync(join(folder, 'index.html')).toString('utf8', 0, HEAD_BYTES);
  const [, policy] = POLICY.exec(head) ?? [];
  if (policy === undefined) throw new Error('the test bench has no content security policy');
  return policy;
}
