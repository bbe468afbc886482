/** The name that reports give to the program. */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, it } from 'node:test';
import { labSoftware, readVersion } from '../src/software.ts';
import { makeFolder, removeFolder } from './support/run-command.ts';

const folder = makeFolder();
after(() => removeFolder(folder));

it('has the version of its own package file, not of one that is nearer or above', () => {
  assert.match(readVersion(), /^\d+\.\d+\.\d+$/);
  mkdirSync(join(folder, 'dist/lab/src'), { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{ "name": "phm-lab", "version": "4.5.6" }');
  writeFileSync(join(folder, 'dist/package.json'), '{ "name": "other", "version": "9.9.9" }');
  assert.equal(readVersion(join(folder, 'dist/lab/src')), '4.5.6');
  writeFileSync(join(folder, 'package.json'), '{ "name": "another", "version": "4.5.6" }');
  assert.throws(
    () => readVersion(join(folder, 'dist/lab/src')),
    /no package\.json of phm-lab above/,
  );
});

it('has a build that follows from the files of the program', () => {
  const packages = join(folder, 'packages');
  for (const part of ['ais-20-31', 'lab', 'platform', 'sp800-22', 'sp800-90b']) {
    mkdirSync(join(packages, part, 'src'), { recursive: true });
  }
  const path = join(packages, 'lab/src/a.js');
  writeFileSync(path, '1');
  const { program, build } = labSoftware('1.2.3', packages);
  assert.equal(program, 'phm-lab 1.2.3');
  assert.match(build, /^phm-lab\/1\.2\.3\+[0-9a-f]{16}$/);
  writeFileSync(path, '2');
  assert.notEqual(labSoftware('1.2.3', packages).build, build);
});
