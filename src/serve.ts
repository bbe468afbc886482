/**
 * Starts the server: its threads first, then its modules, which take as long to load as the threads need for their own.
 * `serve/run.ts` wires the server.
 */
import type { Config } from './config/index.ts';
import type { ServeOptions } from './serve/parts.ts';
import { startWaitingThreads } from './service/waiting-threads.ts';

/** Runs the server. Resolves with the exit code after shutdown. */
export async function serve(config: Config, options: ServeOptions): Promise<number> {
  const threads = startWaitingThreads();
  const { runServer } = await import('./serve/run.ts');
  return runServer(config, options, threads);
}
