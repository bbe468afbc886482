/** Free space of the file system that holds a directory. */
import { statfs } from 'node:fs/promises';

/** Space of a file system, in bytes. */
export interface DiskSpace {
  /** What this user may still write. A reserve for root does not count. */
  readonly freeBytes: number;
  readonly sizeBytes: number;
}

/**
 * Returns the space of the file system that holds `directory`; null if it is unknown: no such directory, or a file
 * system that reports no size. It does not block the thread. On a network file system whose server does not answer,
 * the promise stays pending, and so does one thread of Node's pool: call again only after it has settled.
 */
export async function diskSpace(directory: string): Promise<DiskSpace | null> {
  try {
    const { bavail, blocks, bsize } = await statfs(directory);
    return blocks > 0 ? { freeBytes: bavail * bsize, sizeBytes: blocks * bsize } : null;
  } catch {
    return null;
  }
}
