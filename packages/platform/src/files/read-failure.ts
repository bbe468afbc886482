import { TextError } from './text-file.ts';

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  ENOTDIR: 'there is no such file',
  EISDIR: 'it is a directory',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
};

/** Returns in words why a file cannot be read. The words name no path. */
export function readFailure(error: unknown): string {
  if (error instanceof TextError) return error.message;
  const { code = '', syscall, message } = error as NodeJS.ErrnoException;
  // Node's messages look like "EIO: i/o error, read".
  return REASONS[code] ?? (syscall === undefined ? String(error) : message.replace(/, .*/s, ''));
}
