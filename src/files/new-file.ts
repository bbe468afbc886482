/** Creates files that the setup must not replace. */
import { existsSync } from 'node:fs';
import { DurableFile, linkProblem, writeFailure } from '#platform/files';
import { SetupError } from '../errors.ts';

/**
 * Creates a file at `path` with the content that `write` puts into the temporary file. Returns what `write`
 * returns. Throws what `write` throws, and `SetupError` if the file exists or cannot be created.
 */
export async function writeNewFile<T>(
  path: string,
  write: (temporary: string) => Promise<T>,
): Promise<T> {
  // Checked before the work, because copying a large database takes seconds.
  if (existsSync(path)) throw exists(path);
  const problem = linkProblem(path);
  if (problem !== null) throw new SetupError(problem);
  let file: DurableFile | undefined;
  try {
    file = new DurableFile(path);
    const result = await write(file.temporary);
    file.putInPlace({ replace: false });
    return result;
  } catch (error) {
    throw setupError(path, error);
  } finally {
    file?.discard();
  }
}

function setupError(path: string, error: unknown): unknown {
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (syscall === undefined) return error;
  if (code === 'EEXIST') return exists(path);
  return new SetupError(`cannot write ${path}: ${writeFailure(error)}`);
}

function exists(path: string): SetupError {
  return new SetupError(`${path} exists and is never replaced: move it away, or name another file`);
}
