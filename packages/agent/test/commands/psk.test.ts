/** The command line of `psk`: what it refuses, and a rotation until SIGTERM. */
import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { runProgram } from '../../src/commands/program.ts';
import { lockDirectory } from '../../src/store/lock.ts';
import { newFolder } from '../support/folders.ts';
import { LocalAgents, type Site } from '../support/local-agents.ts';

let agents: LocalAgents;
let site: Site;
const folder = newFolder();

async function run(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  const written = { out: '', err: '' };
  const code = await runProgram(args, {
    name: 'phm-agent',
    version: '0.1.0',
    env: {},
    out: (text) => {
      written.out += text;
    },
    err: (text) => {
      written.err += text;
    },
    boxesOf: () => agents.service.boxesFor(site.thumbprint),
  });
  return { code, ...written };
}

const USUAL = ['--peer', 'site-b', '--every', '300s', '--format', 'wireguard'];

const psk = (...args: string[]) => run('psk', site.configFile, ...args);

describe('phm-agent psk', () => {
  before(async () => {
    agents = await LocalAgents.create();
    site = (await agents.sites()).a;
    const config = { ...site.config };
    for (const name of ['systems', 'access', 'listeners', 'pools']) delete config[name];
    writeFileSync(site.configFile, JSON.stringify(config));
  });
  after(() => agents.stop());

  it('names what is wrong on the command line, and exits with 2', async () => {
    const file = join(folder, 'key');
    const output = ['--output', file];
    const cases: [readonly string[], RegExp][] = [
      [[], /required option '--peer <name>'/],
      [[...USUAL], /give --exec or --output/],
      [
        [...USUAL, ...output, '--exec', 'x'],
        /'--exec <cmd>' cannot be used with .*'--output <file>'/,
      ],
      [[...USUAL, '--exec', "x 'y"], /use words separated by spaces; each quote needs its end/],
      [[...USUAL, ...output, '--confirm', ''], /use words separated by spaces/],
      [[...USUAL, ...output, '--every', '299s'], /use a time from 300s to 24h/],
      [[...USUAL, ...output, '--every', '25h'], /use a time from 300s to 24h/],
      [[...USUAL, ...output, '--every', '5'], /use a time from 300s to 24h/],
      [
        [...USUAL, ...output, '--format', 'pem'],
        /Allowed choices are wireguard, strongswan-ppk, hex/,
      ],
      [
        [...USUAL, ...output, '--peer', 'site-c'],
        /--peer: the configuration has these peers: "site-b"/,
      ],
      [[...USUAL, '--output', '~/key'], /begins with "~"/],
      [[...USUAL, '--output', join(folder, 'no', 'key')], /--output: there is no directory/],
    ];
    for (const [args, message] of cases) {
      const { code, out, err } = await psk(...args);
      assert.deepEqual([code, out], [2, ''], `${args}: ${err}`);
      assert.match(err, message);
    }
  });

  it('puts no key where others can put files', async () => {
    const open = join(folder, 'open');
    mkdirSync(open);
    chmodSync(open, 0o777);
    const { code, err } = await psk(...USUAL, '--output', join(open, 'key'));
    assert.equal(code, 1);
    assert.match(err, /every user of this machine can write to .*: name a directory of your own/);
  });

  it('ends with 1 if another agent has the state directory', async () => {
    const lock = await lockDirectory(site.config.state_dir as string);
    const { code, err } = await psk(...USUAL, '--output', join(folder, 'key'));
    await lock.release();
    assert.equal(code, 1);
    assert.match(err, /another agent uses .*: one agent for a recipient/);
  });

  it('ends with 1 if its record is damaged', async () => {
    const file = join(site.config.state_dir as string, 'psk');
    writeFileSync(file, 'x');
    const { code, err } = await psk(...USUAL, '--output', join(folder, 'key'));
    assert.equal(code, 1);
    assert.match(err, /the record of keys is damaged/);
    writeFileSync(file, '');
  });

  it('is described by check and by help, and is not what run is for', async () => {
    const checked = await run('check', site.configFile);
    assert.equal(checked.code, 0);
    assert.match(checked.out, /^for psk with site-b, which has [A-Za-z0-9+/]{43}=$/m);
    const served = await run('run', site.configFile);
    assert.deepEqual([served.code, served.out], [2, '']);
    assert.match(served.err, /listeners, systems and access are missing: such a file is for psk/);
    const { code, out } = await run('psk', '--help');
    assert.equal(code, 0);
    for (const text of ['--confirm <cmd>', 'There is no shell', 'from 300s to 24h']) {
      assert.ok(out.includes(text), out);
    }
  });

  it('rotates until SIGTERM, with a record that names no key', async () => {
    const running = psk(...USUAL, '--output', join(folder, 'key'));
    const timer = setInterval(() => process.emit('SIGTERM'), 500);
    const { code, err } = await running;
    clearInterval(timer);
    assert.equal(code, 0, err);
    const lines = err
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    assert.deepEqual(
      lines.map(({ message }) => message),
      ['rotating', 'listening', 'stopping'],
    );
    assert.deepEqual([lines[0].peer, lines[0].seconds], ['site-b', 300]);
    assert.ok(['leader', 'follower'].includes(lines[0].role));
    const record = readFileSync(join(site.config.state_dir as string, 'psk'), 'utf8');
    if (lines[0].role === 'leader') assert.match(record, /"stage":"proposed"/);
  });
});
