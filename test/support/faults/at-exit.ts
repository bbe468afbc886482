/** What is done when this process ends before it has cleaned up: servers and disks do not outlive it. */
const pending = new Set<() => void>();

process.once('exit', () => {
  for (const action of pending) action();
});

/** Keeps an action for the end of the process, until the returned function is called. */
export function atExit(action: () => void): () => void {
  pending.add(action);
  return () => pending.delete(action);
}
