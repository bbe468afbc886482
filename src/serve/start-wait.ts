/** Repeats a server's startup while its database or its master secret is unavailable, and logs that it waits. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { monotonicMs } from '../clock.ts';
import { AppError, SetupError, type StartAwaits } from '../errors.ts';
import { mayPass } from '../ledger/index.ts';

const PAUSE_MS = 1_000;

/** A command that reads the secret may be a call that costs money or is limited. */
const SECRET_PAUSE_MS = 10_000;

const LOG_EVERY_MS = 15_000;

/** The pause between two attempts, and log lines. */
const AWAITED = {
  'the database': {
    pauseMs: PAUSE_MS,
    waits: 'startup is waiting for the database',
    gaveUp: 'startup waited too long for the database',
    continues: 'the database answers: startup continues',
  },
  'the master secret': {
    pauseMs: SECRET_PAUSE_MS,
    waits: 'startup is waiting for the master secret',
    gaveUp: 'startup waited too long for the master secret',
    continues: 'the master secret was read: startup continues',
  },
} as const satisfies Record<StartAwaits, object>;

interface StartWaitOptions {
  /** How long to wait. With 0 the first failure ends startup. */
  readonly limitMs: number;
  readonly logger: Logger;
  /** Called once, before the first pause. */
  readonly onWaiting: () => Promise<unknown>;
  /** Milliseconds between two attempts. Default 1,000, and 10,000 while the master secret is awaited. */
  readonly pauseMs?: number;
}

/**
 * Repeats `attempt` until it succeeds. Rejects with its error if the error is permanent or the time limit has
 * passed. Never interrupts an attempt in progress.
 */
export async function whenDatabaseAnswers<T>(
  attempt: () => Promise<T>,
  { limitMs, logger, onWaiting, pauseMs }: StartWaitOptions,
): Promise<T> {
  const startMs = monotonicMs();
  let loggedMs: number | null = null;
  let awaited: StartAwaits = 'the database';
  for (;;) {
    try {
      const result = await attempt();
      if (loggedMs !== null) {
        const waitedSeconds = secondsOf(monotonicMs() - startMs);
        logger.info({ waitedSeconds }, AWAITED[awaited].continues);
      }
      return result;
    } catch (error) {
      const nowMs = monotonicMs();
      const leftMs = startMs + limitMs - nowMs;
      if (!mayPass(error) || limitMs === 0) throw error;
      awaited = error instanceof SetupError ? error.awaits : 'the database';
      if (leftMs <= 0) {
        logger.error({ reason: reasonOf(error) }, AWAITED[awaited].gaveUp);
        throw error;
      }
      if (loggedMs === null || nowMs - loggedMs >= LOG_EVERY_MS) {
        const waitsSeconds = secondsOf(leftMs);
        logger.warn({ reason: reasonOf(error), waitsSeconds }, AWAITED[awaited].waits);
        if (loggedMs === null) await onWaiting();
        loggedMs = nowMs;
      }
      await delay(Math.min(pauseMs ?? AWAITED[awaited].pauseMs, leftMs));
    }
  }
}

function secondsOf(ms: number): number {
  return Math.round(ms / 1000);
}

/** Returns the message of the setup error or the database error. Neither holds a password. */
function reasonOf(error: unknown): string {
  const reason = error instanceof AppError ? error.cause : error;
  return reason instanceof Error ? reason.message : 'unknown';
}
