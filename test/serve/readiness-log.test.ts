/** The log lines about a server that stops being ready. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { pino } from 'pino';
import { watchReadiness } from '../../src/serve/readiness-log.ts';
import type { KeyService } from '../../src/service/index.ts';
import { READY } from '../support/servers/app.ts';

type Readiness = ReturnType<KeyService['checkReadiness']>;

const OS = {
  name: 'os',
  kind: 'system',
  state: 'failing',
  healthy: false,
  creditBitsPerDraw: 256,
  draws: 1,
  failures: 1,
  detail: 'the last read failed',
} as const;

describe('the watch on readiness', () => {
  it('logs what a server lacks, each change, and that it is ready again', ({ mock }) => {
    mock.timers.enable({ apis: ['setInterval'] });
    const lines: { level: number; lacks?: string[]; msg: string }[] = [];
    const logger = pino({ base: null }, { write: (line) => lines.push(JSON.parse(line)) });
    let readiness: Readiness = READY;
    const watch = watchReadiness(() => readiness, logger);
    const states: Readiness[] = [
      // A source that fails without making the server unready.
      { ...READY, sources: [OS] },
      { ...READY, ready: false, entropy: false, sources: [OS] },
      { ...READY, ready: false, ledger: false, secret: 'retired', generator: 'unjudged' },
      READY,
    ];
    for (const state of states) {
      readiness = state;
      mock.timers.tick(1_000);
      mock.timers.tick(1_000);
    }
    watch.stop();
    readiness = { ...READY, ready: false, ledger: false };
    mock.timers.tick(5_000);
    assert.deepEqual(
      lines.map(({ level, lacks, msg }) => ({ level, lacks, msg })),
      [
        {
          level: 40,
          lacks: ['entropy', 'entropy:os: the last read failed'],
          msg: 'the server is not ready',
        },
        {
          level: 40,
          lacks: ['generator: unjudged', 'ledger', 'master_secret: retired'],
          msg: 'the server is not ready',
        },
        { level: 30, lacks: undefined, msg: 'the server is ready again' },
      ],
    );
  });
});
