/** GET /api/v2/metrics/randomness. */
import type { FastifyInstance } from 'fastify';
import type { Static } from 'typebox';
import { formatTimestamp } from '../../clock.ts';
import type { RouteContext } from '../context.ts';
import {
  DEFAULT_KEYS,
  MAX_KEYS,
  MIN_KEYS,
  P_VALUES,
  RandomnessQuery,
  RandomnessResult,
} from '../wire/activity-schemas.ts';
import { takesQuery, wholeNumber, word } from '../wire/query.ts';
import { writeRandomness } from '../wire/randomness.ts';
import { KEYED_ERRORS, responses } from '../wire/responses.ts';
import { warningsOf } from '../wire/unknown-fields.ts';

/**
 * Keys that take one place of the rate limit: about as much processor time as one validated key. Each p-value that is
 * listed is also written and sent (measured: 171 ms for 1,000 keys with their p-values, 3 ms for a validated key).
 */
const JUDGED_PER_PLACE = 50;
const LISTED_PER_PLACE = 20;

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
      onRequest: authenticator.check('randomness'),
      ...takesQuery({ keys: wholeNumber(MIN_KEYS, MAX_KEYS), include: word(P_VALUES) }),
    },
    async (request, reply) => {
      const { accountId } = authenticator.principal(request);
      const { keys = DEFAULT_KEYS, include } = request.query;
      const places = Math.ceil(keys / (include === P_VALUES ? LISTED_PER_PLACE : JUDGED_PER_PLACE));
      authenticator.takeMore(request, reply, places, `A judgement of ${keys} keys`);
      const randomness = await service.randomness({
        accountId,
        keys,
        withPValues: include === P_VALUES,
      });
      const rest = { timestamp: formatTimestamp(clock.nowMs()), ...warningsOf(request) };
      return reply
        .type('application/json; charset=utf-8')
        .send(await writeRandomness(randomness, rest));
    },
  );
}
