/** `phm assess-entropy` on files in a folder of the calling test file, at a fixed time. */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before } from 'node:test';
import { makeFolder, type RunResult, removeFolder, runCommand } from './run-command.ts';

interface EntropyFiles {
  /** Returns the path of a name in the folder. */
  readonly path: (name: string) => string;
  /** Writes a file, and returns its path. */
  readonly write: (name: string, content: Uint8Array) => string;
  readonly phm: (...args: string[]) => Promise<RunResult>;
}

/** Makes the folder before the tests, and removes it after them. */
export function entropyFiles(): EntropyFiles {
  let folder: string;
  before(() => {
    folder = makeFolder();
  });
  after(() => removeFolder(folder));
  const path = (name: string): string => join(folder, name);
  return {
    path,
    write: (name, content) => {
      writeFileSync(path(name), content);
      return path(name);
    },
    phm: (...args) => runCommand(['assess-entropy', ...args], { SOURCE_DATE_EPOCH: '1700000000' }),
  };
}
