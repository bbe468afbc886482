/** Environment variables of the service. To add one, add a row. */
import type { ValueKind } from './value-form.ts';

/** A variable: its default, and its line in the help. */
export interface Row {
  readonly default: string;
  readonly help: string;
  /** What the value is; `text` if left out. */
  readonly kind?: ValueKind;
}

export const ENVIRONMENT = {
  PHM_HOST: { default: '127.0.0.1', help: 'address to listen on' },
  PHM_PORT: { default: '8080', help: 'port to listen on; 0 takes a free one' },
  PHM_DATA_DIR: {
    default: './data',
    help: 'directory of the database and the master secret',
    kind: 'path',
  },
  PHM_DATABASE_URL: { default: '', help: 'postgres://user:password@host,…/db; default: SQLite' },
  PHM_DATABASE_URL_FILE: { default: '', help: 'file that holds this address', kind: 'path' },
  PHM_MIGRATE: { default: 'off', help: 'auto: migrate the PostgreSQL schema at startup' },
  PHM_START_WAIT_SECONDS: {
    default: '300',
    help: 'seconds to wait for the database at startup; 0: do not wait',
  },
  PHM_MAX_CLOCK_SKEW_SECONDS: {
    default: '60',
    help: 'largest clock difference from PostgreSQL, in seconds',
  },
  PHM_RETENTION_DAYS: { default: '', help: 'days to keep ledger rows; default: for ever' },
  PHM_MASTER_KEY: { default: '', help: 'master secret: 64 hex digits, or a "version:hex" list' },
  PHM_MASTER_KEY_FILE: { default: '', help: 'file that holds the master secret', kind: 'path' },
  PHM_MASTER_KEY_COMMAND: {
    default: '',
    help: 'shell command that writes the master secret',
    kind: 'command',
  },
  PHM_MASTER_KEY_VERSION: { default: '', help: 'current version; default: the highest' },
  PHM_TRANSPARENCY_LOG: { default: 'auto', help: 'auto or off: log keys, for receipts' },
  PHM_LOG_KEY: { default: '', help: 'signing keys of the log, two lines; PostgreSQL needs them' },
  PHM_LOG_KEY_FILE: { default: '', help: 'file that holds these keys', kind: 'path' },
  PHM_LOG_STATE_FILE: {
    default: '',
    help: 'last published checkpoint; default: beside the data directory',
    kind: 'path',
  },
  PHM_LOG_WITNESSES: {
    default: '',
    help: 'file with the policy that names the witnesses',
    kind: 'path',
  },
  PHM_LOG_INTERVAL_MS: { default: '1000', help: 'milliseconds between two heads of the log' },
  PHM_ENTROPY_SOURCE: { default: 'os', help: 'source of keys whose request names none' },
  PHM_ENTROPY_SOURCES: { default: 'os,quantum-simulator', help: 'sources that a request may name' },
  PHM_ENTROPY_MIX: { default: '', help: 'sources mixed into every key while they deliver' },
  PHM_JITTER_CREDIT: { default: 'off', help: 'on: credit timing noise; assess your machine first' },
  PHM_DEVICE_PATH: {
    default: '',
    help: 'source "device": character device or pipe to read',
    kind: 'path',
  },
  PHM_DEVICE_MIN_ENTROPY: { default: '', help: 'source "device": min-entropy claimed per byte' },
  PHM_REMOTE_CREDIT: { default: 'off', help: 'on: credit ibm-quantum and qrng with entropy' },
  PHM_IBM_API_KEY: { default: '', help: 'source "ibm-quantum": IBM Cloud API key' },
  PHM_IBM_API_KEY_FILE: { default: '', help: 'file that holds this API key', kind: 'path' },
  PHM_IBM_SERVICE_CRN: { default: '', help: 'source "ibm-quantum": CRN of the instance' },
  PHM_IBM_BACKEND: { default: '', help: 'source "ibm-quantum": name of the processor' },
  PHM_IBM_URL: { default: '', help: 'address of the Runtime API; default: the public one' },
  PHM_IBM_IAM_URL: { default: '', help: 'address of the token service; default: the public one' },
  PHM_IBM_API_VERSION: { default: '', help: 'date of the API version; default: the newest known' },
  PHM_IBM_SHOTS: { default: '4096', help: 'shots per job, an even number' },
  PHM_QRNG_PROFILE: { default: '', help: 'source "qrng": open-api, anu or outshift' },
  PHM_QRNG_URL: { default: '', help: 'address of the service; required for open-api' },
  PHM_QRNG_API_KEY: {
    default: '',
    help: 'source "qrng": API key, if the service requires one',
  },
  PHM_QRNG_API_KEY_FILE: { default: '', help: 'file that holds this API key', kind: 'path' },
  PHM_TLS_CERT_FILE: {
    default: '',
    help: 'PEM certificate chain; turns on TLS 1.3',
    kind: 'path',
  },
  PHM_TLS_KEY_FILE: { default: '', help: 'PEM private key of this certificate', kind: 'path' },
  PHM_TLS_REQUIRE_HYBRID: { default: 'off', help: 'on: refuse clients without post-quantum TLS' },
  PHM_ALLOW_CLEARTEXT: { default: 'off', help: 'on: listen without TLS beyond loopback' },
  PHM_BASE_PATH: { default: '', help: 'path in front of every address, such as /phm' },
  PHM_CORS_ORIGINS: {
    default: '',
    help: 'origins whose web pages may call the API; default: none',
  },
  PHM_DEMO_KEYS: { default: 'auto', help: 'auto, on or off: admit the public demo keys' },
  PHM_TRUST_PROXY: { default: '', help: 'proxies whose X-Forwarded-For is trusted' },
  PHM_DRAIN_SECONDS: { default: '2', help: 'seconds from SIGTERM until the listener closes' },
  PHM_MAX_CONNECTIONS: { default: '2000', help: 'most connections at a time; 503 beyond' },
  PHM_RATE_LIMITS: { default: 'on', help: 'on or off: enforce the rate limits' },
  PHM_PLANS_FILE: { default: '', help: 'JSON file that changes and adds plans', kind: 'path' },
  PHM_WORKERS: { default: '', help: 'suite workers; default: cores' },
  PHM_METRICS_PORT: { default: '', help: 'port of /metrics; 0 takes a free one; default: none' },
  PHM_METRICS_HOST: { default: '127.0.0.1', help: 'address on which /metrics listens' },
  PHM_LOG_LEVEL: { default: 'info', help: 'fatal, error, warn, info, debug, trace or silent' },
  PHM_LOG_FORMAT: { default: 'auto', help: 'json, pretty, or auto: pretty on a terminal' },
} as const satisfies Record<string, Row>;

/** Variables of the client commands: `generate`, `validate` and `metrics`. */
export const CLIENT_ENVIRONMENT = {
  PHM_URL: { default: 'http://127.0.0.1:8080', help: 'address of the service, with its base path' },
  PHM_API_KEY: {
    default: '',
    help: 'API key; default: the demo key, for a service on this machine',
  },
  PHM_API_KEY_FILE: { default: '', help: 'file that holds the API key', kind: 'path' },
} as const satisfies Record<string, Row>;

export type Variable = keyof typeof ENVIRONMENT | keyof typeof CLIENT_ENVIRONMENT;
