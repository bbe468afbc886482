/** POST /api/v2/generate. */
import type { FastifyInstance } from 'fastify';
import { formatTimestamp, monotonicMs } from '../../clock.ts';
import { isSourceName, sourceKind } from '../../entropy/index.ts';
import { AppError } from '../../errors.ts';
import { type Evidence, type GenerateOutcome, type KeyOrder, wipeKey } from '../../keys/index.ts';
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
import { BODY_ERRORS, KEYED_ERRORS, responses } from '../wire/responses.ts';
import { warningsOf } from '../wire/unknown-fields.ts';

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
        ]),
      },
      onRequest: (request, reply) => authenticator.check(request, reply),
      ...takesBody(body, '{"security_level": 256}'),
    },
    async (request, reply) => {
      const order = toOrder(request.body, context.entropySource);
      const outcome = await service.generate(
        authenticator.principal(request),
        order,
        () => request.raw.socket.destroyed,
        observer.stages(request),
      );
      authenticator.noteUsage(reply, outcome.usage);
      if (outcome.kind === 'quota_exceeded') {
        throw quotaExceeded(outcome.usage, service.quotaNowMs());
      }
      return { ...toResponse(order, outcome), ...warningsOf(request) };
    },
  );
}

/** Returns the order. Throws `invalid_request` for a report without validation. */
function toOrder(body: GenerateBody, defaultSource: string): KeyOrder {
  const source = body.entropy_source ?? defaultSource;
  if (!isSourceName(source)) throw new Error('the schema let an unknown entropy source through');
  const withEvidence = body.enable_nist_validation ?? false;
  const reportAt = body.include?.indexOf('nist_report') ?? -1;
  if (reportAt !== -1 && !withEvidence) throw reportWithoutEvidence(reportAt);
  return {
    securityLevel: body.security_level,
    modulation: body.modulation_type ?? DEFAULT_MODULATION,
    source,
    withEvidence,
    report: reportAt !== -1,
    receipt: false,
    acceptedMs: monotonicMs(),
  };
}

function reportWithoutEvidence(index: number): AppError {
  const message = 'is nist_report, which needs "enable_nist_validation": true';
  return new AppError('invalid_request', { fields: [{ pointer: `#/include/${index}`, message }] });
}

/** Returns the response and wipes the bytes of the key: only the string remains. */
function toResponse(
  order: KeyOrder,
  { keyId, createdMs, generated }: GenerateOutcome & { kind: 'generated' },
): GeneratedKeyResponse {
  const { key, evidence, report } = generated;
  const response = {
    success: true as const,
    key_id: keyId,
    key: Buffer.from(key.buffer, key.byteOffset, key.length).toString('hex'),
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
  wipeKey(generated);
  return response;
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
