/** Builds the HTTP application in this process over a fake key service. */
import type { TestContext } from 'node:test';
import type { FastifyInstance } from 'fastify';
import { quietOptions } from '../../../scripts/docs/openapi.ts';
import { type AppOptions, buildApp } from '../../../src/http/app.ts';
import type { Principal } from '../../../src/ledger/index.ts';
import { absentLog, type KeyService } from '../../../src/service/index.ts';

const USAGE = { month: 0, used: 0, quota: null };

/** A service without problems. */
export const READY: ReturnType<KeyService['checkReadiness']> = {
  ready: true,
  entropy: true,
  generator: 'ok',
  latched: null,
  ledger: true,
  ownLedger: true,
  secret: 'ok',
  log: 'ok',
  sources: [],
};

/** Returns a service that knows one caller; `overrides` replace the rest. */
export function standInService(plan: string, more: Partial<KeyService> = {}): KeyService {
  const principal: Principal = {
    apiKeyId: 'key',
    accountId: 'acct',
    plan,
    demo: false,
    sealedOnly: 'off',
    rules: null,
    lastUsedHour: null,
    suspended: false,
    usage: USAGE,
  };
  const service = {
    authenticate: async () => principal,
    noteUse: () => {},
    usageOf: () => USAGE,
    quotaNowMs: Date.now,
    refuseUnsound: () => undefined,
    log: absentLog('off'),
    ...more,
  };
  return service as unknown as KeyService;
}

/** Stops the monotonic clock for a test, so that no bucket of a rate limit fills up meanwhile. */
export function stopMonotonic(test: TestContext): void {
  const now = process.hrtime.bigint();
  test.mock.method(process.hrtime, 'bigint', () => now);
}

/** Builds the application with quiet defaults. The caller closes it. */
export function buildTestApp(
  options: Partial<AppOptions> & Pick<AppOptions, 'service'>,
): Promise<FastifyInstance> {
  return buildApp({
    ...quietOptions(),
    entropySources: ['os'],
    rateLimits: true,
    ...options,
  });
}
