/**
 * Makes the Python environments of the tests before any of them needs one, so that the fast tests find theirs and no test
 * waits for an installation. CI calls it; without it the slow tests make them.
 */
import { join } from 'node:path';
import { pythonEnvironment } from '../test/support/python.ts';
import { ROOT } from './tests/tiers.ts';

/** Name and requirements, as the tests give them. */
const ENVIRONMENTS = {
  client: 'sdk/python/tests/requirements.txt',
  generated: 'test/generated/requirements.txt',
  release: 'test/release/requirements.txt',
} as const;

for (const [name, requirements] of Object.entries(ENVIRONMENTS)) {
  const { skip } = await pythonEnvironment(name, join(ROOT, requirements));
  if (skip !== false)
    process.stdout.write(`Python environment "${name}": ${skip}; its tests are skipped\n`);
}
