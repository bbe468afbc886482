/**
 * Starts the server: its threads first, then its modules, which take as long to load as the threads need for their own.
 * `serve/run.ts` wires the server.
 */
import type { Config } from '../config/index.ts';
import { startWaitingThreads, type WaitingThreads } from '../service/threads/waiting-threads.ts';
import type { ServeOptions } from './parts.ts';

/**
 * Starts the threads of a server that will run in this process. They know nothing of its configuration yet and keep no
 * process alive.
 */
export function startThreads(): WaitingThreads {
  return startWaitingThreads();
}

/** Runs the server with these threads. Resolves with the exit code after shutdown. */
export async function serve(
  config: Config,
  options: ServeOptions,
  threads: WaitingThreads,
): Promise<number> {
  const { runServer } = await import('./run.ts');
  return runServer(config, options, threads);
}
