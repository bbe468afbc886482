/**
 * Environment variables of the service with defaults, bounds and help, in the order of `phm help environment`. To add one, add a row here, in
 * `data-settings.ts` or in `entropy-settings.ts`, and run `npm run docs`.
 */
import { DATA_SETTINGS } from './data-settings.ts';
import { ENTROPY_SETTINGS } from './entropy-settings.ts';
import { type Row, type Setting, SWITCH } from './setting.ts';
import { TLS_PROFILE_NAMES } from './tls-profiles.ts';

export const ENVIRONMENT = {
  PHM_HOST: {
    section: 'network',
    default: '127.0.0.1',
    value: 'address',
    help: 'address to listen on',
    meaning:
      'Address to listen on. Beyond loopback it needs a certificate or `PHM_ALLOW_CLEARTEXT=on`',
  },
  PHM_PORT: {
    section: 'network',
    default: '8080',
    bounds: [0, 65_535],
    help: 'port to listen on; 0 takes a free one',
    meaning:
      'Port to listen on. 0 takes a free one, shown in the banner or log and by `serve --json`',
  },
  ...DATA_SETTINGS,
  ...ENTROPY_SETTINGS,
  PHM_TLS_CERT_FILE: {
    section: 'network',
    default: '',
    kind: 'path',
    help: 'PEM certificate chain; turns on TLS 1.3',
    meaning: 'PEM certificate chain; turns on [TLS 1.3](#tls)',
  },
  PHM_TLS_KEY_FILE: {
    section: 'network',
    default: '',
    kind: 'path',
    help: 'PEM private key of this certificate',
    meaning: 'PEM private key of this certificate',
  },
  PHM_TLS_PROFILE: {
    section: 'network',
    default: 'default',
    choices: TLS_PROFILE_NAMES,
    help: 'default, post-quantum, bsi, cnsa or cnsa-2: what TLS accepts',
    meaning:
      '[Profile](#tls-profiles): the groups, cipher suites and signatures that TLS accepts. `post-quantum` refuses clients without a post-quantum group. Needs a certificate',
  },
  PHM_ALLOW_CLEARTEXT: {
    section: 'network',
    default: 'off',
    choices: SWITCH,
    help: 'on: listen without TLS beyond loopback',
    meaning:
      'Allows a listener beyond loopback without TLS. Set it only if something else encrypts',
  },
  PHM_BASE_PATH: {
    section: 'network',
    default: '',
    value: 'path such as `/phm`',
    help: 'path in front of every address, such as /phm',
    meaning: 'Path [in front of every address](#beneath-a-path)',
  },
  PHM_CORS_ORIGINS: {
    section: 'network',
    default: '',
    value: 'list',
    help: 'origins whose web pages may call the API; default: none',
    meaning: 'Origins whose [web pages](#other-web-pages) may call the API',
  },
  PHM_DEMO_KEYS: {
    section: 'callers and load',
    default: 'auto',
    choices: ['auto', 'on', 'off'],
    help: 'auto, on or off: admit the public demo keys',
    meaning: 'Whether [demo keys](#demo-keys) work. Set `off` in production',
  },
  PHM_TRUST_PROXY: {
    section: 'network',
    default: '',
    value: 'list',
    help: 'proxies whose X-Forwarded-For is trusted',
    meaning:
      '[Proxies](#behind-a-proxy) whose `X-Forwarded-For` is trusted: addresses, ranges, `loopback`, `linklocal`, `uniquelocal`, such as `loopback,10.0.0.0/8`',
  },
  PHM_DRAIN_SECONDS: {
    section: 'network',
    default: '2',
    bounds: [0, 300],
    help: 'seconds from SIGTERM until the listener closes',
    meaning:
      'Time from SIGTERM to the end of listening, in which `/readyz` fails and requests are served. Set it by your [health checks](operations.md#restart-and-upgrade)',
  },
  PHM_MAX_CONNECTIONS: {
    section: 'network',
    default: '2000',
    bounds: [1, 1_000_000],
    help: 'most connections at a time; 503 beyond',
    meaning:
      '[Connections](operations.md#connections) served at once. A new connection takes the place of an idle one; if none is idle, its request gets 503 `overloaded` and it is closed. Probes are still answered',
  },
  PHM_RATE_LIMITS: {
    section: 'callers and load',
    default: 'on',
    choices: SWITCH,
    help: 'on or off: enforce the rate limits',
    meaning:
      '`off` lifts the [rate limits](api.md#limits) of all plans and of requests without a valid API key. Monthly quotas stay',
  },
  PHM_BOX_COPIES: {
    section: 'callers and load',
    default: '10000',
    bounds: [1, 1_000_000],
    help: 'most sealed copies that wait for a recipient',
    meaning: 'Most copies in the [box](deliveries.md#limits) of a recipient',
  },
  PHM_BOX_MIB: {
    section: 'callers and load',
    default: '64',
    bounds: [1, 65_536],
    help: 'most MiB of them',
    meaning: 'Most MiB of sealed keys in the [box](deliveries.md#limits) of a recipient',
  },
  PHM_PLANS_FILE: {
    section: 'callers and load',
    default: '',
    kind: 'path',
    help: 'JSON file that changes and adds plans',
    meaning: 'JSON file that changes and adds [plans](#plans)',
  },
  PHM_WORKERS: {
    section: 'callers and load',
    default: '',
    bounds: [1, 64],
    unset: 'number of cores',
    help: 'suite workers; default: cores',
    meaning:
      'Suite workers: about 25 MB each, 45 at work, on Linux of low priority. They make validated keys, sealed keys and batches. Raise it if those wait. See below',
  },
  PHM_METRICS_PORT: {
    section: 'metrics and logs',
    default: '',
    bounds: [0, 65_535],
    help: 'port of /metrics; 0 takes a free one; default: none',
    meaning:
      'Port of a separate listener for [`/metrics`](monitoring.md#metrics); unset: none. 0 takes a free one, as above',
  },
  PHM_METRICS_HOST: {
    section: 'metrics and logs',
    default: '127.0.0.1',
    value: 'address',
    help: 'address on which /metrics listens',
    meaning: 'Address of this listener, which has no TLS: let only Prometheus reach it',
  },
  PHM_LOG_LEVEL: {
    section: 'metrics and logs',
    default: 'info',
    choices: ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'],
    help: 'fatal, error, warn, info, debug, trace or silent',
    meaning: 'Least severe lines to write',
  },
  PHM_LOG_FORMAT: {
    section: 'metrics and logs',
    default: 'auto',
    choices: ['auto', 'json', 'pretty'],
    help: 'json, pretty, or auto: pretty on a terminal',
    meaning:
      '`auto` is `pretty` if stderr is a terminal, otherwise `json` ([Logs](monitoring.md#logs))',
  },
  PHM_INTEGRITY: {
    section: 'metrics and logs',
    default: 'refuse',
    choices: ['refuse', 'report'],
    help: 'report: start although files of the release have changed',
    meaning:
      'What a server does whose [files differ from the release](operations.md#files-of-the-release): `refuse` to start, or `report` them in the log',
  },
} as const satisfies Record<string, Setting>;

/** Variables of the client commands: `generate`, `validate` and `metrics`. */
export const CLIENT_ENVIRONMENT = {
  PHM_URL: { default: 'http://127.0.0.1:8080', help: 'address of the service, with its base path' },
  PHM_API_KEY: {
    default: '',
    help: 'API key; default: the demo key, for a service on this machine',
  },
  PHM_API_KEY_FILE: { default: '', help: 'file that holds the API key', kind: 'path' },
} as const satisfies Record<string, Row>;

export const VARIABLES = { ...ENVIRONMENT, ...CLIENT_ENVIRONMENT };

export type Variable = keyof typeof VARIABLES;

/** The variables whose row has a member. */
export type VariableWith<Member extends string> = {
  [Name in Variable]: (typeof VARIABLES)[Name] extends Record<Member, unknown> ? Name : never;
}[Variable];

/** The values that a variable may have. */
export type ChoiceOf<Name extends VariableWith<'choices'>> =
  (typeof VARIABLES)[Name]['choices'][number];
