/** Parts of a server that exist before startup and need no database. */
import { fileURLToPath } from 'node:url';
import { type DemoKeysPolicy, demoKeysPolicy } from '../accounts/index.ts';
import { type Config, isLoopback } from '../config/index.ts';
import { loadTls, type TlsOptions } from '../config/tls.ts';
import { isSourceName } from '../entropy/index.ts';
import { requireAlgorithms } from '../keys/index.ts';
import { StartingService } from '../service/index.ts';
import { openMetrics, type ServiceMetrics } from '../telemetry/index.ts';
import { requireFiles } from './files-check.ts';
import { openLog, type ServerLog } from './log.ts';

/** Output of `npm run build` for dashboard/. */
export const DASHBOARD_FOLDER: string = fileURLToPath(
  new URL('../../build/dashboard', import.meta.url),
);

export interface ServeOptions {
  /** Writes one line with the address to stdout. */
  readonly json: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Words that start this program, for commands in the banner. */
  readonly launcher: string;
  /** Called on a broken invariant. It MUST end the process. */
  readonly onFatal: (error: Error) => void;
}

/** State that changes while a server runs. */
export interface Lifecycle {
  draining: boolean;
  demoKeysEnded: boolean;
  /** A demo API key that requests could use at startup; null if there is none, or none yet. */
  demoApiKey: string | null;
}

export interface ServerParts extends ServerLog {
  readonly config: Config;
  readonly options: ServeOptions;
  readonly tls: TlsOptions | null;
  readonly demoPolicy: DemoKeysPolicy;
  readonly metrics: ServiceMetrics | null;
  readonly lifecycle: Lifecycle;
  /** The service that HTTP calls. It refuses requests until the key service has started, and then forwards them. */
  readonly starting: StartingService;
}

/** Opens the parts. Throws `SetupError` if files differ from the release, or the certificate is unusable. */
export async function openParts(config: Config, options: ServeOptions): Promise<ServerParts> {
  const serverLog = openLog(config, options);
  // The comparison of the files uses SHA-256.
  requireAlgorithms();
  requireFiles(config.integrity, serverLog.logger);
  const demoPolicy = demoKeysPolicy(config.demoKeys, {
    loopbackListener: isLoopback(config.host),
    embeddedDatabase: config.databaseUrl === null,
  });
  const tls = config.tls && loadTls(config.tls);
  if (tls) {
    const { ciphers: cipherSuites, ecdhCurve: groups, sigalgs: signatures } = tls;
    const profile = config.tls?.profile;
    serverLog.logger.info({ profile, cipherSuites, groups, signatures }, 'TLS 1.3');
  }
  return {
    ...serverLog,
    config,
    options,
    tls,
    demoPolicy,
    metrics: await countFor(config),
    lifecycle: { draining: false, demoKeysEnded: false, demoApiKey: null },
    starting: new StartingService(),
  };
}

/** Opens metrics if a listener for them is configured. */
async function countFor(config: Config): Promise<ServiceMetrics | null> {
  if (!config.metrics) return null;
  const sources = [...config.entropySources, ...config.entropyMix].filter(isSourceName);
  const ledgerBackend = config.databaseUrl === null ? 'sqlite' : 'postgresql';
  return openMetrics({ sources: [...new Set(sources)], ledgerBackend });
}
