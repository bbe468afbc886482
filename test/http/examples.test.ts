/** Every documented example, run against a fresh server; what it prints is held to the schema. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import {
  EXAMPLE_ADDRESS,
  LANGUAGES,
  operationsWithExamples,
  readExample,
  runExample,
} from '../support/examples.ts';
import { makeDataDir, removeDataDir, Server } from '../support/server.ts';

const dataDir = makeDataDir();
let server: Server;
// biome-ignore lint/suspicious/noExplicitAny: the document is looked into by path.
let document: any;

before(async () => {
  server = await Server.start(dataDir, { PHM_RATE_LIMITS: 'off' });
  document = (await server.request('/api/v2/openapi.json')).body;
});
after(async () => {
  await server.stop();
  removeDataDir(dataDir);
});

// biome-ignore lint/suspicious/noExplicitAny: as above.
function operations(): any[] {
  return Object.values(document.paths).flatMap((item) => Object.values(item as object));
}

/** Holds a body to the schema of an operation's 200. */
function assertAnswer(operationId: string, body: unknown): void {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  // biome-ignore lint/suspicious/noExplicitAny: the package's default export is mistyped for ESM.
  (addFormats as any)(ajv);
  const operation = operations().find((one) => one.operationId === operationId);
  const validate = ajv.compile(operation.responses['200'].content['application/json'].schema);
  assert.ok(validate(body), `${operationId}: ${ajv.errorsText(validate.errors)}`);
}

describe('documented examples', () => {
  for (const language of LANGUAGES) {
    const reason = language.lacking();
    for (const operation of operationsWithExamples(language)) {
      it(`${language.name}: ${operation}`, { skip: reason ?? false }, async () => {
        const source = readExample(language, operation);
        const body = JSON.parse(await runExample(language, source, server.address));
        assert.equal(body.success, true);
        assertAnswer(operation, body);
        if (operation === 'validate') assert.equal(body.valid, true);
        if (operation === 'generate') assert.ok(body.nist_validation);
      });
    }
  }

  it('are there for every operation in every language, and are what the document shows', () => {
    const ids = operations().map(({ operationId }) => operationId);
    for (const language of LANGUAGES) {
      assert.deepEqual(operationsWithExamples(language), [...ids].sort(), language.name);
    }
    for (const operation of operations()) {
      assert.deepEqual(
        operation['x-codeSamples'].map(({ source }: { source: string }) => source),
        LANGUAGES.map((language) => readExample(language, operation.operationId)),
      );
    }
  });
});

describe('first commands', () => {
  const SHELL = { command: ['sh', '-e'] } as const;
  /** The first curl command of a text: its line and those it goes on to, without indentation. */
  function firstCurl(text: string): string {
    const command = /^ *(?:\$ )?(curl (?:.*\\\n)*.*)$/m.exec(text)?.[1];
    assert.ok(command, 'no curl command found');
    return command;
  }
  const lacking = LANGUAGES[0]?.lacking() ?? false;

  for (const file of ['README.md', 'docs/api.md']) {
    it(`the curl line of ${file} makes a validated key`, { skip: lacking }, async () => {
      const text = readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');
      assert.ok(firstCurl(text).includes(EXAMPLE_ADDRESS));
      const body = JSON.parse(await runExample(SHELL, firstCurl(text), server.address));
      assertAnswer('generate', body);
      assert.equal(body.nist_validation.certification_status, 'PASS');
    });
  }

  it('the curl line of the banner makes a validated key', { skip: lacking }, async () => {
    const body = JSON.parse(await runExample(SHELL, firstCurl(server.log), server.address));
    assert.equal(body.nist_validation.certification_status, 'PASS');
  });

  it('the curl line of the documentation is that of the README', () => {
    const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
    assert.equal(firstCurl(document.info.description), firstCurl(readme));
  });
});

describe('examples in the document', () => {
  it('fit their schemas', () => {
    const ajv = new Ajv2020({ strict: false, allErrors: true });
    // biome-ignore lint/suspicious/noExplicitAny: the package's default export is mistyped for ESM.
    (addFormats as any)(ajv);
    let checked = 0;
    for (const { operationId, requestBody, responses } of operations()) {
      const answers = Object.values<{ content: object }>(responses);
      for (const { content } of [requestBody ?? { content: {} }, ...answers]) {
        for (const { schema, examples } of Object.values<{
          schema: object;
          examples?: Record<string, { $ref?: string; value?: unknown }>;
        }>(content as never)) {
          const validate = ajv.compile(schema);
          for (const [name, { $ref, value }] of Object.entries(examples ?? {})) {
            const code = $ref?.replace('#/components/examples/', '');
            const shown = code ? document.components.examples[code].value : value;
            assert.ok(
              validate(shown),
              `${operationId} ${name}: ${ajv.errorsText(validate.errors)}`,
            );
            checked += 1;
          }
        }
      }
    }
    assert.ok(checked > 40, `${checked} examples`);
  });
});
