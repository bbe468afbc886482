/** A client that openapi-typescript generates from the document of a live server, against that server. 3 s. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, before, describe, it } from 'node:test';
import {
  argumentsFor,
  assertPrinted,
  startForClients,
} from '../../support/clients/generated-client.ts';
import { makeDataDir, removeDataDir, type Server } from '../../support/servers/server.ts';

const ROOT = resolve(import.meta.dirname, '../../..');
const PROJECT = mkdtempSync(join(tmpdir(), 'generated-'));

const dataDir = makeDataDir();
let server: Server;

before(async () => {
  server = await startForClients(dataDir);
  copyFileSync(join(ROOT, 'test/generated/typescript.ts'), join(PROJECT, 'program.ts'));
  symlinkSync(join(ROOT, 'node_modules'), join(PROJECT, 'node_modules'), 'dir');
  writeFileSync(join(PROJECT, 'package.json'), '{"private": true, "type": "module"}');
});
after(async () => {
  await server.stop();
  removeDataDir(dataDir);
  rmSync(PROJECT, { recursive: true, force: true });
});

/** Runs a JavaScript program of a package. Returns both outputs together. */
function run(args: readonly string[]): Promise<string> {
  return new Promise((done, fail) => {
    execFile(process.execPath, args, { cwd: PROJECT }, (error, stdout, stderr) => {
      if (error) fail(new Error(`${args.join(' ')}:\n${stdout}${stderr}`));
      else done(`${stdout}${stderr}`);
    });
  });
}

describe('a client by openapi-typescript and openapi-fetch', () => {
  it('is generated without a warning', async () => {
    const generator = join(ROOT, 'sdk/node_modules/openapi-typescript/bin/cli.js');
    const url = `${server.address}/api/v2/openapi.json`;
    const said = await run([generator, url, '--output', 'schema.ts']);
    assert.doesNotMatch(said, /warn|⚠|error/i);
  });

  it('compiles under strict rules', async () => {
    const options = ['--strict', '--noEmit', '--exactOptionalPropertyTypes', '--noUnusedLocals'];
    const modules = ['--module', 'nodenext', '--allowImportingTsExtensions', '--types', 'node'];
    const compiler = join(ROOT, 'node_modules/typescript/bin/tsc');
    await run([compiler, ...options, ...modules, '--skipLibCheck', 'program.ts']);
  });

  it('reads a key, a validation, metrics, and the problems of 400, 401, 429 and 503', async () => {
    assertPrinted(await run(['program.ts', ...argumentsFor(server)]));
  });
});
