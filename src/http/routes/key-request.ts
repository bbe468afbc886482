/** Turns the body of a request for keys into the order of the service, and into the hash of its `Idempotency-Key`. */
import type { JsonObject } from '#tlog';
import { monotonicMs } from '../../clock.ts';
import { isSourceName } from '../../entropy/index.ts';
import { AppError } from '../../errors.ts';
import type { KeyOrder, KeyRequest } from '../../keys/index.ts';
import { DEFAULT_MODULATION } from '../../modulation/index.ts';
import type { RouteContext } from '../context.ts';
import { hashedDelivery, readDelivery } from '../wire/deliver.ts';
import { requestHash } from '../wire/idempotency.ts';
import { readEnds } from '../wire/key-ends.ts';
import type { Includable } from '../wire/key-schemas.ts';
import { hashedSealTo, toSealTo } from '../wire/seal-to.ts';
import { MAX_DETAILED_KEYS, type OrderBody } from '../wire/sealed-schemas.ts';

type OrderContext = Pick<RouteContext, 'entropySource' | 'service'>;

/** What decides how a body is read. */
export interface KeyEndpoint {
  /** Without the base path. */
  readonly path: string;
  readonly isBatch: boolean;
  readonly isSealed: boolean;
}

/** Returns the request for the service. Throws `invalid_request` for fields that do not fit together. */
export function toKeyRequest(
  body: OrderBody,
  endpoint: KeyEndpoint,
  idempotencyKey: string | null,
  context: OrderContext,
): KeyRequest {
  const order = toOrder(body, context);
  const count = (endpoint.isBatch && body.count) || 1;
  if (count > MAX_DETAILED_KEYS && (order.report || order.receipt)) throw tooDetailed(count);
  const sealTo = body.seal_to && endpoint.isSealed ? toSealTo(body.seal_to) : null;
  const delivery = endpoint.isSealed ? readDelivery(body, count, endpoint.isBatch) : null;
  const idempotency = idempotencyKey !== null && {
    key: idempotencyKey,
    requestHash: requestHash(endpoint.path, {
      ...knownFields(body, order, endpoint),
      ...(delivery && { deliver: hashedDelivery(delivery) }),
    }),
  };
  return {
    ...{ order, count, isBatch: endpoint.isBatch, sealTo, delivery },
    idempotency: idempotency || null,
  };
}

/** Returns the order. Throws `invalid_request` for a report without validation, and for a receipt without a log. */
function toOrder(body: OrderBody, { entropySource, service }: OrderContext): KeyOrder {
  const source = body.entropy_source ?? entropySource;
  if (!isSourceName(source)) throw new Error('the schema let an unknown entropy source through');
  const withEvidence = body.enable_nist_validation ?? false;
  const reportAt = body.include?.indexOf('nist_report') ?? -1;
  if (reportAt !== -1 && !withEvidence) throw reportWithoutEvidence(reportAt);
  const receiptAt = body.include?.indexOf('receipt') ?? -1;
  if (receiptAt !== -1 && service.log.status().state === 'off') throw receiptWithoutLog(receiptAt);
  return {
    securityLevel: body.security_level,
    modulation: body.modulation_type ?? DEFAULT_MODULATION,
    source,
    withEvidence,
    report: reportAt !== -1,
    receipt: receiptAt !== -1,
    ...readEnds(body),
    acceptedMs: monotonicMs(),
  };
}

/** Extra fields that change the response. `hash_proof` does not. */
const EFFECTIVE: readonly Includable[] = ['nist_report', 'receipt'];

/** Returns the known fields after defaults. Neither order nor repetition in `include` changes what the request asks for. */
function knownFields(body: OrderBody, order: KeyOrder, { isBatch }: KeyEndpoint): JsonObject {
  return {
    security_level: order.securityLevel,
    enable_nist_validation: order.withEvidence,
    modulation_type: order.modulation,
    entropy_source: order.source,
    include: EFFECTIVE.filter((name) => body.include?.includes(name)),
    ...(order.labels !== null && { labels: order.labels }),
    ...(order.expiresMs !== null && { expires_at: order.expiresMs }),
    ...(isBatch && { count: body.count ?? 1 }),
    ...(body.seal_to && { seal_to: hashedSealTo(body.seal_to) }),
  };
}

function reportWithoutEvidence(index: number): AppError {
  return refused(
    `#/include/${index}`,
    'is nist_report, which needs "enable_nist_validation": true',
  );
}

function receiptWithoutLog(index: number): AppError {
  return refused(
    `#/include/${index}`,
    'is receipt, but this server keeps no transparency log. Leave it out, or ask the operator to turn the log on',
  );
}

function tooDetailed(count: number): AppError {
  return refused(
    '#/count',
    `must be at most ${MAX_DETAILED_KEYS} with nist_report or receipt in "include"; got ${count}`,
  );
}

function refused(pointer: string, message: string): AppError {
  return new AppError('invalid_request', { fields: [{ pointer, message }] });
}
