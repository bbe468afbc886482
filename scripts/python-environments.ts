/**
 * Makes the Python environments of the tests before any of them needs one, so that the fast tests find theirs and no test
 * waits for an installation. CI calls it; without it the slow tests make them.
 */
import { SHARED_PYTHON, sharedPython } from '../test/support/programs/python.ts';

for (const name of SHARED_PYTHON) {
  const { skip } = await sharedPython(name);
  if (skip !== false)
    process.stdout.write(`Python environment "${name}": ${skip}; its tests are skipped\n`);
}
