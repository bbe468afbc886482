/** What `npm run docs` writes: the parts of pages and of the clients that come from the code, and whole files. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../pages.ts';
import { type Api, apiFiles, apiParts, readApi } from './api.ts';
import { exportParts } from './client-exports.ts';
import { commandParts } from './commands.ts';
import { errorParts } from './errors.ts';
import { formParts } from './forms.ts';
import { metricParts } from './metrics.ts';
import { type Part, withPart } from './part.ts';
import { settingParts } from './settings.ts';
import { suiteParts } from './suite.ts';
import { testParts } from './tests.ts';
import { tlsParts } from './tls.ts';

/** A file as it is, and as the code says that it should be. */
interface GeneratedFile {
  readonly file: string;
  readonly found: string;
  readonly expected: string;
}

export async function allParts(api: Api): Promise<Part[]> {
  return [
    ...errorParts(),
    ...settingParts(),
    ...metricParts(),
    ...(await commandParts()),
    ...formParts(),
    ...apiParts(api),
    ...exportParts(),
    ...suiteParts(),
    ...testParts(),
    ...tlsParts(),
  ];
}

/** Reads each file that is generated, or has generated parts. */
export async function readGeneratedFiles(): Promise<GeneratedFile[]> {
  const api = await readApi();
  const whole = apiFiles(api).map(({ file, text }) => ({
    file,
    found: read(file),
    expected: text,
  }));
  const parts = [...Map.groupBy(await allParts(api), ({ file }) => file)].map(([file, parts]) => {
    const found = read(file);
    return { file, found, expected: parts.reduce(withPart, found) };
  });
  return [...whole, ...parts];
}

/** Returns the content of a file; an empty text if there is none. */
function read(file: string): string {
  const path = join(ROOT, file);
  return existsSync(path) ? readFileSync(path, 'utf8') : '';
}
