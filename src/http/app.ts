/**
 * Stage 8 of 8. In: HTTP requests. Out: JSON responses, after their records are durable.
 * Standards: RFC 9110 (HTTP), RFC 9457 (problem details).
 *
 * `routes/` has a file for each endpoint, `wire/` the form of requests and responses, `openapi/` their documentation,
 * and `pages/` the pages for browsers. Steps of every request, such as authentication and limits, are beside this file.
 */
import { randomUUID } from 'node:crypto';
import Fastify, {
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
  type RouteOptions,
} from 'fastify';
import { stackFrames } from '#platform/terminal';
import type { DemoKeysPolicy } from '../accounts/index.ts';
import type { AddressRange, Plans } from '../config/index.ts';
import type { TlsOptions } from '../config/tls.ts';
import { AppError, ERRORS } from '../errors.ts';
import type { Principal } from '../ledger/index.ts';
import { AccessLog } from './access-log.ts';
import { Authenticator } from './authenticate.ts';
import { type ClientAddress, clientAddress } from './client-address.ts';
import type { Connections } from './connections.ts';
import type { RouteContext } from './context.ts';
import {
  addCorsHook,
  type CorsHeaders,
  corsHeaders,
  isPreflight,
  preflightHeaders,
} from './cors.ts';
import { watchHandshakes } from './handshakes.ts';
import { leakedKey } from './leaked-key.ts';
import { createListener, type Timeouts } from './listener.ts';
import { RequestObserver, type Telemetry } from './observe.ts';
import { collectRoutes, serveOpenApi } from './openapi/serve.ts';
import { serveDashboard } from './pages/dashboard.ts';
import { serveDocs } from './pages/docs.ts';
import { serveTestbench } from './pages/testbench.ts';
import { PathMethods } from './path-methods.ts';
import { addRequestNotes } from './request-notes.ts';
import { activityRoute } from './routes/activity.ts';
import { deliveryRoutes } from './routes/deliveries.ts';
import { generateRoutes } from './routes/generate.ts';
import { healthRoutes } from './routes/health.ts';
import { keyRoutes } from './routes/keys.ts';
import { logRoutes } from './routes/log.ts';
import { LogReads } from './routes/log-reads.ts';
import { randomnessRoute } from './routes/randomness.ts';
import { receiptRoute } from './routes/receipt.ts';
import { receiptByCommitmentRoute } from './routes/receipt-by-commitment.ts';
import { seriesRoute } from './routes/series.ts';
import { validateRoute } from './routes/validate.ts';
import { checkScopes } from './scopes.ts';
import { Validators } from './validators.ts';
import { checkFraming, tellToContinue, toOriginForm } from './wire/framing.ts';
import { parseJsonBodies } from './wire/json-body.ts';
import { preferenceHeaders } from './wire/prefer.ts';
import { sendProblem, toAppError } from './wire/problem.ts';
import { answerRaw, handleRawEvents, parserError } from './wire/raw-errors.ts';

/** Options of the application, which creates the authenticator and the observer itself. */
export interface AppOptions extends Telemetry, Omit<RouteContext, 'authenticator' | 'observer'> {
  readonly demoKeys: DemoKeysPolicy;
  /** A demo API key that pages may offer while it is accepted and valid; null if there is none. */
  readonly demoApiKey: () => string | null;
  /** True once the operator has issued an API key. With `admit-direct`, demo keys then end. */
  readonly haveDemoKeysEnded: () => boolean;
  readonly rateLimits: boolean;
  /** The plans that an account may have. */
  readonly plans: Plans;
  /** Null: no TLS. */
  readonly tls: TlsOptions | null;
  /** Origins whose web pages may call the API. */
  readonly corsOrigins: readonly string[];
  /** Proxies whose `X-Forwarded-For` is trusted, for the log and for limits by address. */
  readonly trustedProxies: readonly AddressRange[];
  readonly connections: Connections;
  readonly timeouts?: Partial<Timeouts>;
  /** Default: new ones. */
  readonly validators?: Validators;
}

/**
 * Largest request body. A sealed request takes about 2.2 kB for each recipient, of whom it may have eight, the others a few
 * hundred bytes.
 */
const BODY_LIMIT_BYTES = 32 * 1024;

/** Request IDs accepted from clients: short and plain, so that they are safe in any log. */
const REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/;

