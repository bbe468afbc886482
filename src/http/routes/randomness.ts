/** GET /api/v2/metrics/randomness. */
import type { FastifyInstance } from 'fastify';
import type { Static } from 'typebox';
import { formatTimestamp } from '../../clock.ts';
import type { RouteContext } from '../app.ts';
import {
  DEFAULT_KEYS,
  MAX_KEYS,
  MIN_KEYS,
  P_VALUES,
  RandomnessQuery,
  RandomnessResult,
} from '../metrics-schemas.ts';
import { parseWhole, refuseParameter } from '../query.ts';
import { KEYED_ERRORS, responses } from '../schemas.ts';

export function randomnessRoute(app: FastifyInstance, context: RouteContext): void {
  const { authenticator, service, clock } = context;
  app.get<{ Querystring: Static<typeof RandomnessQuery> }>(
    '/api/v2/metrics/randomness',
    {
      schema: {
        operationId: 'randomness',
        summary: "The p-values of the caller's last validated keys",
        tags: ['metrics'],
        querystring: RandomnessQuery,
        response: responses(RandomnessResult, [...KEYED_ERRORS, 'invalid_request']),
      },
      onRequest: (request, reply) => authenticator.check(request, reply),
      preValidation: async (request) => {
        const query = request.query as Record<string, unknown>;
        if ('keys' in query) query.keys = parseWhole('keys', query.keys, MIN_KEYS, MAX_KEYS);
        if ('include' in query && query.include !== P_VALUES) {
          throw refuseParameter('include', `must be ${P_VALUES}, given once`);
        }
      },
    },
    async (request, reply) => {
      const { accountId } = authenticator.principal(request);
      const { keys = DEFAULT_KEYS, include } = request.query;
      const randomness = await service.randomness({
        accountId,
        keys,
        withPValues: include === P_VALUES,
      });
      // Up to 188,000 numbers, which the main thread had better not print: they come as text.
      const end = JSON.stringify({ timestamp: formatTimestamp(clock.nowMs()) }).slice(1);
      return reply
        .type('application/json; charset=utf-8')
        .send(
          Buffer.concat([
            Buffer.from('{"success":true,"randomness":'),
            randomness,
            Buffer.from(`,${end}`),
          ]),
        );
    },
  );
}
