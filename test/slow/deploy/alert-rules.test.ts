/** Runs the unit tests of the alert rules with promtool, which simulates days of metrics. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { ROOT } from '../../deploy/files.ts';

const FOLDER = 'deploy/prometheus';
const TESTS = readdirSync(join(ROOT, FOLDER)).filter((name) => name.endsWith('.test.yml'));

const hasPromtool = spawnSync('promtool', ['--version']).status === 0;
const skip = hasPromtool ? false : 'promtool is not installed (Debian: package "prometheus")';

describe('the alert rules', { skip }, () => {
  for (const file of TESTS) {
    it(`pass ${file}`, () => {
      const options = { cwd: ROOT, encoding: 'utf8' } as const;
      const { status, stdout, stderr } = spawnSync(
        'promtool',
        ['test', 'rules', `${FOLDER}/${file}`],
        options,
      );
      assert.equal(status, 0, `${stdout}${stderr}`);
    });
  }
});
