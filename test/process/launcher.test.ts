/** The name of the program in the commands that its messages print. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { asStarted, commandLine, findLauncher } from '../../src/process/launcher.ts';

describe('the launcher', () => {
  const argv = ['/usr/bin/node', '/opt/my phm/src/main.ts'];
  const npm = { npm_command: 'run-script', npm_config_local_prefix: '/opt/phm' };

  it('is the program that the user started', () => {
    const cases: [Record<string, string>, string][] = [
      [{}, "/usr/bin/node '/opt/my phm/src/main.ts'"],
      [{ _PHM: 'bin/phm' }, 'bin/phm'],
      [{ _PHM: "/o'k/phm" }, "'/o'\\''k/phm'"],
      [{ _PHM: '/opt/phm/node_modules/.bin/phm', npm_lifecycle_event: 'npx' }, 'npx phm'],
      [{ ...npm, INIT_CWD: '/opt/phm/docs' }, 'npm run -s phm --'],
      [{ ...npm, INIT_CWD: '/home/ada' }, 'npm --prefix /opt/phm run -s phm --'],
    ];
    for (const [env, expected] of cases) assert.equal(findLauncher(env, argv), expected);
  });

  it('repeats the variable that names the store, but never a URL with a password', () => {
    const line = (env: Record<string, string>, words = 'api-key list') =>
      commandLine({ env, launcher: 'phm' }, words);
    assert.equal(line({}), 'phm api-key list');
    assert.equal(line({ PHM_DATA_DIR: '/my data' }), "PHM_DATA_DIR='/my data' phm api-key list");
    assert.equal(line({ PHM_DATA_DIR: '/d' }, 'generate'), 'phm generate');
    assert.equal(line({ PHM_DATA_DIR: '/d' }, 'keys list'), 'phm keys list');
    const url = { PHM_DATABASE_URL: 'postgres://a:b@c/d', PHM_DATA_DIR: '/d' };
    assert.equal(line(url), 'phm api-key list');
    const file = { PHM_DATABASE_URL_FILE: '/run/url', PHM_DATA_DIR: '/d' };
    assert.equal(line(file), 'PHM_DATABASE_URL_FILE=/run/url phm api-key list');
  });

  it('rewrites whole commands at the end of a message', () => {
    const here = { env: { PHM_DATA_DIR: '/d' }, launcher: 'bin/phm' };
    assert.equal(
      asStarted('To list: phm api-key list', here),
      'To list: PHM_DATA_DIR=/d bin/phm api-key list',
    );
    assert.equal(asStarted('To list: phm keys list', here), 'To list: bin/phm keys list');
  });
});
