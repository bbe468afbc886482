/**
 * The client commands as processes: pipes, terminals, signals, and output that cannot be written. 6 s.
 * `test/slow/clients/client-commands.test.ts` tests their messages.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { buffer, text } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { ANY_ANSWER } from '../../sdk/support.ts';
import { answers, ScriptedServer, staysSilent } from '../../support/clients/scripted-server.ts';
import { makeCertificate } from '../../support/servers/certificate.ts';
import {
  DEMO_KEY,
  type Environment,
  MAIN,
  makeDataDir,
  removeDataDir,
  Server,
} from '../../support/servers/server.ts';

let server: Server;
let folder: string;
before(async () => {
  folder = makeDataDir();
  server = await Server.start(folder, { PHM_RATE_LIMITS: 'off' });
});
after(async () => {
  await server?.stop();
  removeDataDir(folder);
});

interface Start {
  readonly stdout?: 'pipe' | number;
  readonly url?: string;
  readonly env?: Environment;
}

/** Starts `phm` with the demo key. */
function phm(
  args: readonly string[],
  { stdout = 'pipe', url = server.address, env = {} }: Start = {},
): ChildProcess {
  return spawn(process.execPath, [MAIN, ...args], {
    cwd: folder,
    env: { PHM_URL: url, PHM_API_KEY: DEMO_KEY, ...env },
    stdio: ['pipe', stdout, 'pipe'],
  });
}

async function endOf(child: ChildProcess): Promise<{ code: number; stderr: string }> {
  const closed = once(child, 'close');
  const stderr = child.stderr ? await text(child.stderr) : '';
  const [code] = await closed;
  return { code, stderr };
}

describe('phm generate with redirected output', () => {
  it('writes bytes that validate accepts', async () => {
    const made = phm(['generate', '--format', 'raw']);
    assert.ok(made.stdout);
    const [bytes, { code, stderr }] = await Promise.all([buffer(made.stdout), endOf(made)]);
    assert.deepEqual([code, stderr, bytes.length], [0, '', 32]);
    const asked = phm(['validate', '-']);
    asked.stdin?.end(bytes);
    assert.deepEqual(await endOf(asked), { code: 0, stderr: '' });
  });

  const lost =
    /^phm: the output cannot be written\nThe key phm_\d+ was generated and counted, but it is lost: .*\n$/;

  const skip = !existsSync('/dev/full') && 'there is no /dev/full';
  it('names the lost key if the disk is full', { skip }, async () => {
    const full = openSync('/dev/full', 'w');
    try {
      const { code, stderr } = await endOf(phm(['generate'], { stdout: full }));
      assert.equal(code, 1);
      assert.match(stderr, lost);
    } finally {
      closeSync(full);
    }
  });

  it('names the lost key if the reader has closed the pipe', async () => {
    const child = phm(['generate']);
    child.stdout?.destroy();
    const { code, stderr } = await endOf(child);
    assert.equal(code, 1);
    assert.match(stderr, lost);
  });

  it('exits at once on Ctrl-C and removes its file', async () => {
    const silent = await ScriptedServer.start(staysSilent);
    try {
      const child = phm(['generate', '--output', 'cut.key'], { url: silent.address });
      await silent.requests(1);
      assert.equal(statSync(join(folder, 'cut.key')).mode & 0o777, 0o600);
      child.kill('SIGINT');
      const { code, stderr } = await endOf(child);
      assert.equal(code, 1);
      assert.match(stderr, /^phm: interrupted\nA key may have been generated and counted/);
      assert.ok(!existsSync(join(folder, 'cut.key')));
    } finally {
      await silent.stop();
    }
  });
});

describe('phm over TLS', () => {
  it('trusts the authorities of NODE_EXTRA_CA_CERTS and names that variable', async () => {
    const [cert, key] = [join(folder, 'tls.crt'), join(folder, 'tls.key')];
    makeCertificate(cert, key);
    const options = { cert: readFileSync(cert), key: readFileSync(key) };
    const secure = createServer(options, (_, response) => answers(ANY_ANSWER)(response));
    await once(secure.listen(0, '127.0.0.1'), 'listening');
    try {
      const url = `https://localhost:${(secure.address() as AddressInfo).port}`;
      const untrusted = await endOf(phm(['metrics'], { url }));
      assert.equal(untrusted.code, 1);
      assert.match(
        untrusted.stderr,
        /^phm: the service cannot be reached at https:\S+ \(\w*CERT\w*\)\n.*NODE_EXTRA_CA_CERTS/,
      );
      const env = { NODE_EXTRA_CA_CERTS: cert };
      assert.deepEqual(await endOf(phm(['metrics'], { url, env })), { code: 0, stderr: '' });
    } finally {
      secure.close();
      secure.closeAllConnections();
    }
  });
});

/** Runs `phm` on a terminal, which standard output and standard error share. */
function onTerminal(args: string, env: Environment = {}): { code: number | null; shown: string } {
  // `script` passes the command to a shell, and the path of the checkout may contain a space.
  const command = `'${process.execPath}' '${MAIN}' ${args}`;
  const base = { PHM_URL: server.address, PHM_API_KEY: DEMO_KEY, TERM: 'xterm' };
  const { status, stdout } = spawnSync('script', ['-qec', command, '/dev/null'], {
    env: { PATH: process.env.PATH, ...base, ...env },
    encoding: 'utf8',
  });
  return { code: status, shown: stdout.replaceAll('\r\n', '\n') };
}

const noTerminal =
  spawnSync('script', ['--version']).status !== 0 && 'there is no "script" of util-linux here';

describe('phm on a terminal', { skip: noTerminal }, () => {
  const view =
    /^[0-9a-f]{64}\nkey ID {3}phm_\d+\nlevel {4}256 bits\nstrength 256 bits\nentropy {2}[\d.]+ bits\nsource {3}os\ntests {4}(not run \(.+\)|\d+ of 1[35] passed, gate passed \(p = [\d.e-]+\))\nlatency {2}[\d.]+ ms\n(rating {3}PASS, [A-Z_]+, score \d+, grade [A-F] \(this service's own\)\n)?$/;

  it('shows the key on its own line, its properties, and no colours with NO_COLOR', () => {
    const { code, shown } = onTerminal('generate --validate', { NO_COLOR: '1' });
    assert.equal(code, 0);
    assert.match(shown, view);
    const coloured = onTerminal('generate').shown;
    assert.notEqual(coloured, stripVTControlCharacters(coloured));
    assert.match(stripVTControlCharacters(coloured), view);
  });

  it('rejects raw output before a key is generated', async () => {
    const usage = async () => (await server.metrics()).body.metrics.usage.total_usage;
    const before = await usage();
    const { code, shown } = onTerminal('generate --format raw');
    assert.equal(code, 2);
    assert.match(shown, /cannot be written to a terminal/);
    assert.equal(await usage(), before);
  });

  it('shows keys over time', () => {
    const { code, shown } = onTerminal('metrics --hours 1');
    assert.equal(code, 0);
    assert.match(shown, /keys over time +[▁▂▃▄▅▆▇█ ]*█/);
  });
});
