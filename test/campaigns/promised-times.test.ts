/**
 * What the documents promise in seconds, on real servers: the slow tests that show the order of events print their times, and
 * here the times have limits.
 */
import { it } from 'node:test';
import { fullOnly } from '../support/run/campaign.ts';

if (fullOnly) it('servers keep their promised times', { skip: fullOnly });
else {
  await import('../slow/ledger/outage.test.ts');
  await import('../slow/service/access-changes.test.ts');
  await import('../slow/service/readiness.test.ts');
  await import('../slow/service/readiness-sqlite.test.ts');
}
