/** Opens the log of a server. */
import { type Logger, pino } from 'pino';
import type { Config } from '../config/index.ts';
import { asStarted, type Started } from '../process/launcher.ts';
import { isJsonLog } from '../process/process-log.ts';
import { prettyLines } from '../telemetry/log-pretty.ts';
import { LogWriter } from '../telemetry/log-writer.ts';

export interface ServerLog {
  readonly logger: Logger;
  /** Destination of the logger. */
  readonly log: LogWriter;
  /** True if stderr is a terminal that shows colours. */
  readonly color: boolean;
  /** True if stderr is a terminal and the log is for people. */
  readonly hasReader: boolean;
}

export function openLog(config: Config, started: Started): ServerLog {
  const { isTTY = false, fd } = process.stderr;
  const color = isTTY && showsColors(started.env);
  const isJson = isJsonLog(config.logFormat, isTTY);
  const log = new LogWriter(fd, isJson ? undefined : prettyLines({ color }));
  process.on('exit', () => log.writeNow());
  const formatters = { log: (fields: object) => withCommands(fields, started) };
  const logger = pino({ level: config.logLevel, base: null, formatters }, log);
  return { logger, log, color, hasReader: isTTY && !isJson };
}

/** Rewrites a command at the end of a reason, so that it works on this server's store when pasted. */
function withCommands(fields: object, started: Started): Record<string, unknown> {
  const { reason } = fields as { reason?: unknown };
  return typeof reason === 'string'
    ? { ...fields, reason: asStarted(reason, started) }
    : { ...fields };
}

/** Reports whether the user of a terminal wants colours. */
function showsColors({ NO_COLOR, TERM }: Started['env']): boolean {
  return !NO_COLOR && TERM !== 'dumb';
}
