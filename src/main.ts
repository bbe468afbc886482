/**
 * Wires the service by hand, in order, and is the only reader of the process environment.
 *
 *   configuration → master secret → database → workers → HTTP → banner → until told to end
 */
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createSecureContext } from 'node:tls';
import type { FastifyInstance } from 'fastify';
import { destination, type Logger, pino } from 'pino';
import {
  apiKeyHint,
  DEMO_ACCOUNTS,
  demoKeysPolicy,
  hashApiKey,
  MONTHLY_QUOTAS,
} from './accounts/index.ts';
import { announce } from './banner.ts';
import { wipe } from './bytes.ts';
import { databasePath, runCli } from './cli/index.ts';
import { systemClock } from './clock.ts';
import { type Config, isLoopback } from './config.ts';
import { isSourceName } from './entropy/index.ts';
import { SetupError } from './errors.ts';
import { buildApp } from './http/app.ts';
import { checkMasterSecret, KeyService, loadMasterSecret } from './keys/index.ts';
import { type LedgerStore, openSqliteStore } from './ledger/index.ts';

/** How long `/readyz` fails before the listener closes, so that balancers look elsewhere first. */
const NOTICE_MS = 2_000;

/** How long answered-for requests may take to finish after that. */
const DRAIN_LIMIT_MS = 30_000;

/** Starts the server and resolves with the exit code once it has ended. */
async function serve(config: Config, { json }: { json: boolean }): Promise<number> {
  const logDestination = destination({ fd: 2, sync: false });
  const logger = pino({ level: config.logLevel, base: null }, logDestination);
  const demoPolicy = demoKeysPolicy(config.demoKeys, {
    loopbackListener: isLoopback(config.host),
    embeddedDatabase: config.databaseUrl === null,
  });
  const tls = readTlsFiles(config);
  const service = await startService(config, logger, demoPolicy !== 'refuse');
  const lifecycle = { draining: false };
  const app = await buildApp({
    service,
    clock: systemClock,
    logger,
    entropySource: config.entropySource,
    entropySources: config.entropySources,
    demoKeys: demoPolicy,
    rateLimits: config.rateLimits,
    tls,
    isDraining: () => lifecycle.draining,
  });
  // Before the banner: whoever reads it may send a signal at once.
  const ended = endSignal();
  const address = await listen(app, config, service);
  announce({ address, json, demoApiKey: demoPolicy === 'refuse' ? null : DEMO_ACCOUNTS[0].apiKey });
  const signal = await ended;
  lifecycle.draining = true;
  logger.info({ signal }, 'draining');
  await drain(app, service, signal === 'SIGTERM' ? NOTICE_MS : 0);
  logger.info('ended');
  logDestination.flushSync();
  return 0;
}

async function startService(
  config: Config,
  logger: Logger,
  withDemo: boolean,
): Promise<KeyService> {
  const secrets = loadMasterSecret(config.masterSecret);
  const path = databasePath(config);
  const store = openSqliteStore({ path, quotas: MONTHLY_QUOTAS });
  try {
    await checkMasterSecret(store, secrets, Date.now());
    if (withDemo) await addDemoAccounts(store);
  } finally {
    await store.close();
  }
  try {
    return await KeyService.start({
      databasePath: path,
      sources: config.entropySources.filter(isSourceName),
      secrets,
      suiteWorkers: config.suiteWorkers,
      clock: systemClock,
      onLatch: (reason) => logger.error({ reason }, 'a generator has ended'),
      onFatal: endAtOnce,
    });
  } finally {
    wipe(...secrets.map(({ secret }) => secret));
  }
}

/** Adds what is missing; a demo key that was revoked stays revoked. */
async function addDemoAccounts(store: LedgerStore): Promise<void> {
  const createdMs = Date.now();
  for (const { accountId, name, plan, apiKeyId, apiKey } of DEMO_ACCOUNTS) {
    await store.addAccount({ accountId, name, plan, demo: true, createdMs });
    const record = { apiKeyId, accountId, hint: apiKeyHint(apiKey), createdMs, revokedMs: null };
    await store.addApiKey(record, hashApiKey(apiKey));
  }
}

/** The certificate and its key, tried together before anything is started. */
function readTlsFiles({ tls }: Config): { cert: string; key: string } | null {
  if (!tls) return null;
  const cert = readPem('PHM_TLS_CERT_FILE', tls.certFile);
  const key = readPem('PHM_TLS_KEY_FILE', tls.keyFile);
  try {
    createSecureContext({ cert, key });
  } catch (cause) {
    throw new SetupError(
      `PHM_TLS_CERT_FILE and PHM_TLS_KEY_FILE do not make a certificate with its key: ${(cause as Error).message}`,
      { cause },
    );
  }
  return { cert, key };
}

function readPem(variable: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw new SetupError(`${variable}: cannot read ${path}: ${(cause as Error).message}`, {
      cause,
    });
  }
}

/** Listens, and says what to change when the address cannot be had. */
async function listen(app: FastifyInstance, config: Config, service: KeyService): Promise<string> {
  try {
    await app.listen({ host: config.host, port: config.port });
  } catch (cause) {
    await service.close();
    const { code, message } = cause as NodeJS.ErrnoException;
    const fix =
      code === 'EADDRINUSE' || code === 'EACCES'
        ? 'choose another PHM_PORT, or end the program that has it'
        : 'check PHM_HOST';
    throw new SetupError(
      `cannot listen on ${config.host} port ${config.port}: ${message}; ${fix}`,
      { cause },
    );
  }
  const { address, family, port } = app.server.address() as AddressInfo;
  const host = family === 'IPv6' ? `[${address}]` : address;
  return `${config.tls ? 'https' : 'http'}://${host}:${port}`;
}

/** Resolves with the first signal that asks for the end; a second one ends at once. */
function endSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let ending = false;
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.on(signal, () => {
        if (ending) process.exit(1);
        ending = true;
        resolve(signal);
      });
    }
  });
}

/** Gives notice, closes the listener, answers what is under way, ends the workers. */
async function drain(app: FastifyInstance, service: KeyService, noticeMs: number): Promise<void> {
  setTimeout(() => process.exit(1), noticeMs + DRAIN_LIMIT_MS).unref();
  await new Promise((resolve) => setTimeout(resolve, noticeMs));
  await app.close();
  await service.close();
}

/** A broken invariant: what is in memory cannot be trusted. Names the error, not its message. */
function endAtOnce(error: Error): void {
  const frames = error.stack?.split('\n').filter((line) => line.startsWith('    at ')) ?? [];
  process.stderr.write(`phm: ended by an unexpected ${error.name}\n${frames.join('\n')}\n`);
  process.exit(1);
}

process.on('uncaughtException', endAtOnce);
process.umask(0o077);
process.exitCode = await runCli(process.argv.slice(2), {
  env: process.env,
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
  serve,
});
