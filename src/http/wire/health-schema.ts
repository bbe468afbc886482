/** Schema of the health checks. */
import { LATCH_TESTS, type LatchCause } from '../../keys/index.ts';
import { oneOf, Timestamp } from './schemas.ts';
import { Type } from './type.ts';

export const HealthResult = Type.Object(
  {
    success: Type.Boolean({ description: 'true when healthy' }),
    status: oneOf(['ok', 'unavailable', 'draining'], 'string', 'state of this server'),
    checks: Type.Optional(
      Type.Record(Type.String(), Type.String(), {
        description:
          'state of each check: entropy (ok, starting or unavailable), entropy:<source> (ok or unavailable), generator (ok, starting, unjudged or latched), ledger (ok, unavailable or foreign), master_secret (ok, incomplete or retired), transparency_log (forked or altered, only while it lets no key leave) and accepting (yes or no)',
      }),
    ),
    latch: Type.Optional(
      Type.Object(
        {
          cause: oneOf(
            Object.keys(LATCH_TESTS) as LatchCause[],
            'string',
            'what showed the defect: a self-test, failures of the gate (two in a row, or three within about 1,000 verdicts), a small bias or correlation over many samples, a biased sample, an exact test of a key, a repeated key or word, or an altered key',
          ),
          test: Type.String({ description: 'the test that showed it' }),
        },
        {
          title: 'Latch',
          description:
            'Present when a generator has proved defective. This process then generates no more keys until a restart.',
        },
      ),
    ),
    timestamp: Timestamp,
  },
  { title: 'Health' },
);
