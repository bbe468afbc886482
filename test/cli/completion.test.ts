/** `phm completion`: runs the scripts in the shells. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { runCommand } from '../support/servers/run-command.ts';

let folder: string;
before(() => {
  folder = mkdtempSync(join(tmpdir(), 'completion-'));
});
after(() => rmSync(folder, { recursive: true, force: true }));

async function script(shell: string): Promise<string> {
  const { code, stdout, stderr } = await runCommand(['completion', shell]);
  assert.deepEqual([code, stderr], [0, '']);
  return stdout;
}

const missing = (shell: string): string | false =>
  spawnSync(shell, ['-c', 'true']).error ? `there is no ${shell} on this machine` : false;

describe('phm completion', () => {
  it('completes commands, options and their values in bash', {
    skip: missing('bash'),
  }, async () => {
    writeFileSync(join(folder, 'phm.bash'), await script('bash'));
    const complete = (...words: string[]): string[] => {
      const command = `. ./phm.bash
        COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
        _phm; printf '%s\\n' "\${COMPREPLY[@]}"`;
      const { stdout, stderr } = spawnSync(
        'bash',
        ['--norc', '-euc', command, 'bash', 'phm', ...words],
        {
          cwd: folder,
          encoding: 'utf8',
        },
      );
      assert.equal(stderr, '');
      return stdout.split('\n').filter((word) => word !== '');
    };
    assert.deepEqual(complete('gen'), ['generate']);
    assert.deepEqual(complete('key'), ['keys']);
    assert.deepEqual(complete('api-key', ''), [
      'issue',
      'list',
      'rotate',
      'find',
      'revoke',
      '--help',
    ]);
    assert.deepEqual(complete('keys', ''), ['list', 'show', 'revoke', '--help']);
    assert.deepEqual(complete('keys', 'revoke', '--reason', 's'), ['superseded']);
    assert.deepEqual(complete('keys', 'list', '--status', 'de'), ['deactivated']);
    assert.deepEqual(complete('generate', '--exp'), ['--expires-in', '--expires-at']);
    assert.deepEqual(complete('generate', '--expires-in', 'so'), []);
    assert.deepEqual(complete('account', 'create', '--pl'), ['--plan']);
    assert.deepEqual(complete('account', 'create', '--plan', 'p'), ['professional']);
    assert.deepEqual(complete('generate', '--validate', '--level', ''), ['128', '256', '384']);
    assert.deepEqual(complete('generate', '--format', 'ra'), ['raw']);
    assert.deepEqual(complete('generate', '--output', 'so'), []);
    assert.deepEqual(complete('completion', ''), ['bash', 'zsh', 'fish', '--help']);
    assert.deepEqual(complete('help', 'e'), ['environment']);
    assert.deepEqual(complete('assess', '--test', 'run'), ['runs']);
    assert.ok(complete('account', 'set-plan', 'acct_1', '').includes('enterprise'));
    // A file name in between is not a command.
    assert.ok(complete('assess', 'key', '--').includes('--bits'));
  });

  it('registers with bash, with files as the default', {
    skip: missing('bash'),
  }, async () => {
    writeFileSync(join(folder, 'phm.bash'), await script('bash'));
    const { stdout } = spawnSync('bash', ['--norc', '-c', '. ./phm.bash; complete -p phm'], {
      cwd: folder,
      encoding: 'utf8',
    });
    assert.equal(stdout, 'complete -o default -F _phm phm\n');
  });

  for (const shell of ['zsh', 'fish']) {
    it(`prints a script that ${shell} can parse`, { skip: missing(shell) }, async () => {
      const path = join(folder, `phm.${shell}`);
      writeFileSync(path, await script(shell));
      const { status, stderr } = spawnSync(shell, ['-n', path]);
      assert.deepEqual([status, stderr.toString()], [0, '']);
    });
  }

  it('completes commands, options and their values in fish', {
    skip: missing('fish'),
  }, async () => {
    writeFileSync(join(folder, 'phm.fish'), await script('fish'));
    const complete = (line: string): string[] => {
      const command = `source phm.fish; complete -C '${line}'`;
      const { stdout } = spawnSync('fish', ['--no-config', '-c', command], { cwd: folder });
      return stdout
        .toString()
        .split('\n')
        .map((row) => row.split('\t')[0] ?? '')
        .filter(Boolean);
    };
    assert.deepEqual(complete('phm gen'), ['generate']);
    assert.deepEqual(complete('phm api-key i'), ['issue']);
    assert.deepEqual(complete('phm keys revoke --reason s'), ['superseded']);
    assert.deepEqual(complete('phm account create --plan p'), ['professional']);
    assert.deepEqual(complete('phm generate --format ra'), ['raw']);
  });

  it('rejects an unknown shell and names the known ones', async () => {
    const { code, stderr } = await runCommand(['completion', 'tcsh']);
    assert.equal(code, 2);
    assert.match(stderr, /bash, zsh, fish/);
  });
});
