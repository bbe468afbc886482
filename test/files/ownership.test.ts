/**
 * What another user planted, or may change, is not the state of this user. The cases need files of other users, so they
 * run as root.
 */

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import {
  directoryProblem,
  fileProblem,
  linkProblem,
} from '../../packages/platform/src/files/ownership.ts';
import { formatState, newState } from '../../src/cli/client/batch/state.ts';
import { dataDirectoryProblem } from '../../src/files/own-file.ts';
import { readLogKeys, readMasterSecret } from '../../src/setup/index.ts';
import { LogLedger } from '../support/ledgers/log-ledger.ts';
import { type RunResult, runCommand } from '../support/servers/run-command.ts';

const MALLORY = 54_321;
const skip = process.getuid?.() === 0 ? false : 'only root can make files of other users';

describe('files of other users', { skip }, () => {
  let root: string;
  before(() => {
    root = mkdtempSync(join(tmpdir(), 'phm-own-'));
  });
  after(() => rmSync(root, { recursive: true, force: true }));

  let count = 0;
  const fresh = (): string => {
    const folder = join(root, `f${++count}`);
    mkdirSync(folder);
    return folder;
  };
  const put = (path: string, owner: number, mode = 0o600, content = 'x'): string => {
    writeFileSync(path, content);
    chownSync(path, owner, owner);
    chmodSync(path, mode);
    return path;
  };
  const directory = (path: string, owner: number, mode = 0o755): string => {
    mkdirSync(path);
    chownSync(path, owner, owner);
    chmodSync(path, mode);
    return path;
  };

  it('are not believed, nor files that everyone may change', () => {
    const folder = fresh();
    assert.equal(fileProblem(put(join(folder, 'own'), 0)), null);
    assert.equal(fileProblem(join(folder, 'missing')), null);
    assert.match(
      fileProblem(put(join(folder, 'theirs'), MALLORY)) ?? '',
      /another user \(uid 54321\)/,
    );
    assert.match(
      fileProblem(put(join(folder, 'open'), 0, 0o666)) ?? '',
      /every user .* can change/,
    );
  });

  it('are not believed as named pipes either, to which their owner may write', () => {
    const folder = fresh();
    const pipe = (name: string, owner: number, mode: number): string => {
      const path = join(folder, name);
      spawnSync('mkfifo', [path]);
      chownSync(path, owner, owner);
      chmodSync(path, mode);
      return path;
    };
    assert.equal(fileProblem(pipe('own', 0, 0o600)), null);
    assert.match(fileProblem(pipe('theirs', MALLORY, 0o644)) ?? '', /another user \(uid 54321\)/);
    assert.match(fileProblem(pipe('open', 0, 0o666)) ?? '', /every user .* can change/);
    assert.equal(fileProblem('/dev/null'), null);
  });

  it('are believed where only root could have placed them, as in a container', () => {
    const mount = mkdtempSync('/opt/phm-own-');
    try {
      chmodSync(mount, 0o755);
      assert.equal(fileProblem(put(join(mount, 'secret'), MALLORY)), null);
      assert.equal(dataDirectoryProblem(directory(join(mount, 'data'), MALLORY)), null);
      assert.equal(fileProblem(put(join(mount, 'data', 'master.key'), MALLORY)), null);
      const below = directory(join(mount, 'data', 'below'), MALLORY);
      assert.notEqual(fileProblem(put(join(below, 'master.key'), MALLORY)), null);
      assert.notEqual(dataDirectoryProblem(below), null);
    } finally {
      rmSync(mount, { recursive: true });
    }
  });

  it('lead nowhere by a link, at any part of a path', () => {
    const folder = fresh();
    const link = join(folder, 'link');
    symlinkSync(fresh(), link);
    assert.equal(linkProblem(join(link, 'file')), null);
    spawnSync('chown', ['-h', String(MALLORY), link]);
    for (const path of [link, join(link, 'file'), join(link, 'a', 'b')]) {
      assert.match(linkProblem(path) ?? '', /link of another user/);
    }
    const outer = join(folder, 'outer');
    symlinkSync('link/file', outer);
    assert.match(linkProblem(outer) ?? '', /link of another user/);
  });

  it('are kept out of a directory for keys, and out of those above it', () => {
    const folder = fresh();
    assert.equal(directoryProblem(directory(join(folder, 'own'), 0)), null);
    assert.equal(directoryProblem(directory(join(folder, 'ours'), 0, 0o775)), null);
    for (const [name, owner, mode] of [
      ['theirs', MALLORY, 0o755],
      ['open', 0, 0o777],
      ['sticky', 0, 0o1777],
    ] as const) {
      assert.notEqual(directoryProblem(directory(join(folder, name), owner, mode)), null, name);
    }
    const shared = directory(join(folder, 'shared'), 0, 0o775);
    chownSync(shared, 0, MALLORY);
    assert.match(directoryProblem(shared) ?? '', /its group 54321 can write/);
    const above = directory(join(folder, 'above'), MALLORY);
    assert.match(directoryProblem(directory(join(above, 'own'), 0)) ?? '', /can be replaced/);
    assert.equal(directoryProblem(directory(join(folder, 'sticky', 'own'), 0, 0o700)), null);
    assert.match(directoryProblem(join(above, 'missing')) ?? '', /can be replaced/);
  });

  const refused = async (args: readonly string[], env = {}): Promise<string> => {
    const { code, stdout, stderr } = await runCommand(args, {
      PHM_URL: 'http://127.0.0.1:9',
      ...env,
    });
    assert.equal(stdout, '');
    assert.notEqual(code, 0, stderr);
    return stderr;
  };

  it('are no keys of a run that another user planted', async () => {
    const planted = directory(join(fresh(), 'keys'), MALLORY);
    const options = {
      '--url': 'http://127.0.0.1:9',
      '--count': 2,
      '--level': 256,
      '--format': 'hex',
    };
    const state = { ...newState(options, 'f'), made: 2, completedMs: 1e12 };
    put(join(planted, 'batch.json'), MALLORY, 0o644, formatState(state));
    const args = ['generate', '--count', '2', '--output-dir', planted];
    assert.match(await refused(args), /belongs to another user.*name a directory of your own/);
  });

  it('give no master secret to a new ledger', async () => {
    const folder = fresh();
    const secret = `1:${'ab'.repeat(32)}\n`;
    const create = ['account', 'create', '--init', '--name', 'A', '--plan', 'research'];
    const planted = directory(join(folder, 'planted'), MALLORY, 0o777);
    put(join(planted, 'master.key'), MALLORY, 0o644, secret);
    assert.match(await refused(create, { PHM_DATA_DIR: planted }), /belongs to another user/);
    const mixed = directory(join(folder, 'mixed'), 0, 0o777);
    put(join(mixed, 'master.key'), MALLORY, 0o644, secret);
    assert.match(await refused(create, { PHM_DATA_DIR: mixed }), /master\.key belongs to another/);
    const known = directory(join(folder, 'known'), 0);
    put(join(known, 'master.key'), 0, 0o644, secret);
    assert.match(await refused(create, { PHM_DATA_DIR: known }), /every user .* can read/);
    const fresh0 = directory(join(folder, 'fresh'), MALLORY, 0o777);
    assert.match(await refused(['secret', 'new'], { PHM_DATA_DIR: fresh0 }), /belongs to another/);
    assert.ok(!existsSync(join(fresh0, 'master.key')));
  });

  it('are no API key, recipient, backup, policy of a monitor, and take no file', async () => {
    const folder = fresh();
    const file = put(join(folder, 'file'), MALLORY, 0o644);
    const link = join(folder, 'link');
    symlinkSync(join(folder, 'target'), link);
    spawnSync('chown', ['-h', String(MALLORY), link]);
    const data = join(folder, 'data');
    const sample = put(join(folder, 'sample'), 0, 0o600, 'a'.repeat(100));
    for (const [args, env] of [
      [['keys', 'list'], { PHM_API_KEY_FILE: file }],
      [['open', sample, '--recipient-key', file], {}],
      [['ledger', 'restore', file, '--init'], { PHM_DATA_DIR: data }],
      [['import', file, '--init'], { PHM_DATA_DIR: data }],
      [['log', 'check', '--state', file], { PHM_DATA_DIR: data }],
      [['generate', '--output', link, '--force'], {}],
      [['generate', '--receipt', join(link, 'x')], {}],
      [['recipient', 'new', '--output', join(link, 'x')], {}],
      [['assess', sample, '--bits', '128', '--html', link], {}],
      [['assess', sample, '--bits', '128', '--nist-report', link], {}],
    ] as const) {
      assert.match(await refused(args, env), /another user \(uid 54321\)/, args.join(' '));
    }
    assert.ok(!existsSync(join(folder, 'target')));
  });

  it('are no database, log keys or state of a server', async () => {
    const ledger = await LogLedger.create();
    try {
      await ledger.addKeys(1);
      await ledger.publish();
      const run = (): Promise<RunResult> => ledger.run('log', 'check');
      assert.equal((await run()).code, 0);
      for (const path of [join(ledger.dataDir, 'phm.db'), ledger.stateFile]) {
        chownSync(path, MALLORY, MALLORY);
        const { code, stderr } = await run();
        assert.equal(code, 1, path);
        assert.match(stderr, /another user/, path);
        chownSync(path, 0, 0);
      }
      assert.equal((await run()).code, 0);
      const path = put(join(ledger.folder, 'key'), MALLORY);
      assert.throws(() => readLogKeys({ kind: 'managed', path }), /another user/);
      await assert.rejects(readMasterSecret({ kind: 'file', path }), /another user/);
    } finally {
      await ledger.remove();
    }
  });
});
