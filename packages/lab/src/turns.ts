/** Turns of a thread: long work lets the thread handle what came meanwhile, such as a cancellation. */

/** Milliseconds for which work keeps its thread. */
const TURN_MS = 50;

/** A timer of Node waits a millisecond at least, an immediate only for its turn. Browsers have no immediates. */
const { setTimeout, setImmediate = setTimeout } = globalThis as unknown as {
  setTimeout(work: () => void, milliseconds?: number): unknown;
  setImmediate?(work: () => void): unknown;
};

/** When this thread last handled other events. */
let turnedMs = Date.now();

/** Reports whether the work has had its thread for 50 ms. */
export function isTurnOver(): boolean {
  return Date.now() - turnedMs >= TURN_MS;
}

/** Waits until the thread has handled what came. */
export async function nextTurn(): Promise<void> {
  await new Promise<void>((resolve) => setImmediate(resolve));
  turnedMs = Date.now();
}

/** Waits as long as an answer may take on which no result depends. */
export function patience(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, TURN_MS));
}
