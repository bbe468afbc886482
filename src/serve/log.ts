/** The log of a server: where it goes, and in which form. */
import { type Logger, pino } from 'pino';
import type { Config } from '../config/index.ts';
import { asStarted, type Started } from '../launcher.ts';
import { prettyLines } from '../telemetry/log-pretty.ts';
import { LogWriter } from '../telemetry/log-writer.ts';

export interface ServerLog {
  readonly logger: Logger;
  /** What the logger writes to. */
  readonly log: LogWriter;
  /** Whether stderr is a terminal that shows colours. */
  readonly color: boolean;
}

export function openLog(config: Config, started: Started): ServerLog {
  const color = showsColors(started.env);
  const log = new LogWriter(process.stderr.fd, lineFormat(config, color));
  const formatters = { log: (fields: object) => withCommands(fields, started) };
  const logger = pino({ level: config.logLevel, base: null, formatters }, log);
  return { logger, log, color };
}

/** Reasons may end with a command; it is logged so that it works on this server's store as it is pasted. */
function withCommands(fields: object, started: Started): Record<string, unknown> {
  const { reason } = fields as { reason?: unknown };
  return typeof reason === 'string'
    ? { ...fields, reason: asStarted(reason, started) }
    : { ...fields };
}

/** How log lines are written: as they come, or for people on a terminal. */
function lineFormat({ logFormat }: Config, color: boolean): ((line: string) => string) | undefined {
  if (logFormat === 'json' || (logFormat === 'auto' && !process.stderr.isTTY)) return undefined;
  return prettyLines({ color });
}

/** Whether stderr is a terminal whose user wants colours. */
function showsColors({ NO_COLOR, TERM }: Started['env']): boolean {
  return Boolean(process.stderr.isTTY) && !NO_COLOR && TERM !== 'dumb';
}
