/** The program's first file: with compiled code in its folder, Node compiles nothing, and loads no compiler. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { describe, it } from 'node:test';
import { MAIN } from '../support/servers/server.ts';

/** Reports at the end whether Node has loaded its compiler of types. */
const REPORT = `process.on('exit', () => {
  process.stderr.write(String(process.moduleLoadList.some((name) => name.includes('amaro'))));
});`;

const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(REPORT)}`;

/** Runs the program as users do, with its own folder of compiled code. */
function loadsCompiler(file: string): boolean {
  const { PATH } = process.env;
  const options = { env: { PATH, NODE_OPTIONS }, encoding: 'utf8', stdio: 'pipe' } as const;
  const script = `"${process.execPath}" "${file}" --version 2>&1 >/dev/null`;
  const output = execFileSync('/bin/sh', ['-c', script], options);
  assert.match(output, /^(?:true|false)$/);
  return output === 'true';
}

describe('the first file of the program', () => {
  it('loads no compiler of types once its code was compiled', () => {
    loadsCompiler(MAIN);
    assert.equal(loadsCompiler(MAIN), false);
  });
});
