/** A server of a checkout under a supervisor, on a fixed port. It restarts after each exit. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { COMPILE_CACHE } from '../../run/compile-cache.mjs';
import type { Environment } from '../../servers/server.ts';
import { atExit } from './at-exit.ts';

const THREADS = pathToFileURL(join(import.meta.dirname, 'ended-threads.ts')).href;
const RESTART_PAUSE_MS = 500;

interface ReplicaOptions {
  readonly name: string;
  /** Folder of the project that runs. */
  readonly checkout: string;
  readonly dataDir: string;
  readonly port: number;
  /** Called before each start, so that the next process can have other settings. */
  readonly env: () => Environment;
  readonly logFile: string;
  /** Receives events that a supervisor would report to an operator. */
  readonly onEvent: (event: string) => void;
}

export class Replica {
  readonly options: ReplicaOptions;
  #child: ChildProcess | null = null;
  #wanted = false;
  #running: Promise<void> = Promise.resolve();
  /** Time at which the current process began to listen, by `performance.now()`; null if none listens. */
  listeningSince: number | null = null;
  /** True between SIGSTOP and SIGCONT. */
  stopped = false;

  constructor(options: ReplicaOptions) {
    this.options = options;
    mkdirSync(options.dataDir, { recursive: true });
  }

  get address(): string {
    return `http://127.0.0.1:${this.options.port}`;
  }

  get pid(): number | null {
    return this.#child?.pid ?? null;
  }

  /** Keeps the server running from now on. Resolves when it first listens, or after `limitMs`. */
  async start(limitMs = 60_000): Promise<void> {
    this.#wanted = true;
    this.#running = this.#supervise();
    const end = Date.now() + limitMs;
    while (this.#wanted && this.listeningSince === null && Date.now() < end) await delay(20);
  }

  /** Stops the server until the next `start` and returns its exit code. */
  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
    this.#wanted = false;
    const child = this.#child;
    this.signal(signal);
    await this.#running;
    return child?.exitCode ?? null;
  }

  /** Sends a signal. If the signal ends the server, the supervisor restarts it. */
  signal(signal: NodeJS.Signals): void {
    this.#child?.kill(signal);
    if (signal === 'SIGSTOP') this.stopped = true;
    if (signal === 'SIGCONT' || signal === 'SIGKILL') this.stopped = false;
  }

  async #supervise(): Promise<void> {
    while (this.#wanted) {
      await this.#runOnce();
      if (this.#wanted) await delay(RESTART_PAUSE_MS);
    }
  }

  async #runOnce(): Promise<void> {
    const { name, checkout, dataDir, port, env, logFile, onEvent } = this.options;
    const log = openSync(logFile, 'a', 0o600);
    const child = spawn(process.execPath, [join(checkout, 'src/main.mjs'), 'serve', '--json'], {
      env: {
        PATH: process.env.PATH ?? '',
        PHM_DATA_DIR: dataDir,
        PHM_PORT: String(port),
        PHM_WORKERS: '1',
        NODE_COMPILE_CACHE: COMPILE_CACHE,
        NODE_OPTIONS: `--import=${THREADS}`,
        ...env(),
      },
      stdio: ['ignore', 'pipe', log],
    });
    this.#child = child;
    const forget = atExit(() => child.kill('SIGKILL'));
    child.stdout?.once('data', () => {
      this.listeningSince = performance.now();
    });
    const [code, signal] = (await once(child, 'close')) as [number | null, string | null];
    forget();
    if (this.listeningSince === null && this.#wanted) onEvent(`${name}: start ended with ${code}`);
    else if (this.#wanted && signal === null) onEvent(`${name}: ended by itself with ${code}`);
    this.listeningSince = null;
    this.stopped = false;
    this.#child = null;
  }
}
