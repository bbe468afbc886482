/** Log lines of a server's process without its logger: before its configuration is read, at its end, and in its threads. */

import { getEnvironmentData, setEnvironmentData, threadName } from 'node:worker_threads';
import { visible } from '#platform/terminal';

/** Writes one line. */
export type ProcessLog = (level: keyof typeof LEVELS, fields: object, msg: string) => void;

const LEVELS = { warn: 40, fatal: 60 };

/** Reports whether a log is JSON. By default it is, unless its reader is a terminal. */
export function isJsonLog(format: string | undefined, isTerminal: boolean): boolean {
  return format === 'json' || (format !== 'pretty' && !isTerminal);
}

/** Returns a writer of JSON lines in the form of the server's log. */
export function jsonLines(write: (line: string) => void): ProcessLog {
  return (level, fields, msg) => {
    const line = { level: LEVELS[level], time: Date.now(), ...fields, msg };
    write(`${visible(JSON.stringify(line))}\n`);
  };
}

/** Tells threads that the log is JSON. */
const JSON_LOG = 'phm:json-log';

/** Writes Node's warnings in this thread, and in threads that start later, as log lines. Node prints them as text. */
export function logWarnings(log: ProcessLog): void {
  setEnvironmentData(JSON_LOG, true);
  const thread = threadName || undefined;
  process.removeAllListeners('warning');
  process.on('warning', ({ name, message }) =>
    log('warn', { name, reason: message, thread }, 'Node warns'),
  );
}

/** Writes Node's warnings in this thread as log lines if the log of the process is JSON. */
export function logThreadWarnings(): void {
  if (getEnvironmentData(JSON_LOG) !== true) return;
  logWarnings(jsonLines((line) => process.stderr.write(line)));
}
