/** Runs scripts of package.json in parallel: `node scripts/side-by-side.ts lint types`. Fails if one of them fails. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** Runs a script and returns true if it succeeded. */
async function run(script: string): Promise<boolean> {
  const shell = process.platform === 'win32';
  const child = spawn('npm', ['run', '--silent', script], { stdio: 'inherit', shell });
  const [code] = await once(child, 'exit');
  return code === 0;
}

const results = await Promise.all(process.argv.slice(2).map(run));
process.exitCode = results.every((succeeded) => succeeded) ? 0 : 1;
