/** Two failures of the gate in a row are a defect, and a pass between them makes them two firsts. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FailuresInARow } from '../../src/keys/failures-in-a-row.ts';

test('the second failure in a row is a defect, and each that follows', () => {
  const failures = new FailuresInARow();
  assert.deepEqual(
    [true, false, true, false, false, false, true, false].map((passed) => failures.add(passed)),
    [false, false, false, false, true, true, false, false],
  );
  assert.equal(failures.count, 1);
});
