/** The OpenAPI 3.1 document and its human form, both generated from the routes' own schemas. */
import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance } from 'fastify';
import { PROJECT_VERSION } from '../version.ts';
import { PAGE_HEADERS } from './page-headers.ts';

const DESCRIPTION = `Generates symmetric keys of 128, 256 or 384 bits from an SP 800-90A CTR_DRBG that
is reseeded before every key, validates keys it generated, and reports usage.

Every response is a JSON object with \`success\` and \`timestamp\`. Errors are problem details
(RFC 9457) with a stable \`code\`. A key is shown once and is never stored.`;

/** Registers the collection of route schemas; MUST come before the routes. */
export async function registerOpenApi(app: FastifyInstance, basePath: string): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'PHM key service',
        version: PROJECT_VERSION,
        description: DESCRIPTION,
        license: { name: 'MIT', identifier: 'MIT' },
      },
      // Paths in the document are relative to it.
      servers: [{ url: basePath === '' ? '/' : basePath }],
      components: {
        securitySchemes: { apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' } },
      },
      security: [{ apiKey: [] }],
    },
  });
}

/** Serves the document and the page; neither needs an API key. */
export async function serveOpenApi(app: FastifyInstance, basePath: string): Promise<void> {
  app.get('/api/v2/openapi.json', { schema: { hide: true } }, async () => app.swagger());
  await app.register(async (page) => {
    page.addHook('onRequest', async (_request, reply) => {
      reply.headers(PAGE_HEADERS);
    });
    await page.register(swaggerUi, {
      routePrefix: '/docs',
      indexPrefix: basePath,
      theme: { title: 'PHM key service API' },
      uiConfig: { layout: 'BaseLayout', validatorUrl: null },
    });
  });
}
