/** Runs the unit tests of the alert rules with promtool, which simulates a day of metrics. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { describe, it } from 'node:test';
import { ROOT } from '../deploy/files.ts';

const TESTS = [
  'deploy/prometheus/phm-alerts.test.yml',
  'deploy/prometheus/phm-alerts-of-a-day.test.yml',
];

const hasPromtool = spawnSync('promtool', ['--version']).status === 0;
const skip = hasPromtool ? false : 'promtool is not installed (Debian: package "prometheus")';

describe('the alert rules', { skip }, () => {
  for (const file of TESTS) {
    it(`pass ${file}`, () => {
      const options = { cwd: ROOT, encoding: 'utf8' } as const;
      const { status, stdout, stderr } = spawnSync('promtool', ['test', 'rules', file], options);
      assert.equal(status, 0, `${stdout}${stderr}`);
    });
  }
});
