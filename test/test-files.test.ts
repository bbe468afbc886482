/** Rules for the files of tests that Node's test runner does not check. */
import assert from 'node:assert/strict';
import { relative } from 'node:path';
import { describe, it } from 'node:test';
import { ROOT, readSources } from './support/texts/imports.ts';

const TESTS = ['test', 'packages', 'sdk', 'bench'];

/**
 * Returns the lines at which a file of tests waits below its first test. If all tests above have ended, the runner
 * takes them for all and calls the hooks of `after`, which remove what the tests below need.
 */
function lateWaits(text: string): number[] {
  let begun = false;
  const outsideTexts = text.replace(/`[^`]*`/g, (literal) => literal.replace(/[^\n]/g, ''));
  return outsideTexts.split('\n').flatMap((line, i) => {
    if (/^(?:describe|it|suite|test)\b/.test(line)) begun = true;
    return begun && /^(?=[a-z])[^'"]*\bawait\b/.test(line) ? [i + 1] : [];
  });
}

describe('a file of tests', () => {
  it('waits for nothing after its first test', () => {
    const found = TESTS.flatMap((folder) => [...readSources(folder)])
      .filter(([path]) => path.endsWith('.test.ts'))
      .flatMap(([path, text]) => lateWaits(text).map((line) => `${relative(ROOT, path)}:${line}`));
    assert.deepEqual(found, []);
  });

  it('is found to wait too late', () => {
    const before = 'const python = await sharedPython();\n';
    const tests =
      "describe('numbers', () => {\n  it('are read', async () => {\n    await read();\n";
    assert.deepEqual(lateWaits(`${before}${tests}  });\n});\n`), []);
    assert.deepEqual(lateWaits(`${tests}  });\n});\n${before}await more();\n`), [6, 7]);
  });
});
