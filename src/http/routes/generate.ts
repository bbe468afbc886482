/** POST /api/v2/generate. */
import { setTimeout as delay } from 'node:timers/promises';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { formatTimestamp, monotonicMs } from '../../clock.ts';
import { isSourceName, sourceKind } from '../../entropy/index.ts';
import { AppError } from '../../errors.ts';
import { type Evidence, type KeyOrder, type ReleasedKey, wipeKey } from '../../keys/index.ts';
import { DEFAULT_MODULATION } from '../../modulation/index.ts';
import type { RouteContext } from '../context.ts';
import { takesBody } from '../wire/body.ts';
import {
  type GenerateBody,
  GeneratedKey,
  type GeneratedKeyResponse,
  generateBody,
} from '../wire/key-schemas.ts';
import { toNistReport } from '../wire/nist-report.ts';
import { quotaExceeded } from '../wire/problem.ts';
import { type ReceiptBody, receiptBody } from '../wire/receipt-schemas.ts';
import { BODY_ERRORS, KEYED_ERRORS, responses } from '../wire/responses.ts';
import { warningsOf } from '../wire/unknown-fields.ts';
import { receiptPath } from './receipt.ts';

/** Longest wait for a checkpoint that covers the record of a new key. */
const RECEIPT_WAIT_MS = 2_000;

/** Longest wait for the answer of the log, which comes late while the database hangs. */
const RECEIPT_LIMIT_MS = RECEIPT_WAIT_MS + 500;

export function generateRoute(app: FastifyInstance, context: RouteContext): void {
  const { authenticator, observer, service } = context;
  const body = generateBody(context.entropySources, context.entropySource);
  app.post<{ Body: GenerateBody }>(
    '/api/v2/generate',
    {
      schema: {
        operationId: 'generate',
        summary: 'Generate a key',
        tags: ['keys'],
        body,
        response: responses(GeneratedKey, [
          ...KEYED_ERRORS,
          ...BODY_ERRORS,
          'quota_exceeded',
          'entropy_unavailable',
          'sealed_only',
          'idempotency_in_progress',
          'key_already_made',
          'idempotency_key_reused',
        ]),
      },
      onRequest: (request, reply) => authenticator.check(request, reply),
      ...takesBody(body, '{"security_level": 256}'),
    },
    async (request, reply) => {
      const order = toOrder(request.body, context);
      const outcome = await service.generate(
        authenticator.principal(request),
        { order, count: 1, isBatch: false, sealTo: null, idempotency: null },
        { abandoned: () => request.raw.socket.destroyed, onStage: observer.stages(request) },
      );
      if (outcome.kind !== 'generated' && outcome.kind !== 'quota_exceeded') {
        throw new Error(`a request for one key got ${outcome.kind}`);
      }
      authenticator.noteUsage(reply, outcome.usage);
      if (outcome.kind === 'quota_exceeded') {
        throw quotaExceeded(outcome.usage, service.quotaNowMs());
      }
      const [key] = outcome.keys;
      try {
        const receipt = order.receipt && (await readReceipt(request, key.keyId, context));
        return {
          ...toResponse(order, key, outcome.createdMs),
          ...(receipt !== false && receiptFields(receipt, key, context.basePath)),
          ...warningsOf(request),
        };
      } finally {
        wipeKey(key);
      }
    },
  );
}

/** Returns the order. Throws `invalid_request` for a report without validation, and for a receipt without a log. */
function toOrder(
  body: GenerateBody,
  { entropySource, service }: Pick<RouteContext, 'entropySource' | 'service'>,
): KeyOrder {
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
    acceptedMs: monotonicMs(),
  };
}

function reportWithoutEvidence(index: number): AppError {
  const message = 'is nist_report, which needs "enable_nist_validation": true';
  return new AppError('invalid_request', { fields: [{ pointer: `#/include/${index}`, message }] });
}

function receiptWithoutLog(index: number): AppError {
  const message =
    'is receipt, but this server keeps no transparency log. Leave it out, or ask the operator to turn the log on';
  return new AppError('invalid_request', { fields: [{ pointer: `#/include/${index}`, message }] });
}

/**
 * Returns the receipt, or null if the log does not give it in time. The key is recorded and counted by now, so no failure
 * of the log may cost the caller the key.
 */
async function readReceipt(
  request: FastifyRequest,
  keyId: string,
  { authenticator, service }: RouteContext,
): Promise<ReceiptBody | null> {
  const { accountId } = authenticator.principal(request);
  const end = new AbortController();
  try {
    const answer = await Promise.race([
      service.log.receipt(keyId, accountId, RECEIPT_WAIT_MS),
      delay(RECEIPT_LIMIT_MS, null, { signal: end.signal }),
    ]);
    return answer?.kind === 'receipt' ? receiptBody(answer.receipt) : null;
  } catch (error) {
    const code = error instanceof AppError ? error.code : 'unexpected';
    request.log.warn({ code }, 'the receipt for a new key could not be read');
    return null;
  } finally {
    end.abort();
  }
}

function receiptFields(
  receipt: ReceiptBody | null,
  { keyId, opening }: ReleasedKey,
  basePath: string,
): Pick<GeneratedKeyResponse, 'receipt' | 'receipt_url' | 'opening'> {
  return {
    receipt,
    receipt_url: receiptPath(basePath, keyId),
    ...(opening && { opening: textOf(opening, 'base64') }),
  };
}

/** Returns the response. The caller wipes the bytes of the key: only the string remains. */
function toResponse(
  order: KeyOrder,
  generated: ReleasedKey,
  createdMs: number,
): GeneratedKeyResponse {
  const { keyId, key, evidence, report } = generated;
  return {
    success: true,
    key_id: keyId,
    key: textOf(key, 'hex'),
    security_level: order.securityLevel,
    security_strength_bits: generated.securityStrengthBits,
    entropy_bits: generated.entropyBits,
    latency_ms: Math.round(generated.latencyMs * 1000) / 1000,
    timestamp: formatTimestamp(createdMs),
    source: order.source,
    quantum_hardware: sourceKind(order.source) === 'quantum-hardware',
    entropy_job_id: generated.entropyJobId,
    hash_proof: generated.hashProof,
    ...(evidence && evidenceFields(evidence)),
    ...(report && { nist_report: toNistReport(report) }),
  };
}

function textOf({ buffer, byteOffset, length }: Uint8Array, encoding: 'base64' | 'hex'): string {
  return Buffer.from(buffer, byteOffset, length).toString(encoding);
}

/** Returns both published forms of the verdict. Always PASS: only a stream that passed the gate releases a key. */
function evidenceFields(evidence: Evidence) {
  return {
    nist_validation: {
      certification_status: 'PASS' as const,
      tests_passed: evidence.testsPassed,
      total_tests: evidence.totalTests,
      compliance_level: evidence.complianceLevel,
    },
    nist_score: evidence.score,
    nist_grade: evidence.grade,
  };
}
