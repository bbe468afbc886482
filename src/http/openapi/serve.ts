/** Serves the OpenAPI document. What builds it is loaded with the first request for it, not at the start. */
import { Readable } from 'node:stream';
import type { FastifyInstance, RouteOptions } from 'fastify';

/** Returns a list that will hold the documented routes. MUST run before the routes are added. */
export function collectRoutes(app: FastifyInstance): readonly RouteOptions[] {
  const routes: RouteOptions[] = [];
  app.addHook('onRoute', (route) => {
    if (route.method !== 'HEAD' && !route.schema?.hide) routes.push(route);
  });
  return routes;
}

/** Bytes of the document that wait at a time for a client to read on. */
const PART_BYTES = 16_384;

/**
 * Serves the document of these routes without an API key. It is sent in parts as the client reads: TLS copies what it
 * sends, and thousands of clients that never read would hold a copy of the whole document each.
 */
export function serveOpenApi(
  app: FastifyInstance,
  routes: readonly RouteOptions[],
  basePath: string,
): void {
  let building: Promise<Buffer> | undefined;
  app.get('/api/v2/openapi.json', { schema: { hide: true } }, async (_request, reply) => {
    building ??= build(routes, basePath).catch((error) => {
      // Without free file descriptors, modules cannot be loaded. The next request tries again.
      building = undefined;
      throw error;
    });
    const bytes = await building;
    const parts = Readable.from(partsOf(bytes), { objectMode: false, highWaterMark: PART_BYTES });
    reply.type('application/json; charset=utf-8').header('content-length', bytes.length);
    return reply.send(parts);
  });
}

async function build(routes: readonly RouteOptions[], basePath: string): Promise<Buffer> {
  const { openApiDocument } = await import('./document.ts');
  return Buffer.from(JSON.stringify(await openApiDocument(routes, basePath)));
}

function* partsOf(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += PART_BYTES) yield bytes.subarray(at, at + PART_BYTES);
}
