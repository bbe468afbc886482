/**
 * Opens the inspector of each thread on a port of its own, and names them:
 *
 *   npx node --import=./scripts/inspect-threads.ts src/main.mjs serve
 *
 * With `--inspect` alone, neither `node inspect` nor Chromium shows threads. A thread inherits the option, so this file runs
 * in each before its own code. The main thread has port 9229, or that of `--inspect-port`; threads have those behind it.
 * With `--inspect-port=0` each takes a free one.
 */
import inspector from 'node:inspector';
import { threadId, threadName } from 'node:worker_threads';

const name = threadName || 'main thread';
const first = process.debugPort;
inspector.open(first === 0 ? 0 : first + threadId, '127.0.0.1');
const url = inspector.url();
if (url === undefined) {
  // Node has printed the reason. Without its inspector the thread would look like one that needs no debugging.
  process.stderr.write(
    `${name}: no inspector on port ${first + threadId}; --inspect-port=0 takes free ones\n`,
  );
  process.exit(1);
}
process.stderr.write(`${name}: npx node inspect ${new URL(url).host}\n`);
