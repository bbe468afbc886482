/** The version is the same everywhere; archives and lists of contents depend on their content alone. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, describe, it } from 'node:test';
import { copiedPaths } from '../scripts/release/archives.ts';
import { normalise } from '../scripts/release/sbom.ts';
import { gzip, tar } from '../scripts/release/tar.ts';
import {
  changelogHead,
  dateHead,
  readVersion,
  versionFaults,
  writeVersion,
} from '../scripts/release/version.ts';
import { PROJECT_VERSION } from '../src/process/version.ts';
import { ROOT } from './support/texts/imports.ts';

const folder = mkdtempSync(join(tmpdir(), 'phm-release-'));
after(() => rmSync(folder, { recursive: true, force: true }));

/** Copies the committed files with a version into a folder. */
function copyOfVersions(name: string): string {
  const root = join(folder, name);
  const pathspecs = ['*.md', '*.yaml', '*package.json', '*Dockerfile', '*.lock', '*.toml'];
  const listed = execFileSync('git', ['ls-files', '-z', ...pathspecs, 'package-lock.json'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  for (const file of listed.split('\0').filter(Boolean)) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    cpSync(join(ROOT, file), join(root, file));
  }
  return root;
}

describe('the version', () => {
  it('is the same in all packages, clients, files of deploy/, documents and the changelog', () => {
    assert.deepEqual(versionFaults(ROOT), []);
    assert.equal(readVersion(ROOT), PROJECT_VERSION);
  });

  it('is set everywhere at once, and once more gives the same files', () => {
    const root = copyOfVersions('set');
    const before = execFileSync('grep', ['-rlF', PROJECT_VERSION, '.'], {
      cwd: root,
      encoding: 'utf8',
    });
    writeVersion(root, '987.65.43');
    assert.deepEqual(versionFaults(root), []);
    const set = execFileSync('grep', ['-rlE', '987[.-]65[.-]43', '.'], {
      cwd: root,
      encoding: 'utf8',
    });
    assert.ok(set.split('\n').length > 15, set);
    writeVersion(root, PROJECT_VERSION);
    const back = execFileSync('grep', ['-rlF', PROJECT_VERSION, '.'], {
      cwd: root,
      encoding: 'utf8',
    });
    assert.equal(back, before);
    for (const file of ['package-lock.json', 'deploy/README.md', 'sdk/python/pyproject.toml']) {
      assert.equal(readFileSync(join(root, file), 'utf8'), readFileSync(join(ROOT, file), 'utf8'));
    }
  });

  it('is reported wherever another one stands', () => {
    const root = copyOfVersions('other');
    writeVersion(root, '1.2.3');
    const edit = (file: string, from: string, to: string): void => {
      const text = readFileSync(join(root, file), 'utf8');
      assert.ok(text.includes(from), `${file}: ${from}`);
      writeFileSync(join(root, file), text.replace(from, to));
    };
    edit('sdk/package.json', '"version": "1.2.3"', '"version": "1.2.4"');
    edit('sdk/python/pyproject.toml', 'version = "1.2.3"', 'version = "1.2.5"');
    edit('deploy/kubernetes/migrate/job.yaml', 'phm-migrate-1-2-3', 'phm-migrate-1-2-6');
    edit('CHANGELOG.md', '## Unreleased / 1.2.3', '## 1.2.7, 2026-11-24');
    assert.deepEqual(
      versionFaults(root).map((line) => line.split(': ')),
      [
        ['sdk/package.json', '1.2.4, but package.json has 1.2.3'],
        ['sdk/python/pyproject.toml', '1.2.5, but package.json has 1.2.3'],
        [
          'deploy/kubernetes/migrate/job.yaml, phm-migrate-1-2-6',
          '1.2.6, but package.json has 1.2.3',
        ],
        ['CHANGELOG.md', '1.2.7, but package.json has 1.2.3'],
      ],
    );
  });

  it('has three numbers', () => {
    assert.throws(() => writeVersion(folder, '1.0.0-rc.1'), /^TypeError: "version" expected three/);
  });
});

describe('the head of the changelog', () => {
  it('is unreleased or has a day', () => {
    assert.deepEqual(
      changelogHead('# Changelog\n\n## Unreleased / 1.2.3\n\n## 1.2.2, 2026-11-20\n'),
      {
        version: '1.2.3',
        date: undefined,
      },
    );
    assert.deepEqual(changelogHead('## 1.2.3, 2026-11-24\n'), {
      version: '1.2.3',
      date: '2026-11-24',
    });
    assert.throws(() => changelogHead('## Next\n'), /the first heading is "Next"/);
  });

  it('is dated once, and the next version gets a head of its own', () => {
    const root = copyOfVersions('dated');
    writeVersion(root, '1.2.3');
    assert.throws(() => dateHead(root, '24 November'), /expected YYYY-MM-DD/);
    dateHead(root, '2026-11-24');
    assert.throws(() => dateHead(root, '2026-11-25'), /the head has the date 2026-11-24/);
    assert.throws(() => writeVersion(root, '1.2.3'), /1.2.3 is released already/);
    writeVersion(root, '1.3.0');
    const text = readFileSync(join(root, 'CHANGELOG.md'), 'utf8');
    assert.match(text, /^## Unreleased \/ 1\.3\.0\n\n## 1\.2\.3, 2026-11-24$/m);
  });
});

describe('an archive of a release', () => {
  const long = `${'folder/'.repeat(20)}file`;
  const entries = [
    { name: 'b', bytes: Buffer.alloc(513, 98), isProgram: false },
    { name: long, bytes: Buffer.from('long'), isProgram: false },
    { name: 'a', bytes: Buffer.from('#!/bin/sh\necho ran\n'), isProgram: true },
    { name: 'empty', bytes: Buffer.alloc(0), isProgram: false },
  ];

  it('is read by tar as it was meant', () => {
    const file = join(folder, 'archive.tar.gz');
    writeFileSync(file, gzip(tar(entries, 1_700_000_000)));
    const out = join(folder, 'out');
    mkdirSync(out);
    execFileSync('tar', ['-xzf', file, '-C', out]);
    assert.deepEqual(readFileSync(join(out, 'b')), Buffer.alloc(513, 98));
    assert.equal(readFileSync(join(out, long), 'utf8'), 'long');
    assert.equal(readFileSync(join(out, 'empty'), 'utf8'), '');
    assert.equal(execFileSync(join(out, 'a'), { encoding: 'utf8' }), 'ran\n');
    const listed = execFileSync('tar', ['-tzf', file], { encoding: 'utf8' });
    assert.equal(listed, `a\nb\nempty\n${long}\n`);
  });

  it('has the same bytes for entries in another order, and others at another time', () => {
    const first = tar(entries, 1_700_000_000);
    assert.deepEqual(tar(entries.toReversed(), 1_700_000_000), first);
    assert.notDeepEqual(tar(entries, 1_700_000_001), first);
  });

  it('has no time and no operating system in the header of gzip (RFC 1952 §2.3)', () => {
    assert.equal(gzip(Buffer.from('x')).subarray(4, 10).toString('hex'), '0000000002ff');
  });

  it('refuses a name that ustar cannot hold', () => {
    const bytes = Buffer.alloc(0);
    for (const name of ['x'.repeat(101), `${'x/'.repeat(130)}x`, `${'x/'.repeat(60)}é`]) {
      assert.throws(() => tar([{ name, bytes, isProgram: false }], 0), /^RangeError: "name"/, name);
    }
  });
});

describe('the list of contents of a release', () => {
  it('has the time of the commit, and an identifier of its own text', () => {
    const list = (time: string, id: string, name = 'x'): string =>
      `{ "serialNumber": "urn:uuid:${id}", "timestamp": "${time}", "name": "${name}" }`;
    const ids = ['00000000-0000-4000-8000-000000000000', 'ffffffff-ffff-4fff-8fff-ffffffffffff'];
    const [one, other] = ids.map((id, i) =>
      normalise(list(`2026-0${i + 1}-01`, id), 1_700_000_000),
    );
    assert.equal(one, other);
    assert.match(
      one ?? '',
      /"urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}"/,
    );
    assert.match(one ?? '', /"timestamp": "2023-11-14T22:13:20Z"/);
    assert.notEqual(normalise(list('', ids[0] ?? '', 'y'), 1_700_000_000), one);
    assert.throws(() => normalise('{}', 0), /npm sbom prints no time/);
  });
});

describe('the script that makes a release', () => {
  it('refuses a checkout that is no release, and names every reason', () => {
    const root = copyOfVersions('refused');
    cpSync(join(ROOT, 'scripts/release'), join(root, 'scripts/release'), { recursive: true });
    cpSync(join(ROOT, 'scripts/release.ts'), join(root, 'scripts/release.ts'));
    const git = (...args: string[]): string =>
      execFileSync('git', ['-C', root, '-c', 'user.name=x', '-c', 'user.email=x@x', ...args], {
        encoding: 'utf8',
      });
    git('init', '--quiet');
    git('add', '.');
    writeVersion(root, '1.2.3');
    const file = join(root, 'package.json');
    const pin = /("node-[a-z0-9]+-[a-z0-9]+": )"[^"]+"/g;
    writeFileSync(file, readFileSync(file, 'utf8').replace(pin, '$1"1.0.0"'));
    git('commit', '--quiet', '--all', '--no-gpg-sign', '--message=x');
    git('-c', 'tag.gpgSign=false', 'tag', 'v9.8.7');
    writeFileSync(join(root, 'not-committed'), '');
    const other = join(root, 'sdk/package.json');
    writeFileSync(other, readFileSync(other, 'utf8').replace('"1.2.3"', '"1.2.4"'));
    const script = ['scripts/release.ts', '--out', 'scripts'];
    const { status, stdout, stderr } = spawnSync(process.execPath, script, {
      cwd: root,
      encoding: 'utf8',
    });
    const expected = [
      /^release: sdk\/package\.json: 1\.2\.4, but package\.json has 1\.2\.3$/,
      /^release: set one version: npx node scripts\/release-version\.ts VERSION$/,
      /^release: there are changes that are not committed/,
      /^release: CHANGELOG\.md has 1\.2\.3 as unreleased/,
      /^release: this commit has the tag v9\.8\.7, not v1\.2\.3$/,
      /^release: this is Node \S+, not 1\.0\.0: npm ci, then npm run release$/,
      /^release: \S+ is not empty$/,
    ];
    assert.deepEqual([status, stdout], [1, ''], stderr);
    const lines = stderr.trim().split('\n');
    assert.equal(lines.length, expected.length, stderr);
    for (const [i, pattern] of expected.entries()) assert.match(lines[i] ?? '', pattern);
  });
});

describe('the context of the image', () => {
  it('is what COPY takes from outside the image', () => {
    const dockerfile = 'COPY a b/c ./\nRUN x\nCOPY --from=build /a /b\nCOPY d /e\n';
    assert.deepEqual(copiedPaths(dockerfile), ['a', 'b/c', 'd']);
  });
});
