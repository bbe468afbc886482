/** Settings of the ledger, the master secret and the transparency log. */
import type { Setting } from './setting.ts';

export const DATA_SETTINGS = {
  PHM_DATA_DIR: {
    section: 'data',
    default: './data',
    kind: 'path',
    help: 'directory of the database and the master secret',
    meaning:
      '[Data directory](#the-data-directory). Set it: the default depends on the working directory',
  },
  PHM_DATABASE_URL: {
    section: 'data',
    default: '',
    value: '`postgres://user:…@host/db`',
    help: 'postgres://user:password@host,…/db; default: SQLite',
    meaning:
      'Keeps the ledger in [PostgreSQL](ledger.md#postgresql) instead of SQLite, also on [several hosts](#the-address-of-postgresql). User, host and database are required',
  },
  PHM_DATABASE_URL_FILE: {
    section: 'data',
    default: '',
    kind: 'path',
    help: 'file that holds this address',
    meaning:
      'File that holds this address. Prefer it: others may read the environment of a process',
  },
  PHM_MIGRATE: {
    section: 'data',
    default: 'off',
    choices: ['auto', 'off'],
    help: 'auto: migrate the PostgreSQL schema at startup',
    meaning:
      '`auto`: a starting server migrates the PostgreSQL schema. `off`: it waits for `phm migrate`. SQLite is [always migrated](ledger.md#migrations)',
  },
  PHM_START_WAIT_SECONDS: {
    section: 'data',
    default: '300',
    bounds: [0, 86_400],
    help: 'seconds to wait for the database at startup; 0: do not wait',
    meaning:
      'How long a starting server [waits for its database](operations.md#start-before-the-database). 0: not at all',
  },
  PHM_MAX_CLOCK_SKEW_SECONDS: {
    section: 'data',
    default: '60',
    // One day at most: a larger bound would reveal a wrong clock only after it has done harm.
    bounds: [1, 86_400],
    help: 'largest clock difference from PostgreSQL, in seconds',
    meaning:
      'Largest difference between the clocks of a server and PostgreSQL. Beyond it, the server does not start and nothing is pruned ([Clocks](ledger.md#clocks)). No effect with SQLite',
  },
  PHM_RETENTION_DAYS: {
    section: 'data',
    default: '',
    // A hundred years at most.
    bounds: [1, 36_500],
    help: 'days to keep ledger rows; default: for ever',
    meaning: 'Days to [keep ledger rows](ledger.md#retention); unset: for ever',
  },
  PHM_MASTER_KEY: {
    section: 'master secret',
    default: '',
    value: '[text](#the-master-secret)',
    help: 'master secret: 64 hex digits, or a "version:hex" list',
    meaning: 'The master secret itself',
  },
  PHM_MASTER_KEY_FILE: {
    section: 'master secret',
    default: '',
    kind: 'path',
    help: 'file that holds the master secret',
    meaning:
      'File that holds it. Default: `master.key` in the data directory, generated at the first startup. PostgreSQL requires one of the three variables',
  },
  PHM_MASTER_KEY_COMMAND: {
    section: 'master secret',
    default: '',
    kind: 'command',
    help: 'shell command that writes the master secret',
    meaning:
      '[Command that writes it](#a-command-for-the-master-secret) to standard output, so that it is on no disk',
  },
  PHM_MASTER_KEY_VERSION: {
    section: 'master secret',
    default: '',
    bounds: [1, 65_535],
    unset: 'the highest',
    help: 'current version; default: the highest',
    meaning:
      'Version that makes commitments and proofs; the others only verify. For a [rotation](operations.md#rotation-of-the-master-secret)',
  },
  PHM_TRANSPARENCY_LOG: {
    section: 'transparency log',
    default: 'auto',
    choices: ['auto', 'off'],
    help: 'auto or off: log keys, for receipts',
    meaning:
      '`auto`: keys get [receipts](receipts.md) if the log has keys. SQLite generates them at the first startup; with PostgreSQL, [you do](operations.md#turn-the-log-on). `off`: no receipts',
  },
  PHM_LOG_KEY: {
    section: 'transparency log',
    default: '',
    value: 'two lines',
    help: 'signing keys of the log, two lines; PostgreSQL needs them',
    meaning: 'Signing keys of the log, as [`phm log init`](cli.md#phm-log) writes them',
  },
  PHM_LOG_KEY_FILE: {
    section: 'transparency log',
    default: '',
    kind: 'path',
    help: 'file that holds these keys',
    meaning: 'File that holds them. Default: `log.key` in the data directory',
  },
  PHM_LOG_STATE_FILE: {
    section: 'transparency log',
    default: '',
    kind: 'path',
    unset: '`<data directory>.log-state`',
    help: 'last published checkpoint; default: beside the data directory',
    meaning:
      '[Last checkpoint that this server published](receipts.md#the-state-file). Each server needs its own, and not in the data directory',
  },
  PHM_LOG_WITNESSES: {
    section: 'transparency log',
    default: '',
    kind: 'path',
    help: 'file with the policy that names the witnesses',
    meaning: '[Policy](receipts.md#witnesses) that names the witnesses and their quorum',
  },
  PHM_LOG_INTERVAL_MS: {
    section: 'transparency log',
    default: '1000',
    // Ten checkpoints a second at most, and one a day at least.
    bounds: [100, 86_400_000],
    help: 'milliseconds between two heads of the log',
    meaning: 'Least time between two checkpoints. See below',
  },
} as const satisfies Record<string, Setting>;
