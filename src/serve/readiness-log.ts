/** Logs when a running server stops being ready, what it lacks, and when it is ready again. */
import type { Logger } from 'pino';
import type { KeyService } from '../service/index.ts';

type Readiness = ReturnType<KeyService['checkReadiness']>;

const CHECK_EVERY_MS = 1_000;

/** Compares readiness each second, without a request. The server is taken to be ready at first. */
export function watchReadiness(check: () => Readiness, logger: Logger): { stop(): void } {
  let before = '';
  const timer = setInterval(() => {
    const lacks = lacking(check());
    const now = lacks.join();
    if (now === before) return;
    before = now;
    if (lacks.length > 0) logger.warn({ lacks }, 'the server is not ready');
    else logger.info('the server is ready again');
  }, CHECK_EVERY_MS).unref();
  return { stop: () => clearInterval(timer) };
}

/** Returns the failing checks of `/readyz`, by its names, with the reason of each source; none if the server is ready. */
function lacking(readiness: Readiness): string[] {
  const { ready, entropy, generator, ledger, ownLedger, secret, sources } = readiness;
  if (ready) return [];
  const unhealthy = sources.filter(({ healthy }) => !healthy);
  return [
    ...(entropy ? [] : ['entropy']),
    ...unhealthy.map(({ name, state, detail }) => `entropy:${name}: ${detail ?? state}`),
    ...(generator === 'ok' ? [] : [`generator: ${generator}`]),
    ...(ledger ? [] : [ownLedger ? 'ledger' : 'ledger: foreign']),
    ...(secret === 'ok' ? [] : [`master_secret: ${secret}`]),
  ];
}
