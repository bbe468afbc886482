/** Files and directories of a server, which no other user may have made or may change. */
import { fileProblem, linkProblem, otherOwner } from '#platform/files';
import { SetupError } from '../errors.ts';

/** Throws `SetupError` unless this process may believe the file. A missing file is nobody's. */
export function requireOwnFile(path: string): void {
  const problem = fileProblem(path);
  if (problem !== null) throw new SetupError(problem);
}

/**
 * Returns why this process must not keep the data of a server in a directory, with what to do; null if it may, or if there
 * is none.
 */
export function dataDirectoryProblem(path: string): string | null {
  const uid = otherOwner(path);
  if (linkProblem(path) !== null || uid === null) return linkProblem(path);
  return `the data directory ${path} belongs to another user (uid ${uid}): run this as that user, or name another in PHM_DATA_DIR`;
}
