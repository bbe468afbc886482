/** The file beside the state file, with a checkpoint that others show and that the database does not continue. */
import { rmSync } from 'node:fs';
import { readNote, writeState } from '../../log/index.ts';
import type { ShownFile } from './shown.ts';

/** Returns the path of that file. */
export function shownPath(stateFile: string): string {
  return `${stateFile}.seen`;
}

export function shownFileAt(stateFile: string): ShownFile {
  const path = shownPath(stateFile);
  return {
    path,
    read: () => readNote(path),
    write: (note) => writeState(path, note),
    remove: () => rmSync(path, { force: true }),
  };
}
