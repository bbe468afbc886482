/** A server's start while its database is away: it tries again, and says so, until it may not wait any longer. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { monotonicMs } from '../clock.ts';
import { AppError } from '../errors.ts';
import { mayPass } from '../ledger/index.ts';

const PAUSE_MS = 1_000;

const LOG_EVERY_MS = 15_000;

export interface StartWaitOptions {
  /** How long to wait; 0: the first failure ends the start. */
  readonly limitMs: number;
  readonly logger: Logger;
  /** Called once, before the first pause. */
  readonly onWaiting: () => Promise<unknown>;
  /** Milliseconds between two attempts; left out: a second. */
  readonly pauseMs?: number;
}

/**
 * Repeats `attempt` until it succeeds. Rejects with what it rejected with when that does not pass by itself, and when the
 * time is over; an attempt under way is not cut short.
 */
export async function whenDatabaseAnswers<T>(
  attempt: () => Promise<T>,
  { limitMs, logger, onWaiting, pauseMs = PAUSE_MS }: StartWaitOptions,
): Promise<T> {
  const startMs = monotonicMs();
  let loggedMs: number | null = null;
  for (;;) {
    try {
      const result = await attempt();
      if (loggedMs !== null) {
        const waitedSeconds = secondsOf(monotonicMs() - startMs);
        logger.info({ waitedSeconds }, 'the database answers: the start goes on');
      }
      return result;
    } catch (error) {
      const nowMs = monotonicMs();
      const leftMs = startMs + limitMs - nowMs;
      if (!mayPass(error) || limitMs === 0) throw error;
      if (leftMs <= 0) {
        logger.error({ reason: reasonOf(error) }, 'the start has waited too long for the database');
        throw error;
      }
      if (loggedMs === null || nowMs - loggedMs >= LOG_EVERY_MS) {
        const waitsSeconds = secondsOf(leftMs);
        logger.warn({ reason: reasonOf(error), waitsSeconds }, 'the start waits for the database');
        if (loggedMs === null) await onWaiting();
        loggedMs = nowMs;
      }
      await delay(Math.min(pauseMs, leftMs));
    }
  }
}

function secondsOf(ms: number): number {
  return Math.round(ms / 1000);
}

/** What the set-up or the database says; neither holds a password. */
function reasonOf(error: unknown): string {
  const told = error instanceof AppError ? error.cause : error;
  return told instanceof Error ? told.message : 'unknown';
}
