/**
 * Lasting faults of entropy sources, each in three sources of a real server: once they are noticed, no key
 * until a restart. It repeats `test/entropy/noise-pump.test.ts`, which tests one source in this process, and
 * `test/slow/service/noise-servers.test.ts`, which tests a stuck device on the server.
 */
import { describe, it } from 'node:test';
import { assertLatches, BIASED, REPEATING, STUCK } from '../../support/servers/faulty-sources.ts';

describe('a server whose sources fail permanently', { concurrency: true }, () => {
  for (const fault of [STUCK, BIASED, REPEATING]) {
    it(`releases no key after it detects ${fault.name}, until a restart`, (t) =>
      assertLatches(t, fault));
  }
});
