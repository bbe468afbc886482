/** The OpenAPI document that a server serves, made from the routes without a server. */
import { pino } from 'pino';
import { systemClock } from '../../src/clock.ts';
import { PUBLISHED_PLANS } from '../../src/config/index.ts';
import { SOURCE_NAMES } from '../../src/entropy/index.ts';
import { type AppOptions, buildApp } from '../../src/http/app.ts';
import { Connections } from '../../src/http/connections.ts';
import { absentLog, type KeyService } from '../../src/service/index.ts';

/** Options of an application that meets no network: silent, without demo keys, dashboard, TLS and limits. */
export function quietOptions(): Omit<AppOptions, 'service'> {
  return {
    clock: systemClock,
    logger: pino({ level: 'silent' }),
    entropySource: 'os',
    entropySources: SOURCE_NAMES,
    demoKeys: 'refuse',
    demoApiKey: () => null,
    haveDemoKeysEnded: () => false,
    rateLimits: false,
    plans: PUBLISHED_PLANS,
    tls: null,
    basePath: '',
    corsOrigins: [],
    dashboardFolder: '/nowhere',
    trustedProxies: [],
    isDraining: () => false,
    connections: new Connections({ max: 1_000 }),
    directoryId: '0'.repeat(32),
  };
}

/** Returns the text of the document. It has all entropy sources, because a server may offer any of them. */
export async function openApiText(): Promise<string> {
  // No request reaches the service: only the document is asked for.
  const service = { log: absentLog('off') } as unknown as KeyService;
  const app = await buildApp({ ...quietOptions(), service });
  try {
    return (await app.inject('/api/v2/openapi.json')).body;
  } finally {
    await app.close();
  }
}
