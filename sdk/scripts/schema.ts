/**
 * Writes `sdk/src/schema.ts`: the types of the service's own OpenAPI document, which is built here in
 * process, from the routes. `npm run schema --workspace sdk` runs it.
 */
import { writeFileSync } from 'node:fs';
import openapiTypeScript, { astToString } from 'openapi-typescript';
import { SOURCE_NAMES } from '../../src/entropy/index.ts';
import { buildTestApp, standInService } from '../../test/support/app.ts';

const HEADER = `// Generated from the service's OpenAPI document by sdk/scripts/schema.ts: do not edit.
// "npm run schema --workspace sdk" writes it again.

`;

export const SCHEMA_FILE: URL = new URL('../src/schema.ts', import.meta.url);

/** The text of the file. Every entropy source is in it, as a server may offer any of them. */
export async function schemaText(): Promise<string> {
  const app = await buildTestApp({
    service: standInService('research'),
    entropySources: SOURCE_NAMES,
  });
  try {
    await app.ready();
    const document = JSON.stringify(app.swagger());
    // A field with a default is still one that a request may leave out.
    return HEADER + astToString(await openapiTypeScript(document, { defaultNonNullable: false }));
  } finally {
    await app.close();
  }
}

if (import.meta.main) writeFileSync(SCHEMA_FILE, await schemaText());
