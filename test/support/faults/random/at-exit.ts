/** Actions that run if this process exits before its cleanup, so that servers and disks do not outlive it. */
const pending = new Set<() => void>();

process.once('exit', () => {
  for (const action of pending) action();
});

/** Registers an action for process exit. The returned function cancels it. */
export function atExit(action: () => void): () => void {
  pending.add(action);
  return () => pending.delete(action);
}
