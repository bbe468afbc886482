/**
 * GET /log/…: the transparency log as files (c2sp.org/tlog-tiles). No API key, not metered, readable by any web page.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { parseTilePath, TILE_WIDTH } from '#tlog';
import { AppError } from '../../errors.ts';
import type { LogApi, LogBytesAnswer, LogTextAnswer } from '../../service/index.ts';
import type { RouteContext } from '../context.ts';
import type { OperationDocs } from '../openapi/operation.ts';
import { Checkpoint, LogPolicy } from '../wire/receipt-schemas.ts';
import { COMMON_ERRORS, responses } from '../wire/responses.ts';
import type { LogReads } from './log-reads.ts';

const TEXT = 'text/plain; charset=utf-8';

/** The content at the address of a tile never changes. */
const FOR_EVER = 'public, max-age=31536000, immutable';

/** Seconds after which to check whether the operator has restarted a stopped log. */
const STOPPED_RETRY_SECONDS = 30;

type LogUnavailable = Exclude<LogTextAnswer, { readonly kind: 'text' }>;

const CHECKPOINT_DOCS: OperationDocs = {
  description: `Returns the newest signed checkpoint: the size and the root hash of the log. Any web page may read it.

The tiles of the tree are at \`/log/tile/{L}/{N}\` and its entries at \`/log/tile/entries/{N}\`, both also with \`.p/{W}\` for the last,
partial one: 256 hashes or entries each, with the paths of c2sp.org/tlog-tiles, such as \`/log/tile/0/x001/234\`. They never change, so
caches may keep them. OpenAPI cannot describe paths of varying length.`,
  examples: async () => {
    const { CHECKPOINT } = await import('../openapi/receipt-example.ts');
    return {
      answers: {
        checkpoint: { summary: 'a checkpoint', value: CHECKPOINT },
      },
    };
  },
};

const POLICY_DOCS: OperationDocs = {
  description: `Returns the keys that sign the log's checkpoints, as a policy in the form of c2sp.org/tlog-policy: the ML-DSA-44 key in the
\`log\` line, the Ed25519 key in a comment, and the witnesses. Keep a copy: receipts are verified against it. A copy that you fetch
together with a receipt shows only that both come from the same server.`,
  examples: async () => {
    const { POLICY } = await import('../openapi/receipt-example.ts');
    return {
      answers: {
        policy: { summary: 'a log without witnesses', value: POLICY },
      },
    };
  },
};

/** Adds the routes in a scope of their own, because of their CORS headers. */
export async function logRoutes(
  app: FastifyInstance,
  context: RouteContext,
  reads: LogReads,
): Promise<void> {
  await app.register(async (scope) => {
    scope.addHook('onRequest', async (_request, reply) => allowAnyOrigin(reply));
    textRoute(scope, {
      path: '/log/checkpoint',
      operationId: 'logCheckpoint',
      summary: 'The newest checkpoint of the transparency log',
      schema: Checkpoint,
      docs: CHECKPOINT_DOCS,
      read: () => context.service.log.checkpoint(),
    });
    textRoute(scope, {
      path: '/log/policy',
      operationId: 'logPolicy',
      summary: 'The verifier keys of the transparency log',
      schema: LogPolicy,
      docs: POLICY_DOCS,
      read: () => context.service.log.policy(),
    });
    tileRoute(scope, context, reads);
  });
}

/** Returns the error for a request that needs the log while it is not available. */
export function logUnavailable({ kind }: LogUnavailable): AppError {
  switch (kind) {
    case 'off': {
      const detail = 'This server keeps no transparency log.';
      return new AppError('not_found', { detail, remedy: 'The operator can turn it on.' });
    }
    case 'starting': {
      const detail = 'The transparency log is starting.';
      return new AppError('ledger_unavailable', { detail, remedy: 'Try again in {wait}.' });
    }
    case 'stopped':
      return new AppError('log_stopped', { retryAfterSeconds: STOPPED_RETRY_SECONDS });
  }
}

interface TextRoute {
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  readonly schema: typeof Checkpoint | typeof LogPolicy;
  readonly docs: OperationDocs;
  readonly read: () => LogTextAnswer;
}

/** Adds a text that changes: caches must ask for it again (c2sp.org/tlog-tiles, "Checkpoints"). */
function textRoute(
  app: FastifyInstance,
  { path, operationId, summary, schema, docs, read }: TextRoute,
): void {
  app.get(
    path,
    {
      schema: {
        operationId,
        summary,
        tags: ['log'],
        security: [],
        response: responses(schema, LOG_ERRORS, 'text/plain'),
      },
      config: { docs },
    },
    async (_request, reply) => {
      const answer = read();
      if (answer.kind !== 'text') throw logUnavailable(answer);
      return reply.type(TEXT).header('cache-control', 'no-cache').send(answer.text);
    },
  );
}

const LOG_ERRORS = [
  ...COMMON_ERRORS,
  'overloaded',
  'ledger_unavailable',
  'foreign_ledger',
  'log_stopped',
] as const;

/** Adds the tiles and entry bundles. OpenAPI has no paths of varying length, so its document leaves them out. */
function tileRoute(
  app: FastifyInstance,
  { service, basePath }: RouteContext,
  reads: LogReads,
): void {
  const prefix = `${basePath}/log/`;
  app.get('/log/tile/*', { schema: { hide: true } }, async (request, reply) => {
    const path = encodedPath(request).slice(prefix.length);
    const answer = await reads.during(() => readTile(service.log, path));
    if (answer.kind === 'absent') throw noSuchTile();
    if (answer.kind !== 'bytes') throw logUnavailable(answer);
    // Entries are digests, so a compressed bundle would not be smaller.
    return reply
      .type('application/octet-stream')
      .header('cache-control', FOR_EVER)
      .send(answer.bytes);
  });
}

/** Reads a tile. Throws `not_found` unless the path is exactly the one that tlog-tiles gives the tile. */
async function readTile(log: LogApi, path: string): Promise<LogBytesAnswer> {
  const tile = parseTilePath(path);
  if (!tile) throw malformedTilePath();
  const { level, index, width } = tile;
  return level === 'entries'
    ? log.entries(index, width ?? TILE_WIDTH)
    : log.tile(level, index, width ?? TILE_WIDTH);
}

/** Returns the path as it was sent: percent-encoded forms of a path would be further addresses of one tile. */
function encodedPath({ url }: FastifyRequest): string {
  return url.split('?', 1)[0] ?? '';
}

/** Replaces the headers for allowed origins: the log is public, and its files are the same for every origin. */
function allowAnyOrigin(reply: FastifyReply): void {
  reply.removeHeader('vary');
  reply.header('access-control-allow-origin', '*');
  reply.header('access-control-expose-headers', 'Retry-After, X-Request-Id');
}

function malformedTilePath(): AppError {
  const detail = 'This is not the path of a tile, such as /log/tile/0/x001/234.p/5.';
  return new AppError('not_found', { detail, remedy: 'See c2sp.org/tlog-tiles.' });
}

function noSuchTile(): AppError {
  const detail = 'The published tree has no such tile.';
  const remedy = 'The size in /log/checkpoint says which tiles and widths exist.';
  return new AppError('not_found', { detail, remedy });
}
