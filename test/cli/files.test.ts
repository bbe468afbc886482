/** `phm decrypt` and `phm reseal`, offline: what they write, and one sentence for each failure. A guide runs `phm encrypt`. */
import assert from 'node:assert/strict';
import {
  chmodSync,
  lchownSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import * as files from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { fails, ScriptedServer } from '../support/clients/scripted-server.ts';
import { runCommand } from '../support/servers/run-command.ts';

interface FileVector {
  readonly recipient_key: { readonly private_key: string };
  readonly content: string;
  readonly file: string;
}

const [vector] = JSON.parse(
  readFileSync(new URL('../vectors/files/files.json', import.meta.url), 'utf8'),
) as [FileVector];

describe('phm decrypt and phm reseal', () => {
  let folder: string;
  const at = (name: string) => join(folder, name);

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'phm files-'));
    writeFileSync(at('a.txt.phm'), Buffer.from(vector.file, 'base64'));
    const secret = JSON.stringify(vector.recipient_key);
    writeFileSync(at('old.recipient-key'), secret, { mode: 0o600 });
    await runCommand(['recipient', 'new', '--output', at('new')]);
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const decrypt = (...args: string[]) =>
    runCommand(['decrypt', at('a.txt.phm'), '--recipient-key', at('old.recipient-key'), ...args]);

  it('write the content for its owner, and say with which key', async () => {
    const { code, stdout, stderr } = await decrypt();
    assert.deepEqual([code, stdout], [0, ''], stderr);
    assert.match(stderr, /^Decrypted .*a\.txt\.phm with the key phm_\d+, to .*a\.txt\.\n$/);
    assert.equal(readFileSync(at('a.txt'), 'utf8'), vector.content);
    assert.equal(statSync(at('a.txt')).mode & 0o777, 0o600);
  });

  it('give the file to another recipient', async () => {
    const old = ['--recipient-key', at('old.recipient-key')];
    const to = ['--to', at('new.recipient')];
    chmodSync(at('a.txt.phm'), 0o664);
    const resealed = await runCommand(['reseal', at('a.txt.phm'), ...old, ...to]);
    assert.equal(resealed.code, 0, resealed.stderr);
    assert.match(
      resealed.stderr,
      /^Sealed the key phm_\d+ of .* to the recipient [\w+/]{43}=, in /,
    );
    assert.equal(statSync(at('a.txt.phm')).mode & 0o777, 0o664);
    const refused = await decrypt();
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /The file is sealed to the recipient with the thumbprint /);
    const key = ['--recipient-key', at('new.recipient-key')];
    const opened = await runCommand(['decrypt', at('a.txt.phm'), ...key]);
    assert.equal(opened.code, 0, opened.stderr);
    assert.equal(readFileSync(at('a.txt'), 'utf8'), vector.content);
  });

  it('say that phm encrypt serves no account that is limited to registered recipients', async (t) => {
    const server = await ScriptedServer.start(fails('recipient_not_registered'));
    t.after(() => server.stop());
    writeFileSync(at('plain'), 'text');
    const command = ['encrypt', at('plain'), '--to', at('new.recipient'), '--url', server.address];
    const { code, stderr } = await runCommand(command);
    assert.equal(code, 1);
    assert.match(
      stderr,
      /^With phm generate: .*\. phm encrypt cannot encrypt for this account\.$/m,
    );
    assert.ok(!readdirSync(folder).some((name) => name.startsWith('plain.')));
  });

  it('name the output when the disk is full', async (t) => {
    const { getBuiltinModule } = process;
    // As Node reports it: of an open file, without a path.
    const full = { code: 'ENOSPC', syscall: 'writev' };
    const writev = () =>
      Promise.reject(Object.assign(new Error('ENOSPC: no space left on device, writev'), full));
    const open = async (...args: Parameters<typeof files.open>) =>
      Object.assign(await files.open(...args), { writev });
    t.mock.method(process, 'getBuiltinModule', (name: string) =>
      name === 'node:fs/promises' ? { ...files, open } : getBuiltinModule(name),
    );
    const { code, stderr } = await decrypt();
    assert.equal(code, 1);
    assert.equal(stderr, `phm: ${at('a.txt')} cannot be written: no space left\n`);
  });

  const isRoot = process.getuid?.() === 0;
  it('let no link of another user decide where an output goes', { skip: !isRoot }, async () => {
    symlinkSync(folder, at('theirs'));
    lchownSync(at('theirs'), 4711, 4711);
    const key = ['--recipient-key', at('old.recipient-key')];
    const to = ['--to', at('new.recipient')];
    for (const command of [
      ['decrypt', at('a.txt.phm'), ...key, '--output', at('theirs/x')],
      ['encrypt', at('a.txt.phm'), ...to, '--output', at('theirs/x')],
      ['reseal', at('theirs/a.txt.phm'), ...key, ...to],
    ]) {
      const { code, stderr } = await runCommand(command);
      assert.equal(code, 1);
      assert.match(stderr, /theirs is a link of another user \(uid 4711\)/);
    }
    assert.ok(!readdirSync(folder).includes('x'));
  });

  it('say what is wrong, and leave no output', async () => {
    writeFileSync(at('there'), 'mine');
    writeFileSync(at('other'), 'text');
    const key = ['--recipient-key', at('old.recipient-key')];
    const cases: readonly (readonly [string[], number, RegExp])[] = [
      [
        ['decrypt', at('a.txt.phm'), ...key, '--output', at('there')],
        1,
        /exists: name another with --output, or replace it with --force/,
      ],
      [
        ['decrypt', at('a.txt.phm'), ...key, '--output', folder, '--force'],
        1,
        /is not a regular file, and is not replaced: name another output/,
      ],
      [
        ['decrypt', at('other'), ...key],
        2,
        /other does not end with \.phm: name the output with --output/,
      ],
      [['decrypt', at('other'), ...key, '--output', at('x')], 1, /This is not an encrypted file/],
      [['decrypt', at('none.phm'), ...key], 1, /none\.phm cannot be read: /],
      [
        ['decrypt', at('a.txt.phm'), ...key, '--output', at('no/x')],
        1,
        /no\/x cannot be written: there is no such directory/,
      ],
      [
        ['decrypt', at('a.txt.phm'), '--recipient-key', at('new.recipient')],
        1,
        /holds only the public key/,
      ],
      [
        ['reseal', at('a.txt.phm'), ...key, '--to', at('new.recipient-key')],
        1,
        /holds a private key/,
      ],
      [['encrypt', at('other'), '--to', at('new.recipient-key')], 1, /holds a private key/],
      [
        ['decrypt', folder, ...key, '--output', at('x')],
        1,
        /phm files-\S+ cannot be read: it is a directory/,
      ],
    ];
    const before = readdirSync(folder).sort();
    for (const [command, expected, words] of cases) {
      const { code, stderr } = await runCommand(command);
      assert.equal(code, expected, stderr);
      assert.match(stderr, words);
      assert.doesNotMatch(stderr, /\n {4}at /);
      assert.ok(!stderr.includes(vector.recipient_key.private_key));
      assert.deepEqual(readdirSync(folder).sort(), before, command.join(' '));
    }
    assert.equal(readFileSync(at('there'), 'utf8'), 'mine');
    assert.equal((await decrypt('--output', at('there'), '--force')).code, 0);
    assert.equal(readFileSync(at('there'), 'utf8'), vector.content);
  });
});