/** Builds the application. The caller listens and closes. */
export async function buildApp(options: AppOptions): Promise<FastifyInstance> {
  const { clock } = options;
  const client = clientAddress(options.trustedProxies);
  const cors = corsHeaders(options.corsOrigins);
  const observer = new RequestObserver(options);
  const accessLog = new AccessLog(options.logger, observer);
  const authenticator = new Authenticator({ ...options, client, observer });
  const app = createServer(options, { client, cors, observer, accessLog });
  app.removeContentTypeParser('text/plain');
  parseJsonBodies(app, BODY_LIMIT_BYTES);
  app.setErrorHandler((error, request, reply) => {
    const known = toAppError(error, request);
    const { reason } = known.details;
    const { status } = ERRORS[known.code];
    if (reason) {
      if (request.principal || accessLog.admits(status, known.code)) {
        const fields = { code: known.code, ...callerOf(request.principal), reason };
        request.log.warn(fields, 'request failed');
      }
    } else if (known.code === 'internal_error') logUnexpected(request, known.cause);
    observer.problem(known, request);
    sendProblem(request, reply, known, clock);
  });
  app.setNotFoundHandler(() => {
    throw new AppError('not_found');
  });
  addRequestNotes(app);
  observer.attach(app);
  if (options.corsOrigins.length > 0) addCorsHook(app, cors);
  addRequestHooks(app, options.isDraining);
  refuseBeyondBound(app, options.connections);
  addLogHooks(app, accessLog, /^(?:debug|trace)$/.test(options.logger.level));
  refuseUnknownRoutes(app, cors);
  handleRawEvents(app.server, cors, { clock, logger: options.logger, observer, accessLog });
  watchHandshakes(app, { logger: options.logger, observer, accessLog });
  checkScopes(app, authenticator);
  const routes = collectRoutes(app);
  const context: RouteContext = { ...options, authenticator, observer };
  await app.register((scope) => addRoutes(scope, context, routes), { prefix: options.basePath });
  // Health checks come from next to the server, not through the proxy that the base path is for.
  if (options.basePath !== '') healthRoutes(app, context, { documented: false });
  return app;
}

/** Adds everything below the base path. */
async function addRoutes(
  app: FastifyInstance,
  context: RouteContext,
  routes: readonly RouteOptions[],
): Promise<void> {
  const logReads = new LogReads();
  generateRoutes(app, context);
  validateRoute(app, context);
  keyRoutes(app, context);
  deliveryRoutes(app, context);
  receiptRoute(app, context);
  receiptByCommitmentRoute(app, context, logReads);
  activityRoute(app, context);
  seriesRoute(app, context);
  randomnessRoute(app, context);
  await logRoutes(app, context, logReads);
  healthRoutes(app, context, { documented: true });
  serveOpenApi(app, routes, context.basePath);
  await serveDocs(app, context);
  await serveTestbench(app, context);
  await serveDashboard(app, context);
}

/** Parts of the application that handle a request before it has a route. */
interface RequestParts {
  readonly client: ClientAddress;
  readonly cors: CorsHeaders;
  readonly observer: RequestObserver;
  readonly accessLog: AccessLog;
}

function createServer(
  { tls, logger, clock, connections, timeouts = {}, validators = new Validators() }: AppOptions,
  { client, cors, observer, accessLog }: RequestParts,
): FastifyInstance {
  const raw = { clock, logger, observer, accessLog };
  const app = Fastify({
    schemaController: { compilersFactory: validators.compilers },
    serverFactory: (handle) => createListener(handle, { tls, timeouts, connections }),
    loggerInstance: logger,
    logController: new LogController({ disableRequestLogging: true }),
    childLoggerFactory: (parent, bindings, childOptions, request) => {
      const trace = observer.begin(request, String(bindings.reqId));
      return parent.child({ ...bindings, client: client(request), ...trace }, childOptions);
    },
    bodyLimit: BODY_LIMIT_BYTES,
    rewriteUrl: toOriginForm,
    return503OnClosing: false,
    // No part waits for anything else: a start on a busy machine takes long, and ends.
    pluginTimeout: 0,
    genReqId: ({ headers }) => {
      const given = headers['x-request-id'];
      return typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID();
    },
    ajv: {
      customOptions: {
        coerceTypes: false,
        removeAdditional: false,
        useDefaults: false,
        allErrors: true,
        // To check all schemas against that of JSON Schema takes a third of the time. test/http/validators.test.ts does it.
        validateSchema: false,
      },
    },
    frameworkErrors: (error, request, reply) => {
      const known = toAppError(error);
      observer.problem(known, request as FastifyRequest);
      // No hook runs for a path that cannot be decoded.
      reply.headers({ ...cors(request.headers.origin), ...preferenceHeaders(request.headers) });
      sendProblem(request as FastifyRequest, reply as FastifyReply, known, clock);
      const { statusCode: status } = reply;
      if (accessLog.admits(status, known.code)) {
        const { code } = known;
        request.log.info({ method: request.method, route: 'unknown', status, code }, 'request');
      }
      observer.unrouted(request as FastifyRequest, status);
    },
    clientErrorHandler: (error, socket) => answerRaw(socket, parserError(error, socket), raw),
  });
  app.addHook('onListen', (done) => {
    void validators.prepare();
    done();
  });
  return app;
}

/**
 * Answers 404, or 405 with the methods that a path supports, before a body is read. The router treats a wrong method as an
 * unknown route, so this hook collects the methods of each path as routes are added. A preflight arrives here too and
 * is answered: it has no API key.
 */
