/**
 * The child process of one check. It checks the file, sends the result and ends. Its low priority gives
 * servers precedence.
 */
import { setPriority } from 'node:os';
import { type CheckKind, checkFile } from './check.ts';

const [, , path = '', check = '', readOnly = ''] = process.argv;
setPriority(10);
process.send?.(checkFile(path, check as CheckKind, readOnly === 'true'), undefined, undefined, () =>
  process.disconnect?.(),
);
