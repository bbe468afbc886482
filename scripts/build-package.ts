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
// This is the project's compiler; sdk/node_modules has an older one for openapi-typescript.
execFileSync(join(root, 'node_modules/.bin/tsc'), ['-p', '.'], {
  stdio: 'inherit',
  shell: process.platform === 'win32',
});
cpSync(join(root, 'LICENSE'), 'LICENSE');

// npm packs the existing paths of `files` and ignores missing ones silently.
const { files } = JSON.parse(readFileSync('package.json', 'utf8')) as { files: string[] };
const missing = files.filter((path) => !existsSync(path));
if (missing.length > 0) throw new Error(`${missing.join(', ')} is missing: run "npm run build"`);
