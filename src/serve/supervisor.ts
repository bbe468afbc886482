/**
 * Reports to systemd (sd_notify(3)) that the server listens, that it stops, and at intervals that it is alive. The
 * program `systemd-notify` sends the messages, because Node has no Unix datagram sockets. Without NOTIFY_SOCKET nothing
 * is sent.
 */
import { execFile } from 'node:child_process';

/** A message that takes longer is dropped. */
const SEND_LIMIT_MS = 10_000;

/** Beats within the time that systemd waits for one, so that one may be lost. */
const BEATS_PER_LIMIT = 3;

type Environment = Readonly<Record<string, string | undefined>>;

export class Supervisor {
  readonly #env: Environment;
  readonly #onFailure: (reason: string) => void;
  #timer: NodeJS.Timeout | null = null;
  #isAsking = false;

  /** `onFailure` gets the reason if a message cannot be sent. */
  constructor(env: Environment, onFailure: (reason: string) => void) {
    this.#env = env;
    this.#onFailure = onFailure;
  }

  /**
   * Reports that the server listens, and starts the beats if systemd expects them. Each beat is sent after the main
   * thread's timer has fired and `answers` has then resolved. `answers` must not reject.
   */
  ready(status: string, answers: () => Promise<void>): void {
    this.#send('READY=1', `STATUS=${status}`);
    const limitMs = watchdogLimitMs(this.#env);
    if (limitMs === null) return;
    const beat = () => void this.#beat(answers);
    this.#timer = setInterval(beat, limitMs / BEATS_PER_LIMIT).unref();
  }

  /** Reports that the server stops. Beats continue, because the drain and the last requests may take minutes. */
  stopping(): void {
    this.#send('STOPPING=1', 'STATUS=draining');
  }

  /** Stops the beats. */
  close(): void {
    if (this.#timer) clearInterval(this.#timer);
  }

  async #beat(answers: () => Promise<void>): Promise<void> {
    if (this.#isAsking) return;
    this.#isAsking = true;
    await answers();
    this.#isAsking = false;
    this.#send('WATCHDOG=1');
  }

  #send(...assignments: readonly string[]): void {
    const { NOTIFY_SOCKET, PATH } = this.#env;
    if (!NOTIFY_SOCKET) return;
    // The rest of the environment may hold secrets.
    const env = { NOTIFY_SOCKET, PATH };
    execFile('systemd-notify', assignments, { env, timeout: SEND_LIMIT_MS }, (error) => {
      if (error) this.#onFailure(String(error.code ?? error.signal));
    });
  }
}

/** Returns how long systemd waits for a beat of this process; null if it expects none. */
function watchdogLimitMs({
  NOTIFY_SOCKET,
  WATCHDOG_USEC,
  WATCHDOG_PID,
}: Environment): number | null {
  const limitMs = Number(WATCHDOG_USEC) / 1000;
  const isForUs = WATCHDOG_PID === undefined || WATCHDOG_PID === String(process.pid);
  return NOTIFY_SOCKET && isForUs && limitMs > 0 ? limitMs : null;
}
