/**
 * Writes `sdk/src/schema.ts`: the types of the service's OpenAPI document, which this script builds in process from the
 * routes. Run it with `npm run schema --workspace sdk`.
 */
import { writeFileSync } from 'node:fs';
import openapiTypeScript, { astToString } from 'openapi-typescript';
import { SOURCE_NAMES } from '../../src/entropy/index.ts';
import { buildTestApp, standInService } from '../../test/support/app.ts';

const HEADER = `// Generated from the service's OpenAPI document by sdk/scripts/schema.ts: do not edit.
// "npm run schema --workspace sdk" writes it again.

`;

export const SCHEMA_FILE: URL = new URL('../src/schema.ts', import.meta.url);

/** Returns the text of the file. It has all entropy sources, because a server may offer any of them. */
export async function schemaText(): Promise<string> {
  const app = await buildTestApp({
    service: standInService('research'),
    entropySources: SOURCE_NAMES,
  });
  try {
    const { body: document } = await app.inject('/api/v2/openapi.json');
    // A request may omit a field that has a default.
    return HEADER + astToString(await openapiTypeScript(document, { defaultNonNullable: false }));
  } finally {
    await app.close();
  }
}

if (import.meta.main) writeFileSync(SCHEMA_FILE, await schemaText());