function refuseUnknownRoutes(app: FastifyInstance, cors: CorsHeaders): void {
  const methods = new PathMethods();
  app.addHook('onRoute', ({ url, method }) => {
    for (const one of [method].flat()) methods.add(url, one);
  });
  app.addHook('onRequest', (request, reply, done) => {
    if (!request.is404) return done();
    const [path = ''] = request.url.split('?', 1);
    const allow = methods.find(path);
    if (!allow) throw new AppError('not_found', leakedKey(request.url) ?? methods.advice(path));
    if (isPreflight(request, cors)) {
      reply.code(204).headers(preflightHeaders(allow)).send();
      return;
    }
    const detail = `This path does not support ${request.method}.`;
    throw new AppError('method_not_allowed', {
      detail,
      remedy: `Use ${allow.join(' or ')}.`,
      allow,
    });
  });
}

/**
 * Returns false for pages, files and health checks: they ignore all parameters, whatever the requested handling. Each read
 * of `routeOptions` creates an object, so hooks read it once and late.
 */
function hasFields({ routeOptions: { schema } }: FastifyRequest): boolean {
  return !schema?.hide && (schema?.security === undefined || schema.body !== undefined);
}

/** Answers 503 if no connection is free. Health checks get their answer: a busy server must not appear dead. */
function refuseBeyondBound(app: FastifyInstance, connections: Connections): void {
  app.addHook('onRequest', (request, reply, done) => {
    if (!connections.isRefused(request.raw)) return done();
    reply.header('connection', 'close');
    if (request.routeOptions.config.isProbe) return done();
    connections.noteRefusal();
    throw new AppError('overloaded', { detail: 'All connections of this server are in use.' });
  });
}

/** Adds the hooks of every request. Like all hooks here they take a callback: a promise for each hook costs about 1 µs. */
function addRequestHooks(app: FastifyInstance, isDraining: () => boolean): void {
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id);
    reply.header('x-content-type-options', 'nosniff');
    reply.header('cache-control', 'no-store');
    if (request.headers.prefer !== undefined && hasFields(request)) {
      reply.headers(preferenceHeaders(request.headers));
    }
    checkFraming(request, reply);
    if (reply.sent) return;
    const coding = request.headers['content-encoding'];
    if (coding !== undefined && coding.toLowerCase() !== 'identity') {
      const detail = 'The body must not be compressed.';
      const remedy = 'Send it uncompressed, without Content-Encoding.';
      throw new AppError('unsupported_media_type', { detail, remedy });
    }
    done();
  });
  // The API key has been checked by now.
  app.addHook('preParsing', (request, reply, _payload, done) => {
    tellToContinue(request, reply, BODY_LIMIT_BYTES);
    done();
  });
  // A connection that stayed open after its response would delay the shutdown until its idle timeout.
  app.addHook('onSend', (_request, reply, _payload, done) => {
    if (isDraining()) reply.header('connection', 'close');
    done();
  });
}

/**
 * Logs every request with a valid API key that the rate limit allows, and a limited number of others. A health check is
 * logged at level debug, whatever it reports: changes of readiness have lines of their own.
 */
function addLogHooks(app: FastifyInstance, accessLog: AccessLog, logsProbes: boolean): void {
  app.addHook('onResponse', (request, reply, done) => {
    const { statusCode: status } = reply;
    const { url: route = 'unknown', config } = request.routeOptions;
    const { principal, problem } = request;
    const isProbe = config.isProbe === true && problem === null;
    if (isProbe && !logsProbes) return done();
    const isBounded = principal !== null && status !== 429;
    const kind = problem ?? (isProbe ? 'probe' : undefined);
    if (!isBounded && !accessLog.admits(status, kind)) return done();
    // The logger leaves undefined fields out.
    const line = {
      method: request.method,
      route,
      status,
      code: problem ?? undefined,
      ms: Math.round(reply.elapsedTime * 1000) / 1000,
      account: principal?.accountId,
      api_key: principal?.apiKeyId,
      keys: request.keys ?? undefined,
      replayed: request.replayed || undefined,
    };
    if (isProbe) request.log.debug(line, 'request');
    else request.log.info(line, 'request');
    done();
  });
  app.addHook('onClose', async () => accessLog.flush());
}

/** Returns the log fields of the caller; none before its API key is known to be valid. */
function callerOf(principal: Principal | null): object {
  return principal ? { account: principal.accountId, api_key: principal.apiKeyId } : {};
}

/** Logs the class and stack of an unexpected error, never its message, which can quote the request. */
function logUnexpected({ log, principal }: FastifyRequest, cause: unknown): void {
  const error = cause instanceof Error ? cause : new Error(typeof cause);
  const frames = stackFrames(error);
  log.error({ error: error.name, ...callerOf(principal), frames }, 'unexpected error');
}
