/**
 * Renders a JSON log line for a terminal. Values may come from clients, so every character that could move the
 * cursor, change a colour or reverse the writing direction is escaped.
 */

import { visible } from '#platform/terminal';

interface PrettyOptions {
  readonly color: boolean;
}

const LEVELS: Readonly<Record<number, { readonly name: string; readonly color: number }>> = {
  10: { name: 'TRACE', color: 90 },
  20: { name: 'DEBUG', color: 90 },
  30: { name: 'INFO ', color: 32 },
  40: { name: 'WARN ', color: 33 },
  50: { name: 'ERROR', color: 31 },
  60: { name: 'FATAL', color: 31 },
};

const DIM = 90;

/** Returns a formatter for `LogWriter`. It only escapes lines that are not JSON objects. */
export function prettyLines({ color }: PrettyOptions): (line: string) => string {
  const paint = (code: number, text: string) => (color ? `\x1b[${code}m${text}\x1b[0m` : text);
  return (line) => {
    const entry = parse(line);
    if (!entry) return `${visible(line.trimEnd())}\n`;
    const { level, time, msg, ...rest } = entry;
    const { name, color: code } = LEVELS[Number(level)] ?? { name: '?    ', color: DIM };
    const at = new Date(Number(time));
    const clock = Number.isNaN(at.getTime()) ? '??:??:??.???' : at.toISOString().slice(11, 23);
    const fields = Object.entries(rest).map(
      ([key, value]) => `${paint(DIM, `${visible(key)}=`)}${show(value)}`,
    );
    const words = typeof msg === 'string' ? [visible(msg)] : [];
    return `${[paint(DIM, clock), paint(code, name), ...words, ...fields].join(' ')}\n`;
  };
}

function parse(line: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

/** Returns words without spaces unchanged, and everything else as JSON. */
function show(value: unknown): string {
  if (typeof value === 'string' && /^[^\s"=]+$/.test(value)) return visible(value);
  return visible(JSON.stringify(value));
}
