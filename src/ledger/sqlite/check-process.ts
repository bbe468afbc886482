/**
 * The child process of one check. It checks the file, sends the result and ends. Its low priority gives
 * servers precedence.
 */
import { setPriority } from 'node:os';
import { requireProgram } from '../../process/version.ts';
import { type CheckKind, type CheckResult, checkFile } from './check.ts';

const [, , path = '', check = '', readOnly = '', software = ''] = process.argv;

function result(): CheckResult {
  try {
    if (software !== '') requireProgram(software);
  } catch (error) {
    return { kind: 'failed', reason: (error as Error).message };
  }
  return checkFile(path, check as CheckKind, readOnly === 'true');
}

setPriority(10);
process.send?.(result(), undefined, undefined, () => process.disconnect?.());
