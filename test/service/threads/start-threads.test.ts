/** A service that cannot start its threads ends those that wait, so that a further attempt begins with none. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KeyServiceOptions, ServiceSources } from '../../../src/service/index.ts';
import { startThreads } from '../../../src/service/threads/start-threads.ts';
import { OS_ALONE } from '../../support/servers/fakes.ts';
import { secretOfTests } from '../../support/servers/key-service.ts';

/** Their source has a credential that cannot be read. */
const SOURCES: ServiceSources = {
  ...OS_ALONE,
  names: ['os', 'qrng'],
  settings: {
    ...OS_ALONE.settings,
    qrng: { profile: 'open-api', url: 'https://qrng.invalid', apiKey: { file: '/missing/key' } },
  },
};

describe('threads that wait', () => {
  it('end if a source cannot be opened', async () => {
    const ended: string[] = [];
    const waiting = (name: string) => ({ worker: { terminate: async () => ended.push(name) } });
    const options = {
      store: { kind: 'sqlite', path: ':memory:' },
      sources: SOURCES,
      secret: secretOfTests(),
      suiteWorkers: 1,
      log: null,
      threads: { keyWorker: waiting('key worker'), suiteWorker: waiting('suite worker') },
    } as unknown as KeyServiceOptions;
    await assert.rejects(startThreads(options), /PHM_QRNG_API_KEY_FILE, .*, cannot be read/);
    assert.deepEqual(ended.sort(), ['key worker', 'suite worker']);
  });
});
