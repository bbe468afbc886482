/**
 * Emits the package in the working directory as JavaScript and types, and adds the project's licence.
 * `npm pack` runs it in each package (`prepack`).
 */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../', import.meta.url));

rmSync('dist', { recursive: true, force: true });
// The project's compiler: the older one in sdk/node_modules is there for openapi-typescript.
execFileSync(join(root, 'node_modules/.bin/tsc'), ['-p', '.'], {
  stdio: 'inherit',
  shell: process.platform === 'win32',
});
cpSync(join(root, 'LICENSE'), 'LICENSE');

// npm packs what there is of `files`, and says nothing of what is missing.
const { files } = JSON.parse(readFileSync('package.json', 'utf8')) as { files: string[] };
const missing = files.filter((path) => !existsSync(path));
if (missing.length > 0) throw new Error(`${missing.join(', ')} is missing: run "npm run build"`);
