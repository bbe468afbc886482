/** The client's types match the current OpenAPI document. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { it } from 'node:test';
import { SCHEMA_FILE, schemaText } from '../../sdk/scripts/schema.ts';

it('sdk/src/schema.ts is generated from the OpenAPI document', async () => {
  const same = readFileSync(SCHEMA_FILE, 'utf8') === (await schemaText());
  assert.ok(
    same,
    'the OpenAPI document has changed: "npm run schema --workspace sdk" writes sdk/src/schema.ts again',
  );
});
