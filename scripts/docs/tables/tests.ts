/** The names of the tests in the Python client: those of the evidence on keys, as in the OpenAPI document. */
import { EVIDENCE_TESTS } from '../../../src/keys/index.ts';
import type { Part } from './part.ts';

export function testParts(): Part[] {
  return [
    {
      file: 'sdk/python/src/phm_client/types.py',
      after: ['\nTestName = Literal[\n'],
      before: ']\n',
      text: EVIDENCE_TESTS.map((name) => `    "${name}",\n`).join(''),
    },
  ];
}
