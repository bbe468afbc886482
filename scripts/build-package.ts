/**
 * Emits the package in the working directory as JavaScript and types, and adds the project's licence.
 * `npm pack` runs it in each package (`prepack`).
 */
import { execFileSync } from 'node:child_process';
import { cpSync, rmSync } from 'node:fs';
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
