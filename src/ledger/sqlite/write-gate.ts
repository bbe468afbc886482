/**
 * Lets the threads of one process take SQLite's write lock in turns.
 *
 * SQLite asks for a taken lock again after sleeps of 1, 2, 5, 10, 15 ms and more. A thread that waits for the other's
 * commit would sleep on after it. Here it wakes at once. The gate only saves time: other processes do not know it, and
 * SQLite's lock alone keeps transactions apart.
 */
const OPEN = 0;
const TAKEN = 1;

/**
 * Far longer than a transaction, and short beside the five seconds of SQLite, which follow: a thread at the gate may
 * itself wait for another process, and then these waits must not add up.
 */
const WAIT_MS = 500;

export class WriteGate {
  readonly #word: Int32Array<SharedArrayBuffer>;
  readonly #waitMs: number;

  /** `memory` is one word of zero that all threads of the process share. */
  constructor(memory: SharedArrayBuffer, waitMs: number = WAIT_MS) {
    this.#word = new Int32Array(memory, 0, 1);
    this.#waitMs = waitMs;
  }

  /** Allocates the shared word. */
  static allocate(): SharedArrayBuffer {
    return new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
  }

  /**
   * Runs `work` while no other thread is at the gate. Waits for half a second at most, and then leaves the decision to
   * SQLite.
   */
  pass<T>(work: () => T): T {
    const isTaken = this.#take();
    try {
      return work();
    } finally {
      if (isTaken) this.#leave();
    }
  }

  #take(): boolean {
    const deadlineMs = performance.now() + this.#waitMs;
    while (Atomics.compareExchange(this.#word, 0, OPEN, TAKEN) !== OPEN) {
      const leftMs = deadlineMs - performance.now();
      if (leftMs <= 0) return false;
      Atomics.wait(this.#word, 0, TAKEN, leftMs);
    }
    return true;
  }

  #leave(): void {
    Atomics.store(this.#word, 0, OPEN);
    Atomics.notify(this.#word, 0, 1);
  }
}
