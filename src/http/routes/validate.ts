/** POST /api/v2/validate. */
import type { FastifyInstance } from 'fastify';
import type { Static } from 'typebox';
import { formatTimestamp } from '../../clock.ts';
import type { RouteContext } from '../context.ts';
import { takesBody } from '../wire/body.ts';
import { ValidateBody, ValidationResult } from '../wire/key-schemas.ts';
import { quotaExceeded } from '../wire/problem.ts';
import { BODY_ERRORS, KEYED_ERRORS, responses } from '../wire/responses.ts';
import { warningsOf } from '../wire/unknown-fields.ts';
import { validationReason } from '../wire/validation-reason.ts';

export function validateRoute(app: FastifyInstance, context: RouteContext): void {
  const { authenticator, observer, service, clock } = context;
  app.post<{ Body: Static<typeof ValidateBody> }>(
    '/api/v2/validate',
    {
      schema: {
        operationId: 'validate',
        summary: 'Validate a key',
        tags: ['keys'],
        body: ValidateBody,
        response: responses(ValidationResult, [...KEYED_ERRORS, ...BODY_ERRORS, 'quota_exceeded']),
      },
      onRequest: authenticator.check('validate'),
      ...takesBody(ValidateBody, '{"key": "the key, in hexadecimal digits"}'),
    },
    async (request, reply): Promise<Static<typeof ValidationResult>> => {
      const { key, hash_proof: proof } = request.body;
      const outcome = await service.validate(
        authenticator.principal(request),
        key,
        // Some clients store an empty string when they have no proof.
        proof || undefined,
        observer.stages(request),
      );
      authenticator.noteUsage(reply, outcome.usage);
      if (outcome.kind === 'quota_exceeded') {
        throw quotaExceeded(outcome.usage, service.quotaNowMs());
      }
      const { verdict } = outcome;
      const reason = validationReason(verdict, key);
      return {
        success: true,
        valid: verdict.valid,
        validation_details: {
          key_format: verdict.keyFormat,
          entropy_check: verdict.entropyCheck,
          proof_verification: verdict.proofVerification,
          ...(verdict.keyStatus && { key_status: verdict.keyStatus }),
          ...(verdict.retiredSecret && { retired_secret: verdict.retiredSecret }),
          ...(reason && { reason }),
        },
        timestamp: formatTimestamp(clock.nowMs()),
        ...warningsOf(request),
      };
    },
  );
}
