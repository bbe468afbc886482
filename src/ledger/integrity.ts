/**
 * Checks the embedded database for damage before a server's first key and once a day while it runs. A
 * damaged ledger can promise neither that a record is durable nor that a key is unknown, so the server
 * answers nothing from it.
 */

import { existsSync } from 'node:fs';
import { DAY_MS } from '../clock.ts';
import { changedProgram, softwareName } from '../process/version.ts';
import { AFTER_FAILURE_MS, FIRST_MS } from './maintenance.ts';
import { type CheckKind, type CheckReport, type RunningCheck, startCheck } from './sqlite/check.ts';
import { damagedDatabase } from './sqlite/damage.ts';
import { refuseLostDatabase, requireWritable } from './sqlite/files.ts';
import { findWalDamage } from './sqlite/wal.ts';

/** Limit of the time that startup waits for its check: enough for several gigabytes. */
const START_LIMIT_MS = 10_000;

/** What startup knows about the database when it continues. */
export interface StartCheck {
  /** Null without a database, and while the check is in progress. */
  readonly report: CheckReport | null;
  /** The check that startup did not wait for. `IntegrityWatch` takes it over. */
  readonly pending: RunningCheck | null;
}

/**
 * Checks the database before a server uses it, for at most `limitMs`. This process must have no connection
 * open. Throws `SetupError` if the database is damaged, lost or not writable.
 */
export async function checkAtStart(path: string, limitMs = START_LIMIT_MS): Promise<StartCheck> {
  refuseLostDatabase(path);
  if (!existsSync(path)) return { report: null, pending: null };
  requireWritable(path);
  const inLog = findWalDamage(`${path}-wal`);
  if (inLog !== null) throw damagedDatabase(path, inLog);
  const running = startCheck(path, 'quick_check', { mayBlock: true });
  const report = await within(running.report, limitMs);
  if (report === null) {
    running.unref();
    return { report, pending: running };
  }
  if (report.result.kind === 'damaged') throw damagedDatabase(path, report.result.found);
  return { report, pending: null };
}

async function within<T>(promise: Promise<T>, limitMs: number): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), limitMs);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

interface IntegrityOptions {
  readonly path: string;
  /** The check that startup did not wait for. */
  readonly pending: RunningCheck | null;
  /** Receives each check's report, for the log. */
  readonly onReport: (report: CheckReport) => void;
  /** Receives, once, a line that says how the database is damaged. From then on it MUST NOT be used. */
  readonly onDamage: (message: string) => void;
  /** Milliseconds to the first full check. The default is a minute, so that it does not delay startup. */
  readonly firstMs?: number;
  /** `softwareName()` when the server started, the default. The process of a check refuses to run other code. */
  readonly software?: string;
}

/** Checks the whole database once a day, in a child process. */
export class IntegrityWatch {
  readonly #options: IntegrityOptions;
  #timer: NodeJS.Timeout | undefined;
  #running: RunningCheck | null;
  #stopped = false;

  constructor(options: IntegrityOptions) {
    this.#options = options;
    this.#running = options.pending;
    if (options.pending) void this.#settle(options.pending);
    else this.#plan(options.firstMs ?? FIRST_MS);
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
    this.#running?.stop();
  }

  #plan(afterMs: number): void {
    if (this.#stopped) return;
    this.#timer = setTimeout(() => this.#begin('integrity_check'), afterMs);
    this.#timer.unref();
  }

  #begin(check: CheckKind): void {
    const { path, software = softwareName() } = this.#options;
    this.#running = startCheck(path, check, { software });
    this.#running.unref();
    void this.#settle(this.#running);
  }

  async #settle({ report }: RunningCheck): Promise<void> {
    const { path, onReport, onDamage, firstMs = FIRST_MS } = this.#options;
    const done = await report;
    this.#running = null;
    if (this.#stopped) return;
    onReport(explained(done));
    if (done.result.kind === 'damaged') {
      onDamage(damagedDatabase(path, done.result.found).message);
      return;
    }
    if (done.result.kind === 'failed') this.#plan(AFTER_FAILURE_MS);
    else this.#plan(done.check === 'quick_check' ? firstMs : DAY_MS);
  }
}

/** A process of other code can fail in any way. */
function explained(done: CheckReport): CheckReport {
  const changed = done.result.kind === 'failed' ? changedProgram() : null;
  return changed === null ? done : { ...done, result: { kind: 'failed', reason: changed } };
}
