/** Finds built pages, without what serves them. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** Reports whether a folder has a page. */
export function isBuilt(folder: string): boolean {
  return existsSync(join(folder, 'index.html'));
}
