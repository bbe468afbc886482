/**
 * Faults of entropy sources that last, each in three sources of a real server: no key after they are noticed, until a
 * restart. It repeats what `test/entropy/noise-pump.test.ts` shows of one source in this process, and what
 * `test/http/sources.test.ts` shows of a stuck device on the server.
 */
import { describe, it } from 'node:test';
import { assertLatches, BIASED, REPEATING, STUCK } from '../support/faulty-sources.ts';

describe('a server whose sources break for good', { concurrency: true }, () => {
  for (const fault of [STUCK, BIASED, REPEATING]) {
    it(`${fault.name}: no key after it is noticed, until a restart`, (t) =>
      assertLatches(t, fault));
  }
});
