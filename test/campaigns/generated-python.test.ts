/** A client that openapi-python-client generates from the document of a live server, against that server. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { after, before, describe, it } from 'node:test';
import {
  argumentsFor,
  assertPrinted,
  startForClients,
} from '../support/clients/generated-client.ts';
import { sharedPython } from '../support/programs/python.ts';
import { makeDataDir, removeDataDir, type Server } from '../support/servers/server.ts';

const GENERATED = resolve(import.meta.dirname, '../generated');
const PROGRAM = join(GENERATED, 'python.py');
const { python, skip } = await sharedPython('generated');

describe('a client by openapi-python-client', { skip }, () => {
  const project = mkdtempSync(join(tmpdir(), 'generated-'));
  const client = join(project, 'client');
  const dataDir = makeDataDir();
  let server: Server;

  before(async () => {
    server = await startForClients(dataDir);
  });
  after(async () => {
    await server.stop();
    removeDataDir(dataDir);
    rmSync(project, { recursive: true, force: true });
  });

  /** Runs a module or a program that can import the client. Returns both outputs together. */
  function run(args: readonly string[]): Promise<string> {
    const env = {
      ...process.env,
      // The generator formats its output with ruff, which it looks up on the path.
      PATH: `${dirname(python)}${delimiter}${process.env.PATH}`,
      PYTHONPATH: client,
      MYPYPATH: client,
    };
    return new Promise((done, fail) => {
      execFile(python, args, { cwd: project, env }, (error, stdout, stderr) => {
        if (error) fail(new Error(`${args.join(' ')}:\n${stdout}${stderr}`));
        else done(`${stdout}${stderr}`);
      });
    });
  }

  it('is generated without a warning', async () => {
    const url = `${server.address}/api/v2/openapi.json`;
    const generate = ['-m', 'openapi_python_client', 'generate', '--url', url];
    const said = await run([...generate, '--output-path', client, '--fail-on-warning']);
    assert.doesNotMatch(said, /warning/i);
  });

  it('has types that match the program that uses it', async () => {
    assert.match(await run(['-m', 'mypy', '--strict', PROGRAM]), /^Success: no issues found/);
  });

  it('reads a key, a validation, metrics, and the problems of 400, 401, 429 and 503', async () => {
    assertPrinted(await run([PROGRAM, ...argumentsFor(server)]));
  });
});
