/** POST /api/v2/generate, /generate/sealed, /generate/batch and /generate/sealed/batch. */
import type { FastifyInstance, FastifyReply, FastifyRequest, onSendHookHandler } from 'fastify';
import type { TObject } from 'typebox';
import { formatTimestamp } from '../../clock.ts';
import { AppError, type ErrorCode } from '../../errors.ts';
import {
  type BatchTooLarge,
  type GenerateOutcome,
  type KeyRequest,
  MAX_SEALED_COPIES,
  wipeKey,
} from '../../keys/index.ts';
import type { Principal } from '../../ledger/index.ts';
import type { RouteContext } from '../context.ts';
import type { OperationDocs } from '../openapi/operation.ts';
import { fitsKeys } from '../wire/answer-check.ts';
import { type FieldsElsewhere, takesBody } from '../wire/body.ts';
import { undeliverable } from '../wire/deliver.ts';
import { idempotencyKeyOf } from '../wire/idempotency.ts';
import { joinedText, plainText, sealedText } from '../wire/key-answer.ts';
import { alreadyExpired } from '../wire/key-ends.ts';
import { GeneratedKey, generateBody } from '../wire/key-schemas.ts';
import { quotaExceeded } from '../wire/problem.ts';
import { BODY_ERRORS, KEYED_ERRORS, responses } from '../wire/responses.ts';
import { placeIn, refusedPublicKey, refusedRecipient, repeatedRecipient } from '../wire/seal-to.ts';
import {
  GeneratedSealedKey,
  KeyBatch,
  keyBodies,
  type OrderBody,
  SealedKeyBatch,
} from '../wire/sealed-schemas.ts';
import { warningsOf } from '../wire/unknown-fields.ts';
import {
  GENERATE,
  GENERATE_BATCH,
  GENERATE_SEALED,
  GENERATE_SEALED_BATCH,
} from './generate-docs.ts';
import { readReceipts } from './key-receipts.ts';
import { type KeyEndpoint, toKeyRequest } from './key-request.ts';

/** Media type of all responses with keys: their text is written here, not by the framework. */
const JSON_TYPE = 'application/json; charset=utf-8';

interface Endpoint extends KeyEndpoint {
  readonly operationId: string;
  readonly summary: string;
  readonly docs: OperationDocs;
  readonly body: TObject;
  readonly answer: TObject;
  /** A valid body, for messages. */
  readonly smallest: string;
}

/** Adds the four endpoints that generate keys. */
export function generateRoutes(app: FastifyInstance, context: RouteContext): void {
  const { entropySources, entropySource } = context;
  const bodies = keyBodies(entropySources, entropySource);
  const endpoints: readonly Endpoint[] = [
    {
      path: '/api/v2/generate',
      operationId: 'generate',
      summary: 'Generate a key',
      docs: GENERATE,
      isBatch: false,
      isSealed: false,
      body: generateBody(entropySources, entropySource),
      answer: GeneratedKey,
      smallest: '{"security_level": 256}',
    },
    {
      path: '/api/v2/generate/sealed',
      operationId: 'generateSealed',
      summary: 'Generate a key sealed to a recipient',
      docs: GENERATE_SEALED,
      isBatch: false,
      isSealed: true,
      body: bodies.sealed,
      answer: GeneratedSealedKey,
      smallest: '{"security_level": 256, "seal_to": {"recipient": "<name>"}}',
    },
    {
      path: '/api/v2/generate/batch',
      operationId: 'generateBatch',
      summary: 'Generate a batch of keys',
      docs: GENERATE_BATCH,
      isBatch: true,
      isSealed: false,
      body: bodies.batch,
      answer: KeyBatch,
      smallest: '{"security_level": 256, "count": 10}',
    },
    {
      path: '/api/v2/generate/sealed/batch',
      operationId: 'generateSealedBatch',
      summary: 'Generate a batch of sealed keys',
      docs: GENERATE_SEALED_BATCH,
      isBatch: true,
      isSealed: true,
      body: bodies.sealedBatch,
      answer: SealedKeyBatch,
      smallest: '{"security_level": 256, "count": 10, "seal_to": {"recipient": "<name>"}}',
    },
  ];
  for (const endpoint of endpoints) keyRoute(app, endpoint, context);
}

