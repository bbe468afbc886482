/** What a server is made of before it starts: none of it needs the database. */
import { type DemoKeysPolicy, demoKeysPolicy } from '../accounts/index.ts';
import { type Config, isLoopback } from '../config/index.ts';
import { isSourceName } from '../entropy/index.ts';
import { loadTls, type TlsOptions } from '../http/tls.ts';
import { StartingService } from '../service/index.ts';
import { openMetrics, type ServiceMetrics } from '../telemetry/index.ts';
import { openLog, type ServerLog } from './log.ts';

export interface ServeOptions {
  /** Write one line with the address to stdout. */
  readonly json: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The words that start this program, for the commands that the banner names. */
  readonly launcher: string;
  /** Told of a broken invariant; it MUST end the process. */
  readonly onFatal: (error: Error) => void;
}

/** What changes while a server runs. */
export interface Lifecycle {
  draining: boolean;
  demoKeysEnded: boolean;
  /** An active demo API key; null: none, or none yet. */
  demoApiKey: string | null;
}

export interface ServerParts extends ServerLog {
  readonly config: Config;
  readonly options: ServeOptions;
  readonly tls: TlsOptions | null;
  readonly demoPolicy: DemoKeysPolicy;
  readonly metrics: ServiceMetrics | null;
  readonly lifecycle: Lifecycle;
  /** What HTTP calls: it refuses requests until the key service has started, and hands them on from then. */
  readonly starting: StartingService;
}

/** Throws `SetupError` when the certificate cannot be used. */
export async function openParts(config: Config, options: ServeOptions): Promise<ServerParts> {
  const serverLog = openLog(config, options);
  const demoPolicy = demoKeysPolicy(config.demoKeys, {
    loopbackListener: isLoopback(config.host),
    embeddedDatabase: config.databaseUrl === null,
  });
  const tls = config.tls && loadTls(config.tls);
  if (tls) serverLog.logger.info({ cipherSuites: tls.ciphers, groups: tls.ecdhCurve }, 'TLS 1.3');
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

/** The metrics, where there is a listener for them. */
async function countFor(config: Config): Promise<ServiceMetrics | null> {
  if (!config.metrics) return null;
  const sources = [...config.entropySources, ...config.entropyMix].filter(isSourceName);
  const ledgerBackend = config.databaseUrl === null ? 'sqlite' : 'postgresql';
  return openMetrics({ sources: [...new Set(sources)], ledgerBackend });
}
