/**
 * The only way from a command to standard output and standard error. Commands write text, which may quote what others
 * wrote: rows, answers of a server, names of files, arguments. Every character of it that would act on a terminal is
 * escaped here, so no command has to remember it. Only colours and the status line, which hold no such text, are raw.
 */
import { styleText } from 'node:util';
import { visible, visibleLine, visibleLines } from '../terminal/visible.ts';
import { StatusLine } from './status-line.ts';

/** Writes text as it is. */
export type Write = (text: string) => void;

/** Writes lines. Each argument is one: its line end may be left out, and any other line end in it is escaped. */
export type WriteLines = (...lines: readonly string[]) => void;

export interface Output {
  /** Data: results and JSON. */
  readonly out: WriteLines;
  /** Messages: notes, warnings and errors. */
  readonly err: WriteLines;
  /** Data of several lines in one text, such as a report. What it quotes MUST have passed `visible`. */
  readonly outText: Write;
  /** One detail: its name, faint on a terminal that shows it, and its value. */
  readonly errDetail: (name: string, value: string) => void;
  /** The progress line, which stays empty unless standard error is a terminal. */
  readonly status: StatusLine;
}

/** Returns the output of a command for the raw writers of its process. */
export function safeOutput(out: Write, err: Write): Output {
  const line = (text: string): string => visibleLine(text.endsWith('\n') ? text : `${text}\n`);
  return {
    out: (...lines) => out(lines.map(line).join('')),
    err: (...lines) => err(lines.map(line).join('')),
    outText: (text) => out(visibleLines(text)),
    errDetail: (name, value) => {
      const faint = styleText('dim', visible(name), { stream: process.stderr });
      err(`${faint} ${visible(value)}\n`);
    },
    status: new StatusLine(process.stderr.isTTY ? err : () => {}),
  };
}
