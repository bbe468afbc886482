/** What every command has: safe outputs, exit codes, counts as options, a progress line, an end by Ctrl-C. */
export {
  CommandError,
  refuseForeignLink,
  requireOwnDirectory,
  unwritable,
} from './command-error.ts';
export { jsonLine, writeJson, writeTable } from './data.ts';
export { OUTPUT_GONE, untilInterrupted, untilStopped } from './interruption.ts';
export { failOnLostOutput } from './lost-output.ts';
export { type Output, safeOutput, type Write, type WriteLines } from './output.ts';
export { parseCount, parseCountAs, parseCountTo } from './parse-count.ts';
export { checkPaths } from './path-arguments.ts';
export { newProgram, parseCommand, startProgram } from './program.ts';
export { barOf, REDRAW_MS, StatusLine, timeText } from './status-line.ts';
