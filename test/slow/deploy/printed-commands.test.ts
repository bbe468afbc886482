/** Commands in messages work as printed, however the program was started. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { after, describe, it } from 'node:test';
import { makeDataDir, removeDataDir } from '../../support/servers/server.ts';

const ROOT = resolve(import.meta.dirname, '../../..');

describe('a printed command', () => {
  const folder = join(makeDataDir(), 'a folder');
  after(() => removeDataDir(resolve(folder, '..')));
  mkdirSync(folder);
  for (const name of ['bin', 'build', 'node_modules', 'package.json', 'scripts', 'sdk', 'src']) {
    symlinkSync(join(ROOT, name), join(folder, name));
  }
  mkdirSync(join(folder, 'below'));
  mkdirSync(join(folder, 'path'));
  symlinkSync(join(ROOT, 'bin/phm'), join(folder, 'path/phm'));

  it('works as printed, from the directory it was printed in', () => {
    for (const [cwd, start, expected] of [
      [folder, 'bin/phm', 'bin/phm api-key issue'],
      [join(folder, 'below'), '../bin/phm', '../bin/phm api-key issue'],
      [folder, 'PATH="$PWD/path:$PATH" phm', 'phm api-key issue'],
      [folder, 'npm run -s phm --', 'npm run -s phm -- api-key issue'],
      [folder, 'PHM_DATA_DIR="$PWD/data" bin/phm', "PHM_DATA_DIR='"],
    ] as const) {
      const env = { PATH: process.env.PATH, HOME: folder, PHM_PORT: '0' };
      const create = `${start} account create --init --name A --plan research`;
      const made = spawnSync('sh', ['-c', create], { cwd, env, encoding: 'utf8' });
      const [, next = ''] = /Next:\n {2}(.*)\n$/.exec(made.stderr) ?? [];
      assert.ok(next.startsWith(expected), made.stderr);
      const path = `${join(folder, 'path')}:${process.env.PATH}`;
      const printed = execFileSync('sh', ['-c', next], {
        cwd,
        env: { ...env, PATH: path },
        stdio: 'pipe',
      });
      assert.match(printed.toString(), /^phmsk_live_\w+\n$/);
    }
  });

  it('can be pasted from the end of an error message', () => {
    const env = { PATH: process.env.PATH, PHM_DATA_DIR: join(folder, 'other data') };
    const options = { cwd: folder, env, encoding: 'utf8' } as const;
    const run = (command: string) => spawnSync('sh', ['-c', command], options);
    const make = `'${folder}/bin/phm' secret new`;
    assert.equal(run(make).status, 0);
    const [, rotate = ''] = /: (PHM_DATA_DIR=.*)\n$/.exec(run(make).stderr) ?? [];
    assert.match(run(rotate).stderr, /^Added version 2 /);
  });
});
