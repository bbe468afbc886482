/** Log lines of a server's process for times without a logger: before its configuration is read, and at its end. */

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
    write(`${JSON.stringify({ level: LEVELS[level], time: Date.now(), ...fields, msg })}\n`);
  };
}

/** Writes Node's warnings in this thread as log lines. Node prints them as text. */
export function logWarnings(log: ProcessLog): void {
  process.removeAllListeners('warning');
  process.on('warning', ({ name, message }) =>
    log('warn', { name, reason: message }, 'Node warns'),
  );
}
