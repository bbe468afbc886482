/** Starts the real server and runs the real command line, as a user would, in a temporary folder. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { resolve } from 'node:path';
import { COMPILE_CACHE } from '../run/compile-cache.mjs';
import { makeDataDir, noteLog, removeDataDir } from '../run/data-dirs.ts';

export const MAIN: string = resolve(import.meta.dirname, '../../../src/main.mjs');

export const DEMO_KEY = 'phmsk_demo_ResearchDemoKeyNotSecret0001_1GUpEG';
export const DEMO_PROFESSIONAL_KEY = 'phmsk_demo_ProfessionalDemoNotSecret002_2YdSrF';

export type Environment = Record<string, string>;

export { makeDataDir, removeDataDir };

/** Environment variables of a server or a command. */
export function environment(dataDir: string, extra: Environment): Environment {
  const base = {
    PATH: process.env.PATH ?? '',
    PHM_DATA_DIR: dataDir,
    PHM_WORKERS: '1',
    ...cacheOrMeasure(),
    // Files and processes that a test leaves are known by it.
    TMPDIR: tmpdir(),
  };
  return { ...base, ...extra };
}

/** What a measured test starts is measured, too (scripts/mutants.ts): without a cache, of whose functions V8 knows no ranges. */
function cacheOrMeasure(): Environment {
  const { NODE_V8_COVERAGE } = process.env;
  return NODE_V8_COVERAGE === undefined
    ? { NODE_COMPILE_CACHE: COMPILE_CACHE }
    : { NODE_V8_COVERAGE, NODE_DISABLE_COMPILE_CACHE: '1' };
}

export interface CommandResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `phm` to its end. `main` is the program's main file, if it is a different one. */
export function runPhm(
  args: readonly string[],
  dataDir: string,
  extra: Environment = {},
  main: string = MAIN,
): Promise<CommandResult> {
  return new Promise((done) => {
    const env = environment(dataDir, extra);
    execFile(
      process.execPath,
      [main, ...args],
      { env, maxBuffer: 2 ** 26 },
      (error, stdout, stderr) => {
        const code = typeof error?.code === 'number' ? error.code : error ? -1 : 0;
        done({ code, stdout, stderr });
      },
    );
  });
}

/** Parses a log. Throws if a line is not a JSON object. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into lines of every shape.
export function logLines(text: string): any[] {
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));
}

/** Returns the reason in the last log line of a server that could not run. */
export function lastReason(stderr: string): string {
  return String(logLines(stderr).at(-1)?.reason);
}

/** Runs `phm … --json` and parses its data. Throws with standard error if it fails. */
export async function phmJson<T = Record<string, unknown>>(
  args: readonly string[],
  dataDir: string,
  extra: Environment = {},
): Promise<T> {
  const { code, stdout, stderr } = await runPhm([...args, '--json'], dataDir, extra);
  if (code !== 0) throw new Error(`phm ${args.join(' ')} ended with ${code}: ${stderr}`);
  return JSON.parse(stdout) as T;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape.
  readonly body: any;
}

/** The line that `serve --json` writes when it listens. */
interface StartLine {
  readonly address: string;
  readonly metrics_address: string | null;
}

export class Server {
  readonly address: string;
  /** Address of the Prometheus endpoint, or null. */
  readonly metricsAddress: string | null;
  readonly dataDir: string;
  readonly #child: ChildProcess;
  readonly #log: () => string;

  private constructor(start: StartLine, dataDir: string, child: ChildProcess, log: () => string) {
    this.address = start.address;
    this.metricsAddress = start.metrics_address;
    this.dataDir = dataDir;
    this.#child = child;
    this.#log = log;
  }

  /** Starts a server on a free port and waits until it listens. */
  static async start(
    dataDir: string,
    extra: Environment = {},
    stderr: 'pipe' | number = 'pipe',
    main: string = MAIN,
  ): Promise<Server> {
    const env = environment(dataDir, { PHM_PORT: '0', ...extra });
    const child = spawn(process.execPath, [main, 'serve', '--json'], {
      env,
      stdio: ['ignore', 'pipe', stderr],
    });
    let log = '';
    child.stderr?.on('data', (chunk) => {
      log += chunk;
    });
    noteLog(dataDir, () => log);
    let line = '';
    const listening = (async () => {
      for await (const chunk of child.stdout ?? []) {
        line += chunk;
        if (line.includes('\n')) return JSON.parse(line) as StartLine;
      }
      throw new Error(`the server did not start:\n${log}`);
    })();
    return new Server(await listening, dataDir, child, () => log);
  }

  /** Everything that the server has written to standard error: its log. */
  get log(): string {
    return this.#log();
  }

  /** Resolves once the log holds these texts. */
  async logged(...texts: readonly string[]): Promise<void> {
    const { stderr } = this.#child;
    if (!stderr) throw new Error('the log of this server goes elsewhere');
    while (!texts.every((text) => this.log.includes(text))) await once(stderr, 'data');
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  async request(path: string, init: RequestInit = {}): Promise<Answer> {
    const response = await fetch(`${this.address}${path}`, init);
    const text = await response.text();
    const { status, headers } = response;
    return { status, headers, body: text === '' ? undefined : JSON.parse(text) };
  }

  /** Sends a POST with a JSON body and an API key. */
  post(path: string, body: unknown, apiKey = DEMO_KEY): Promise<Answer> {
    return this.request(path, {
      method: 'POST',
      headers: { 'X-API-Key': apiKey, 'Content-Type': 'application/json' },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
  }

  generate(body: unknown, apiKey = DEMO_KEY): Promise<Answer> {
    return this.post('/api/v2/generate', body, apiKey);
  }

  validate(body: unknown, apiKey = DEMO_KEY): Promise<Answer> {
    return this.post('/api/v2/validate', body, apiKey);
  }

  metrics(query = '', apiKey = DEMO_KEY): Promise<Answer> {
    return this.request(`/api/v2/metrics${query}`, { headers: { 'X-API-Key': apiKey } });
  }

  /** Reads the Prometheus endpoint. */
  async scrape(): Promise<string> {
    const response = await fetch(this.metricsAddress ?? '');
    return response.text();
  }

  /** Sends a signal and resolves with the exit code (null if the signal ended it) once the log is complete. */
  async stop(signal: NodeJS.Signals = 'SIGINT'): Promise<number | null> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null)
      return this.#child.exitCode;
    const end = once(this.#child, 'close');
    this.#child.kill(signal);
    const [code] = (await end) as [number | null];
    return code;
  }
}
