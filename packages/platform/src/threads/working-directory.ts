/** Notices that the working directory was removed while the process ran: Node starts no thread there. */
import { statSync } from 'node:fs';

/** Reports whether the working directory was removed, also if another has its name since. */
export function isWorkingDirectoryGone(): boolean {
  try {
    // Node may remember the name.
    const [here, named] = [statSync('.'), statSync(process.cwd())];
    return here.ino !== named.ino || here.dev !== named.dev;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT';
  }
}
