/**
 * Writes `sdk/src/schema.ts`: the types of the service's OpenAPI document, which this script builds in process from the
 * routes. Run it with `npm run schema --workspace sdk`.
 */
import { writeFileSync } from 'node:fs';
import openapiTypeScript, { astToString } from 'openapi-typescript';
import { openApiText } from '../../scripts/docs/openapi.ts';

const HEADER = `// Generated from the service's OpenAPI document by sdk/scripts/schema.ts: do not edit.
// "npm run schema --workspace sdk" writes it again.

`;

export const SCHEMA_FILE: URL = new URL('../src/schema.ts', import.meta.url);

/** Returns the text of the file. */
export async function schemaText(): Promise<string> {
  const document = await openApiText();
  // A request may omit a field that has a default.
  return HEADER + astToString(await openapiTypeScript(document, { defaultNonNullable: false }));
}

if (import.meta.main) writeFileSync(SCHEMA_FILE, await schemaText());