function keyRoute(app: FastifyInstance, endpoint: Endpoint, context: RouteContext): void {
  const { path, operationId, summary, docs, body, answer, smallest, isSealed } = endpoint;
  const { authenticator } = context;
  app.post<{ Body: OrderBody }>(
    path,
    {
      schema: {
        operationId,
        summary,
        tags: ['keys'],
        body,
        response: responses(answer, errorsOf(endpoint)),
      },
      config: { scope: 'generate', docs },
      onRequest: (request, _reply, done) => {
        if (!isSealed && authenticator.principal(request).sealedOnly !== 'off') {
          throw new AppError('sealed_only');
        }
        idempotencyKeyOf(request.headers);
        done();
      },
      ...takesBody(body, smallest, fieldsElsewhere(endpoint), fieldsOfBatches(endpoint)),
      ...(!isSealed && { onSend: checkAnswer(context) }),
    },
    (request, reply) => generate(request, reply, endpoint, context),
  );
}

/**
 * Returns the last hook before `response.end`: an answer whose text is not of its keys latches the process, and the client
 * gets 503.
 */
function checkAnswer({ service }: RouteContext): onSendHookHandler {
  return (request, _reply, payload, done) => {
    const { answered } = request;
    if (answered === null || fitsKeys(payload, answered)) {
      done(null, payload);
      return;
    }
    // The answer to the failure passes this hook too.
    request.answered = null;
    request.keys = null;
    done(service.refuseAnswer());
  };
}

function errorsOf({ isBatch, isSealed }: KeyEndpoint): ErrorCode[] {
  return [
    ...KEYED_ERRORS,
    ...BODY_ERRORS,
    'quota_exceeded',
    'entropy_unavailable',
    'idempotency_in_progress',
    'idempotency_key_reused',
    ...(isSealed
      ? (['recipient_not_registered', 'delivery_exists', 'delivery_box_full'] as const)
      : (['sealed_only', 'key_already_made'] as const)),
    ...(isBatch ? (['batch_too_large'] as const) : []),
  ];
}

/** A `seal_to` that is ignored would send the key in plaintext. */
function fieldsElsewhere({ isBatch, isSealed }: KeyEndpoint): FieldsElsewhere {
  if (isSealed) return {};
  const path = `/api/v2/generate/sealed${isBatch ? '/batch' : ''}`;
  return { seal_to: path, deliver: path };
}

function fieldsOfBatches({ path, isBatch }: KeyEndpoint): FieldsElsewhere {
  return isBatch ? {} : { count: `${path}/batch` };
}

async function generate(
  request: FastifyRequest<{ Body: OrderBody }>,
  reply: FastifyReply,
  endpoint: Endpoint,
  context: RouteContext,
): Promise<unknown> {
  const { authenticator, observer, service } = context;
  const idempotencyKey = idempotencyKeyOf(request.headers);
  const asked = toKeyRequest(request.body, endpoint, idempotencyKey, context);
  requireRegistered(authenticator.principal(request), asked);
  if (asked.isBatch) authenticator.takeBatch(request, reply, asked.count);
  const outcome = await service.generate(authenticator.principal(request), asked, {
    abandoned: () => request.raw.socket.destroyed,
    onStage: observer.stages(request),
    render: (keys, createdMs) => sealedText(asked, keys, createdMs),
  });
  try {
    noteKeys(request, asked, outcome);
    if ('usage' in outcome) authenticator.noteUsage(reply, outcome.usage);
    switch (outcome.kind) {
      case 'generated':
        return await plainAnswer(request, reply, asked, outcome, context);
      case 'sealed':
        return await sealedAnswer(request, reply, asked, outcome, context);
      default:
        throw refusal(outcome, asked, request.body, service.quotaNowMs());
    }
  } finally {
    if (outcome.kind === 'generated') outcome.keys.forEach(wipeKey);
  }
}

/** Notes what log line and metrics say about the keys of an answer. */
function noteKeys(
  request: FastifyRequest,
  { order, isBatch }: KeyRequest,
  outcome: GenerateOutcome,
): void {
  if (outcome.kind === 'generated') {
    request.keys = outcome.keys.length;
    request.isPlainKey = !isBatch && !order.withEvidence && !order.receipt;
  } else if (outcome.kind === 'sealed') {
    request.keys = outcome.keyIds.length;
    request.replayed = outcome.replayed;
  } else request.replayed = outcome.kind === 'key_already_made';
}

/** A caller of such an account cannot name a public key, and neither can an intermediary that rewrites its requests. */
function requireRegistered({ sealedOnly }: Principal, { sealTo }: KeyRequest): void {
  if (sealedOnly === 'registered' && sealTo?.some((one) => 'publicKey' in one)) {
    throw new AppError('recipient_not_registered');
  }
}

