/** Opens the log of a server. */
import { type Logger, pino } from 'pino';
import type { Config } from '../config/index.ts';
import { asStarted, type Started } from '../launcher.ts';
import { prettyLines } from '../telemetry/log-pretty.ts';
import { LogWriter } from '../telemetry/log-writer.ts';

export interface ServerLog {
  readonly logger: Logger;
  /** Destination of the logger. */
  readonly log: LogWriter;
  /** True if stderr is a terminal that shows colours. */
  readonly color: boolean;
}

export function openLog(config: Config, started: Started): ServerLog {
  const color = showsColors(started.env);
  const log = new LogWriter(process.stderr.fd, lineFormat(config, color));
  const formatters = { log: (fields: object) => withCommands(fields, started) };
  const logger = pino({ level: config.logLevel, base: null, formatters }, log);
  return { logger, log, color };
}

/** Rewrites a command at the end of a reason, so that it works on this server's store when pasted. */
function withCommands(fields: object, started: Started): Record<string, unknown> {
  const { reason } = fields as { reason?: unknown };
  return typeof reason === 'string'
    ? { ...fields, reason: asStarted(reason, started) }
    : { ...fields };
}

/** Returns the formatter of log lines; undefined for JSON. */
function lineFormat({ logFormat }: Config, color: boolean): ((line: string) => string) | undefined {
  if (logFormat === 'json' || (logFormat === 'auto' && !process.stderr.isTTY)) return undefined;
  return prettyLines({ color });
}

/** Reports whether stderr is a terminal whose user wants colours. */
function showsColors({ NO_COLOR, TERM }: Started['env']): boolean {
  return Boolean(process.stderr.isTTY) && !NO_COLOR && TERM !== 'dumb';
}
