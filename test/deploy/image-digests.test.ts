/** scripts/image-digests.ts on a copy of the files, with a program in place of docker. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { after, describe, it } from 'node:test';
import { find, ROOT, readText } from './files.ts';

const COMPOSE = 'deploy/compose/compose.yaml';
const IMAGE_FILES = ['.github/workflows/run.yml', COMPOSE, 'deploy/docker/Dockerfile'];
const SCRIPT = 'scripts/image-digests.ts';
const MOVED = `sha256:${'5a'.repeat(32)}`;

describe('scripts/image-digests.ts', () => {
  const folder = mkdtempSync(join(tmpdir(), 'phm-digests-'));
  after(() => rmSync(folder, { recursive: true, force: true }));
  for (const path of [SCRIPT, ...IMAGE_FILES]) {
    cpSync(join(ROOT, path), join(folder, path));
  }
  const postgres = find(readText(COMPOSE), /(postgres:\S+)@sha256/);

  /** Runs the script with a registry that has the digests of the files, but `moved` for PostgreSQL. */
  const run = (moved: string | null, ...args: string[]) => {
    const files = IMAGE_FILES.map(readText).join('');
    const pinned = [...files.matchAll(/(\S+:\S+)@(sha256:\w+)/g)].map(([, tag, digest]) => {
      return `*' ${tag}') echo '{"digest":"${tag === postgres && moved ? moved : digest}"}';;`;
    });
    const program = join(folder, 'docker');
    writeFileSync(program, `#!/bin/sh\ncase "$*" in ${pinned.join('\n')} *) exit 1;; esac\n`, {
      mode: 0o755,
    });
    const env = { PATH: [folder, dirname(process.execPath), process.env.PATH].join(delimiter) };
    return spawnSync(process.execPath, [join(folder, SCRIPT), ...args], { env, encoding: 'utf8' });
  };

  it('says that every digest is the one of its tag', () => {
    const { status, stdout } = run(null);
    assert.equal(status, 0);
    assert.equal(stdout.match(/ ok$/gm)?.length, 5);
  });

  it('fails if a tag has another digest, and changes nothing', () => {
    const { status, stdout } = run(MOVED);
    assert.equal(status, 1);
    assert.match(stdout, new RegExp(`${postgres} sha256:\\w+ is now ${MOVED}$`, 'm'));
    assert.equal(readFileSync(join(folder, COMPOSE), 'utf8'), readText(COMPOSE));
  });

  it('writes the digests of the registry if told so', () => {
    assert.equal(run(MOVED, '--write').status, 0);
    assert.ok(readFileSync(join(folder, COMPOSE), 'utf8').includes(`${postgres}@${MOVED}`));
  });

  it('fails if the registry does not answer', () => {
    writeFileSync(join(folder, 'docker'), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
    const env = { PATH: [folder, dirname(process.execPath)].join(delimiter) };
    const { status, stderr } = spawnSync(process.execPath, [join(folder, SCRIPT)], {
      env,
      encoding: 'utf8',
    });
    assert.equal(status, 2);
    assert.match(stderr, /the registry did not answer/);
  });
});
