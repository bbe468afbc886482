/** GET /livez, /readyz and /health: no API key, not metered, not rate limited. */
import type { FastifyInstance } from 'fastify';
import type { Static } from 'typebox';
import { formatTimestamp } from '../../clock.ts';
import { DIRECTORY_ID_HEADER } from '../../files/data-directory.ts';
import type { RouteContext } from '../context.ts';
import { EXAMPLE_TIMESTAMP, type OperationDocs } from '../openapi/operation.ts';
import { HealthResult } from '../wire/health-schema.ts';
import { COMMON_ERRORS, responses } from '../wire/responses.ts';

/** Seconds after which to check an unready server again. */
const RETRY_AFTER_SECONDS = 1;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** True if the route is answered even when all connections are in use. */
    readonly isProbe?: boolean;
  }
}

type Health = Static<typeof HealthResult>;

const LIVEZ_DOCS: OperationDocs = {
  description:
    'Returns 200 while the process responds. Restart the process only if this check fails.',
  examples: () => ({
    answers: {
      alive: {
        summary: 'alive',
        value: { success: true, status: 'ok', timestamp: EXAMPLE_TIMESTAMP },
      },
    },
  }),
};

const READY = {
  success: true,
  status: 'ok',
  checks: {
    entropy: 'ok',
    'entropy:os': 'ok',
    generator: 'ok',
    ledger: 'ok',
    master_secret: 'ok',
    accepting: 'yes',
  },
  timestamp: EXAMPLE_TIMESTAMP,
};

const READYZ_DOCS: OperationDocs = {
  description: `Returns 200 while the server can generate and record keys: the generators work, the default source delivers, the
ledger is available, the master secret is complete, and the server is not shutting down. \`ok\` means that a part works and that
its own tests found no defect; it does not measure entropy. Send no traffic to a server that returns 503.`,
  examples: () => ({
    answers: { ready: { summary: 'ready', value: READY } },
  }),
};

const HEALTH_DOCS: OperationDocs = {
  description: 'The same as `/readyz`, at the path that many monitoring systems expect.',
  examples: () => ({
    answers: { ready: { summary: 'ready', value: READY } },
  }),
};

export function healthRoutes(
  app: FastifyInstance,
  context: RouteContext,
  { documented }: { documented: boolean },
): void {
  const routes = [
    ['/livez', 'Liveness of the process', LIVEZ_DOCS, () => alive(context)],
    ['/readyz', 'Readiness of the server', READYZ_DOCS, () => readiness(context)],
    ['/health', 'The same as /readyz', HEALTH_DOCS, () => readiness(context)],
  ] as const;
  for (const [path, summary, docs, report] of routes) {
    const content = { 'application/json': { schema: HealthResult } };
    const response: Record<string, unknown> = {
      ...responses(HealthResult, COMMON_ERRORS),
      ...(path !== '/livez' && { 503: { description: 'Not ready', content } }),
    };
    app.get(
      path,
      {
        config: { isProbe: true, docs },
        schema: {
          hide: !documented,
          operationId: path.slice(1),
          summary,
          tags: ['health'],
          security: [],
          response,
        },
      },
      async (_request, reply) => {
        const health = report();
        if (path === '/livez') reply.header(DIRECTORY_ID_HEADER, context.directoryId);
        if (!health.success) reply.code(503).header('retry-after', RETRY_AFTER_SECONDS);
        return health;
      },
    );
  }
}

function alive({ clock }: RouteContext): Health {
  return { success: true, status: 'ok', timestamp: formatTimestamp(clock.nowMs()) };
}

/** Ready while the process can generate and record keys and is not shutting down. */
function readiness({ service, clock, isDraining }: RouteContext): Health {
  const { ready, entropy, generator, latched, ledger, ownLedger, secret, log, sources } =
    service.checkReadiness();
  const status = isDraining() ? 'draining' : ready ? 'ok' : 'unavailable';
  const bySource = sources.map(({ name, healthy }) => [`entropy:${name}`, word(healthy)]);
  return {
    success: status === 'ok',
    status,
    checks: {
      entropy: generator === 'starting' ? generator : word(entropy),
      ...Object.fromEntries(bySource),
      generator,
      ledger: ownLedger ? word(ledger) : 'foreign',
      master_secret: secret,
      ...(log !== 'ok' && { transparency_log: log }),
      accepting: isDraining() ? 'no' : 'yes',
    },
    ...(latched && { latch: { cause: latched.cause, test: latched.test } }),
    timestamp: formatTimestamp(clock.nowMs()),
  };
}

function word(good: boolean): string {
  return good ? 'ok' : 'unavailable';
}
