/**
 * `phm-agent psk` at two sites on a key service: both have the same new key in each epoch, across kills, an outage and commands
 * that fail, and no key is written anywhere but where it belongs. The clock of both sites stands still until it is moved on. 3 min.
 */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type PskSite, PskSites } from '../support/agents/psk-sites.ts';
import { until } from '../support/run/until.ts';

describe('a key that two sites rotate', () => {
  const sites = new PskSites();
  const { paris, lyon } = sites;
  const keys = new Set<string>();

  const keyFile = ({ folder }: PskSite): string => join(folder, 'key');
  const keyOf = (site: PskSite): string => readFileSync(keyFile(site), 'utf8');

  /** Paris has its key in a file, lyon by a command that confirms it, too. */
  async function start(site: PskSite): Promise<void> {
    if (site === paris) return site.start('--format', 'wireguard', '--output', keyFile(site));
    const script = join(site.folder, 'install.cjs');
    writeFileSync(
      script,
      `const { existsSync, readFileSync, writeFileSync } = require('node:fs');
       if (existsSync(${JSON.stringify(join(site.folder, 'refuse'))})) process.exit(1);
       writeFileSync(${JSON.stringify(keyFile(site))}, readFileSync(0), { mode: 0o600 });`,
    );
    const confirm = `'${process.execPath}' -e 'process.exit(require("node:fs").existsSync("${site.folder}/deny") ? 1 : 0)'`;
    const exec = `'${process.execPath}' '${script}'`;
    await site.start('--format', 'wireguard', '--exec', exec, '--confirm', confirm);
  }

  function assertNewKey(): void {
    const [one, other] = [keyOf(paris), keyOf(lyon)];
    assert.equal(one, other);
    assert.match(one, /^[A-Za-z0-9+/]{43}=\n$/);
    assert.ok(!keys.has(one), 'the key is an old one');
    keys.add(one);
  }

  /** Goes on to the next epoch, and waits until both use its key. */
  async function rotate(): Promise<void> {
    await sites.ahead();
    sites.clock.nextEpoch();
    await sites.inUse();
    assertNewKey();
  }

  before(async () => {
    await sites.start();
    await Promise.all(sites.both.map(start));
  });
  after(() => sites.stop());

  it('is a new one in each epoch', async () => {
    for (let i = 0; i < 2; i += 1) await rotate();
    assert.equal(statSync(keyFile(paris)).mode & 0o777, 0o600);
  });

  it('is there again after a kill, and goes on', async () => {
    await Promise.all(sites.both.map((site) => site.end('SIGKILL')));
    const old = keyOf(paris);
    for (const site of sites.both) rmSync(keyFile(site));
    await Promise.all(sites.both.map(start));
    await until('both have their key again', () =>
      sites.both.every((site) => existsSync(keyFile(site)) && keyOf(site) === old),
    );
    await rotate();
  });

  it('goes on while the service is away, for three epochs', async () => {
    await sites.ahead();
    const { port } = new URL(sites.server.address);
    await sites.server.stop();
    for (let i = 0; i < 3; i += 1) {
      sites.clock.nextEpoch();
      await sites.inUse();
      assertNewKey();
    }
    await sites.startServer(port);
    await rotate();
  });

  it('comes back where the new one is not confirmed', async () => {
    await sites.ahead();
    const old = keyOf(lyon);
    writeFileSync(join(lyon.folder, 'deny'), '');
    sites.clock.nextEpoch();
    await until('lyon has the new key', () => keyOf(lyon) !== old);
    // Until two parts of the epoch are over.
    sites.clock.move(250_000);
    await until('lyon has the old key again', () => keyOf(lyon) === old);
    rmSync(join(lyon.folder, 'deny'));
    keys.add(keyOf(paris));
    await rotate();
  });

  it('stays where the command fails', async () => {
    await sites.ahead();
    const old = keyOf(lyon);
    writeFileSync(join(lyon.folder, 'refuse'), '');
    sites.clock.nextEpoch();
    await until(
      'lyon has tried',
      async () => (await lyon.figure('psk_install_failures_total')) > 0,
    );
    assert.equal(keyOf(lyon), old);
    rmSync(join(lyon.folder, 'refuse'));
    await sites.inUse();
    assertNewKey();
  });

  it('is in no log, record or database', async () => {
    const folders = [join(paris.folder, 'state'), join(lyon.folder, 'state'), sites.dataDir];
    const files = folders
      .flatMap((one) => readdirSync(one).map((name) => join(one, name)))
      .filter((path) => statSync(path).isFile());
    assert.ok(files.length > 3, files.join());
    const logs = Buffer.from(JSON.stringify([paris.lines, lyon.lines]));
    const written = [...files.map((path) => readFileSync(path)), logs];
    assert.ok(keys.size >= 8);
    for (const key of keys) {
      const bytes = Buffer.from(key, 'base64');
      for (const form of [bytes, Buffer.from(bytes.toString('hex')), Buffer.from(key.trim())]) {
        assert.ok(!written.some((content) => content.includes(form)));
      }
    }
  });
});
