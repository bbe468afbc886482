/** The child process of `phm doctor`. It runs the checks from a given one on, sends what each finds, and ends. */
import { runCheck } from './check.ts';
import { CHECKS } from './checks.ts';
import type { Finding } from './finding.ts';
import { Site } from './site.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** What the child needs to know. */
export interface Task {
  readonly env: Environment;
  /** Index of the first check. */
  readonly first: number;
}

/** What the child has found: first whether the configuration is valid, then the findings of each check. */
export type Progress =
  | { readonly isConfigured: boolean }
  | { readonly index: number; readonly findings: readonly Finding[] };

const ALIVE_MS = 5_000;

// Also if an attempt to reach a database is still in progress.
process.once('disconnect', () => process.exit());
process.once('message', (task: Task) => void examine(task));

async function examine({ env, first }: Task): Promise<void> {
  const site = new Site({ env });
  await send({ isConfigured: site.reading.ok });
  for (const [index, check] of CHECKS.entries()) {
    if (index < first) continue;
    const isConfigured = site.reading.ok;
    // A check that may take longer than the other process waits. A blocked thread sends nothing.
    const alive = check.limitMs && setInterval(() => void send({ isConfigured }), ALIVE_MS);
    await send({ index, findings: await runCheck(check, site) });
    clearInterval(alive);
  }
  await site.close();
  process.disconnect?.();
}

function send(progress: Progress): Promise<void> {
  return new Promise((sent) => process.send?.(progress, undefined, undefined, () => sent()));
}
