/** The child process of one check: checks the file, tells the result, ends. Servers have precedence. */
import { setPriority } from 'node:os';
import { type CheckKind, checkFile } from './check.ts';

const [, , path = '', check = ''] = process.argv;
setPriority(10);
process.send?.(checkFile(path, check as CheckKind), undefined, undefined, () =>
  process.disconnect?.(),
);