async function plainAnswer(
  request: FastifyRequest,
  reply: FastifyReply,
  { order, isBatch }: KeyRequest,
  outcome: Generated,
  context: RouteContext,
): Promise<string> {
  const { keys, createdMs } = outcome;
  const keyIds = order.receipt ? keys.map(({ keyId }) => keyId) : [];
  const receipts = await readReceipts(request, keyIds, context);
  const refused = context.service.refuseUnsound(outcome);
  if (refused) await refused;
  reply.type(JSON_TYPE);
  // Copies: the keys are wiped before the last hook.
  const digests = keys.map(({ answerDigest }) => Buffer.from(answerDigest));
  request.answered = { order, isBatch, digests };
  return plainText(order, keys, createdMs, isBatch, receipts, warningsOf(request).warnings);
}

/** Returns the stored text, so that a replay has the bytes of the first response. */
async function sealedAnswer(
  request: FastifyRequest,
  reply: FastifyReply,
  { order, isBatch }: KeyRequest,
  outcome: Sealed,
  context: RouteContext,
): Promise<string> {
  const { body, keyIds, replayed } = outcome;
  const receipts = await readReceipts(request, order.receipt ? keyIds : [], context);
  const refused = context.service.refuseUnsound(outcome);
  if (refused) await refused;
  if (replayed) reply.header('idempotent-replayed', 'true');
  reply.type(JSON_TYPE);
  return joinedText(body, isBatch, receipts, warningsOf(request).warnings);
}

type Generated = Extract<GenerateOutcome, { readonly kind: 'generated' }>;
type Sealed = Extract<GenerateOutcome, { readonly kind: 'sealed' }>;
type Refused = Exclude<GenerateOutcome, { readonly kind: 'generated' | 'sealed' }>;

/** Returns the error for an outcome without keys. */
function refusal(outcome: Refused, asked: KeyRequest, body: OrderBody, nowMs: number): AppError {
  const { seal_to: sealTo } = body;
  switch (outcome.kind) {
    case 'quota_exceeded':
      return quotaExceeded(outcome.usage, nowMs, asked.count);
    case 'key_already_made':
      return alreadyMade(outcome, asked.isBatch);
    case 'expired':
      return alreadyExpired(outcome.atMs);
    case 'unknown_recipient':
      return refusedRecipient(
        placeIn(sealTo, outcome.index),
        'is not the name of a recipient of this account. The operator registers one with "phm recipient add"',
      );
    case 'same_recipient':
      return repeatedRecipient(outcome.first, outcome.second);
    case 'invalid_public_key':
      return unusable(outcome, asked, placeIn(sealTo, outcome.index));
    case 'delivery_refused':
      return undeliverable(outcome.refusal, body);
    case 'batch_too_large':
      return tooLarge(outcome);
  }
}

function unusable(
  { index, problem }: Refused & { kind: 'invalid_public_key' },
  asked: KeyRequest,
  place: string,
): AppError {
  const isNamed = 'recipient' in (asked.sealTo?.[index] ?? {});
  return isNamed
    ? refusedRecipient(place, `names a public key that cannot be used. ${problem}`)
    : refusedPublicKey(place, problem);
}

function alreadyMade(
  { keyIds, createdMs }: Refused & { kind: 'key_already_made' },
  isBatch: boolean,
): AppError {
  const time = formatTimestamp(createdMs);
  const [keyId = ''] = keyIds;
  if (!isBatch) {
    const detail = `The first request generated the key ${keyId} at ${time}.`;
    return new AppError('key_already_made', { detail, members: { key_id: keyId } });
  }
  return new AppError('key_already_made', {
    detail: `The first request generated ${keyIds.length} keys at ${time}; "key_ids" names them.`,
    remedy:
      'They are not stored, so they cannot be sent again, and no others were generated. If the first response is lost, discard these key IDs and generate new keys with a new Idempotency-Key. Sealed keys can be sent again.',
    members: { key_ids: [...keyIds] },
  });
}

const TOO_LARGE: Readonly<Record<BatchTooLarge['reason'], string>> = {
  validation: 'This server cannot test so many keys within the time limit of a request.',
  stored_answer:
    'The response would be too large to keep for a repetition with the same Idempotency-Key.',
  recipients: `A response has at most ${MAX_SEALED_COPIES} sealed keys, one for each key and recipient.`,
};

function tooLarge({ maxCount, reason }: BatchTooLarge): AppError {
  return new AppError('batch_too_large', {
    detail: TOO_LARGE[reason],
    remedy: `Send a "count" of at most ${maxCount}, and the rest in further requests.`,
    members: { max_count: maxCount },
  });
}
