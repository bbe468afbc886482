/** Nothing but the program's own words reaches its standard error, and no other warning is lost. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { describe, it } from 'node:test';

const SOURCE = new URL('../../../src/', import.meta.url);
const FILTER = new URL('../../../packages/platform/src/threads/index.ts', import.meta.url);

/** Uses every experimental part of the platform that sealed keys and receipts rest on. */
const USE = `
  const { newRecipient } = await import('${new URL('../../../packages/sealing/src/index.ts', import.meta.url)}');
  for (const suite of ['MLKEM768-X25519', 'ML-KEM-1024']) await newRecipient(suite);
  await crypto.subtle.generateKey('ML-DSA-44', false, ['sign', 'verify']);`;

/** Returns standard error of a program. */
function stderrOf(program: string): string {
  const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
    encoding: 'utf8',
  });
  assert.equal(status, 0, stderr);
  return stderr;
}

describe('warnings of Node', () => {
  it('are printed about the Web Crypto API without the filter', () => {
    assert.match(stderrOf(USE), /ExperimentalWarning: The ML-KEM-1024 Web Crypto API algorithm/);
  });

  it('are dropped about the Web Crypto API, and no others', () => {
    const stderr = stderrOf(`
      const { dropWebCryptoWarnings } = await import('${FILTER}');
      dropWebCryptoWarnings();
      ${USE}
      process.emitWarning('something else', 'ExperimentalWarning');
      process.emitWarning('a plain one');
      process.emitWarning('in an object', { type: 'Sort', code: 'C' });`);
    const kinds = [...stderr.matchAll(/^\(node:\d+\) (.*)$/gm)].map(([, text]) => text);
    assert.deepEqual(kinds, [
      'ExperimentalWarning: something else',
      'Warning: a plain one',
      '[C] Sort: in an object',
    ]);
  });

  it('are dropped in the threads of the service', () => {
    const thread = `
      const { runThread } = await import('${new URL('service/threads/run-thread.ts', SOURCE)}');
      await runThread(async (port) => { ${USE} process.emitWarning('still shown'); port.close(); });`;
    const stderr = stderrOf(`
      const { Worker } = await import('node:worker_threads');
      new Worker(new URL('data:text/javascript,' + encodeURIComponent(${JSON.stringify(thread)})));`);
    assert.match(stderr, /^\(node:\d+\) Warning: still shown$/m);
    assert.doesNotMatch(stderr, /Experimental/);
  });

  it('are lines of a JSON log, in threads too', () => {
    const log = new URL('process/process-log.ts', SOURCE);
    const thread = `
      const { logThreadWarnings } = await import('${log}');
      logThreadWarnings();
      process.emitWarning('in a thread');`;
    const stderr = stderrOf(`
      const { jsonLines, logWarnings } = await import('${log}');
      const { Worker } = await import('node:worker_threads');
      logWarnings(jsonLines((line) => process.stderr.write(line)));
      process.emitWarning('in the main thread');
      const code = ${JSON.stringify(thread)};
      new Worker(new URL('data:text/javascript,' + encodeURIComponent(code)), { name: 'staged' });`);
    assert.deepEqual(
      stderr
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line))
        .map(({ level, reason, thread: name, msg }) => [level, reason, name, msg]),
      [
        [40, 'in the main thread', undefined, 'Node warns'],
        [40, 'in a thread', 'staged', 'Node warns'],
      ],
    );
  });
});
