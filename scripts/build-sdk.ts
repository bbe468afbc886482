/**
 * Makes what the package in sdk/ holds: the client as JavaScript and types. `npm run build --workspace sdk`
 * and `npm pack --workspace sdk` run it.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = new URL('../', import.meta.url);
const sdk = new URL('sdk/', root);

rmSync(new URL('dist', sdk), { recursive: true, force: true });
// The project's compiler: the older one in sdk/node_modules is there for openapi-typescript.
const compiler = fileURLToPath(new URL('node_modules/.bin/tsc', root));
execFileSync(compiler, ['-p', fileURLToPath(sdk)], {
  stdio: 'inherit',
  shell: process.platform === 'win32',
});
cpSync(new URL('LICENSE', root), new URL('LICENSE', sdk));
