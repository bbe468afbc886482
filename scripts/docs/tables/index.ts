/** What `npm run docs` writes: the tables of the pages that come from the code. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../pages.ts';
import { commandParts } from './commands.ts';
import { errorParts } from './errors.ts';
import { metricParts } from './metrics.ts';
import { type Part, withPart } from './part.ts';
import { settingParts } from './settings.ts';

/** A file as it is, and as the code says that it should be. */
interface GeneratedFile {
  readonly file: string;
  readonly found: string;
  readonly expected: string;
}

export function allParts(): Part[] {
  return [...errorParts(), ...settingParts(), ...metricParts(), ...commandParts()];
}

/** Reads each file that has generated parts. */
export function readGeneratedFiles(): GeneratedFile[] {
  return [...Map.groupBy(allParts(), ({ file }) => file)].map(([file, parts]) => {
    const found = readFileSync(join(ROOT, file), 'utf8');
    return { file, found, expected: parts.reduce(withPart, found) };
  });
}
