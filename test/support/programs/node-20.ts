/** Node 20, the oldest version that the packages for other projects run on. */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** The machine's own Node 20, beside this project's Node. */
export function findNode20(): string | undefined {
  return (process.env.PATH ?? '')
    .split(delimiter)
    .map((folder) => join(folder, 'node'))
    .filter((path) => existsSync(path) && !path.includes('node_modules'))
    .find((path) => execFileSync(path, ['--version'], { encoding: 'utf8' }).startsWith('v20.'));
}
