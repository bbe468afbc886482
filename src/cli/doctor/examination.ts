/**
 * Runs the checks in a child process. A file system that does not answer, such as NFS without its server, blocks every
 * process that asks it. This process asks nothing: it reports the check, and goes on with the next one in another child.
 */

import { type ChildProcess, fork } from 'node:child_process';
import { childEnvironment } from '#platform/threads';
import { withPage } from './check.ts';
import { CHECKS } from './checks.ts';
import { type Finding, failed, skipped } from './finding.ts';
import type { Environment, Progress, Task } from './process.ts';

/** Time without a message from the child. A check that can give up does so in less. */
const SILENCE_MS = 20_000;

/** Called with the index of a check and its findings, in order. */
type OnChecked = (index: number, findings: readonly Finding[]) => void;

/** Runs all checks. Resolves with false if the configuration is invalid or cannot be read. */
export async function examine(
  env: Environment,
  onChecked: OnChecked,
  silenceMs = SILENCE_MS,
): Promise<boolean> {
  let isConfigured: boolean | null = null;
  let next = 0;
  const hear = (progress: Progress) => {
    if ('isConfigured' in progress) ({ isConfigured } = progress);
    else {
      onChecked(progress.index, progress.findings);
      next = progress.index + 1;
    }
  };
  while (next < CHECKS.length) {
    const child = startChild({ env, first: next });
    child.on('message', hear);
    const problem = await whyEnded(child, silenceMs);
    const unanswered = CHECKS[next];
    if (!unanswered) break;
    onChecked(next, [withPage(problem, unanswered)]);
    next += 1;
    // Every child would stop there.
    while (isConfigured === null && next < CHECKS.length) {
      onChecked(next++, [skipped('the configuration cannot be read')]);
    }
  }
  return isConfigured === true;
}

function startChild(task: Task): ChildProcess {
  const child = fork(new URL('./process.ts', import.meta.url), {
    // Node's own variables, such as those that name certificates, count here too.
    env: { ...childEnvironment, ...task.env },
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  child.send(task, () => {});
  return child;
}

/** Resolves when the child has ended or was silent for too long, with a finding for the check that it was at. */
function whyEnded(child: ChildProcess, silenceMs: number): Promise<Finding> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      // The kernel may keep a process that waits for a file.
      if (child.connected) child.disconnect();
      child.unref();
      resolve(
        failed(
          `no answer within ${silenceMs / 1000} s: a file, a disk or a network file system hangs`,
          'repair it: a server that reads there hangs too',
        ),
      );
    }, silenceMs);
    child.on('message', () => timer.refresh());
    child.once('close', (code, signal) => {
      clearTimeout(timer);
      resolve(failed(`the check ended by ${signal ?? `exit code ${code}`}`));
    });
    child.once('error', ({ message }) => {
      clearTimeout(timer);
      resolve(failed(`the check did not start: ${message}`));
    });
  });
}
