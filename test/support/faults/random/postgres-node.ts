/** A PostgreSQL server in its own folder, primary or standby, with processes that a test can stop. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, chownSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { PASSWORD, serverUser, WATCH } from '../../ledgers/postgres.ts';
import { childrenOf } from './processes.ts';

const run = promisify(execFile);

const SETTINGS = [
  'listen_addresses=127.0.0.1',
  'unix_socket_directories=',
  'max_connections=60',
  // Set on both servers: a promoted standby confirms nothing before it has its own standby.
  'synchronous_standby_names=*',
  'wal_keep_size=512MB',
  'wal_sender_timeout=20s',
  'wal_retrieve_retry_interval=500ms',
  'checkpoint_timeout=60s',
];

type StopMode = 'fast' | 'immediate' | 'kill';
const SIGNALS = { fast: 'INT', immediate: 'QUIT', kill: 'KILL' };

export class PostgresNode {
  readonly port: number;
  readonly data: string;
  /** The folder for the ledger's tablespace, on a small disk of its own if mounting works. */
  readonly space: string;
  readonly #bin: string;
  readonly #log: string;
  #watcher: ChildProcess | null = null;

  constructor(bin: string, folder: string, port: number) {
    this.#bin = bin;
    this.port = port;
    this.data = join(folder, 'data');
    this.space = join(folder, 'disk', 'space');
    this.#log = join(folder, 'postgres.log');
    for (const path of [folder, join(folder, 'disk')]) own(path);
  }

  /** Process ID of the postmaster, the parent of all other processes; null if the server is not running. */
  get postmaster(): number | null {
    try {
      return Number(readFileSync(join(this.data, 'postmaster.pid'), 'utf8').split('\n')[0]);
    } catch {
      return null;
    }
  }

  /** Creates an empty cluster. */
  async initialize(passwordFile: string): Promise<void> {
    own(this.space);
    await this.#tool('initdb', [
      ...[`--pgdata=${this.data}`, `--pwfile=${passwordFile}`, '--locale=C', '--no-sync'],
      ...['--username=phm', '--auth=scram-sha-256', '--encoding=UTF8'],
    ]);
  }

  /** Removes the data of this server and makes it a standby of another server. */
  async copyFrom(primary: PostgresNode): Promise<void> {
    rmSync(this.data, { recursive: true, force: true });
    rmSync(this.space, { recursive: true, force: true });
    own(this.space);
    await this.#tool('pg_basebackup', [
      ...[`--pgdata=${this.data}`, `--tablespace-mapping=${primary.space}=${this.space}`],
      ...['--write-recovery-conf', '--wal-method=stream', '--checkpoint=fast', '--no-sync'],
      `--dbname=postgres://phm:${PASSWORD}@127.0.0.1:${primary.port}/postgres?application_name=standby`,
    ]);
  }

  /** Starts the server and waits until it accepts connections. */
  async start(): Promise<void> {
    while (!(await this.#start())) await delay(100);
  }

  async promote(): Promise<void> {
    await this.#tool('pg_ctl', ['promote', '--wait', `--pgdata=${this.data}`]);
  }

  /** After `kill` the postmaster cannot notify its children. They notice its death and exit. */
  async stop(mode: StopMode): Promise<void> {
    const watcher = this.#watcher;
    if (!watcher || watcher.exitCode !== null) return;
    const exit = once(watcher, 'exit');
    watcher.stdin?.end(`${SIGNALS[mode]}\n`);
    await exit;
  }

  /** Returns all processes of the server, the postmaster first. */
  processes(): number[] {
    const { postmaster } = this;
    return postmaster === null ? [] : [postmaster, ...childrenOf(postmaster)];
  }

  /** Returns false while children of a killed server are still running. */
  async #start(): Promise<boolean> {
    const watcher = spawn(
      'sh',
      [
        ...['-c', WATCH, 'sh', join(this.#bin, 'postgres'), '-D', this.data],
        ...['-p', String(this.port), ...SETTINGS.flatMap((setting) => ['-c', setting])],
      ],
      { ...serverUser, cwd: '/', stdio: ['pipe', 'ignore', 'pipe'] },
    );
    this.#watcher = watcher;
    let log = '';
    const started = await new Promise<boolean>((resolve, reject) => {
      watcher.stderr.on('data', (chunk) => {
        appendFileSync(this.#log, chunk);
        if (log.length < 100_000) log += chunk;
        if (/ready to accept (read-only )?connections/.test(log)) resolve(true);
        if (/is still in use|could not bind|lock file .* already exists/.test(log)) resolve(false);
      });
      watcher.on('exit', () => reject(new Error(`PostgreSQL did not start:\n${log}`)));
    });
    if (!started) await this.stop('kill');
    return started;
  }

  async #tool(name: string, args: readonly string[]): Promise<void> {
    await run(join(this.#bin, name), args, { ...serverUser, cwd: '/' });
  }
}

/** Creates a folder that the server's user owns. */
function own(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  if (serverUser) chownSync(path, serverUser.uid, serverUser.gid);
}
