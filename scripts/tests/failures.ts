/** The failed tests, read from the list at the end of a run's output. */
import { resolve } from 'node:path';
import { ROOT } from './tiers.ts';

/**
 * Returns each failed test as `file: name`. A file that fails as a whole has its absolute path as its name, which is left
 * out here: a record names no folder of one machine.
 *
 * @param output - what the reporter wrote for tests that ran in the project's folder
 */
export function failedIn(output: string): string[] {
  const [, list = ''] = output.split(/^✖ failing tests:$/m);
  return [...list.matchAll(/^test at (\S+?):\d+:\d+\n✖ (.*) \([\d.]+ms\)$/gm)].map(
    ([, file = '', name = '']) =>
      `${file}: ${name === resolve(ROOT, file) ? 'the file as a whole' : name}`,
  );
}
