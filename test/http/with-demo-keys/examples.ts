/** Runs every documented example against a real server and checks its output against the schema. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { before, describe, it } from 'node:test';
import { parseRecipient } from '../../../sdk/src/index.ts';
import { DEMO_ACCOUNTS } from '../../../src/accounts/index.ts';
import { openStore } from '../../../src/ledger/index.ts';
import { bannerText } from '../../../src/serve/banner.ts';
import { sqliteIn } from '../../support/clients/unknown-keys.ts';
import { DEMO_KEY } from '../../support/servers/server.ts';
import { dataDir, server } from '../../support/servers/shared-server.ts';
import {
  type AssertAnswer,
  answersOf,
  NamedBodies,
  type OpenApiDocument,
  operationsOf,
} from '../../support/texts/document.ts';
import {
  EXAMPLE_ADDRESS,
  LANGUAGES,
  operationsWithExamples,
  pathOfExample,
  printedBy,
  readExample,
  runExamples,
  runInShell,
} from '../../support/texts/examples.ts';

/** Examples about keys of another server. */
const OF_ANOTHER_SERVER: Readonly<Record<string, readonly [number, string]>> = {
  '/api/v2/receipts': [404, 'receipt_not_found'],
  '/api/v2/deliveries/fetch': [404, 'delivery_not_found'],
  '/api/v2/deliveries/remove': [404, 'delivery_not_found'],
};

let document: OpenApiDocument;
let assertAnswer: AssertAnswer;

before(async () => {
  document = (await server.request('/api/v2/openapi.json')).body;
  assertAnswer = answersOf(document);
  // The examples of deliveries need a registered recipient.
  const file = new URL('../../../docs/examples/sealed/demo.recipient', import.meta.url);
  const { suite, publicKey } = parseRecipient(readFileSync(file, 'utf8'));
  const store = await openStore(sqliteIn(dataDir), {});
  const [{ accountId }] = DEMO_ACCOUNTS;
  const added = { accountId, name: 'demo', suite, publicKey, createdMs: Date.now() };
  assert.equal(await store.addRecipient(added), 'added');
  await store.close();
});

/** Texts of the transparency log, by operation; the other operations return JSON. */
const LOG_TEXTS: Readonly<Record<string, RegExp>> = {
  logCheckpoint: /^phm\.invalid\/[0-9a-f]{16}\n\d+\n[A-Za-z0-9+/]{43}=\n\n— /,
  logPolicy: /^log phm\.invalid\/[0-9a-f]{16}\+/m,
};

/** Returns the response to a batch, also if the program prints one key per line. */
function batchOf(printed: string) {
  const lines = printed
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  if ('keys' in lines[0]) return lines[0];
  const [{ timestamp }] = lines;
  return { success: true, timestamp, count: lines.length, keys: lines };
}

describe('documented examples', () => {
  for (const language of LANGUAGES) {
    const reason = language.lacking();
    let outcomes: ReturnType<typeof runExamples> | null = null;
    for (const operation of operationsWithExamples(language)) {
      it(`${language.name}: ${operation}`, { skip: reason ?? false }, async () => {
        outcomes ??= runExamples(language, server.address);
        const outcome = (await outcomes).get(operation);
        assert.ok(outcome);
        const printed = printedBy(language, operation, outcome);
        if (operation in LOG_TEXTS) {
          assert.match(printed, LOG_TEXTS[operation] as RegExp);
          return;
        }
        const body = operation.endsWith('Batch') ? batchOf(printed) : JSON.parse(printed);
        assert.equal(body.success, true);
        assertAnswer(operation, 200, body);
        if (operation === 'validate') assert.equal(body.valid, true);
        if (operation === 'generate') assert.equal(body.nist_validation, undefined);
        if (operation.endsWith('Batch')) assert.equal(body.keys.length, 2);
      });
    }
  }

  it('of the document run as shown on a new server, if they are the first of their operation', async () => {
    const { key_id } = (await server.generate({ security_level: 128 })).body;
    for (const [template, methods] of Object.entries(document.paths)) {
      const path = template.replace('{key_id}', key_id);
      const { content } = Object(Object(methods).post?.requestBody);
      const [first] = Object.values<{ value: object }>(
        Object(content?.['application/json'].examples),
      );
      if (!first) continue;
      const { status, body } = await server.post(path, first.value);
      const expected = OF_ANOTHER_SERVER[path] ?? [200, undefined];
      assert.deepEqual([status, body.code], expected, path);
    }
  });

  it('cover every operation in every language, and are what the document shows', () => {
    const ids = operationsOf(document).map(({ operationId }) => operationId);
    for (const language of LANGUAGES) {
      const there = operationsWithExamples(language);
      const missing = ids.filter((id) => !there.includes(id));
      const needless = there.filter((id) => !ids.includes(id));
      const paths = (some: string[]) => some.map((id) => pathOfExample(language, id));
      assert.deepEqual(paths(missing), [], 'programs to write');
      assert.deepEqual(paths(needless), [], 'programs of no operation, to remove');
    }
    for (const operation of operationsOf(document)) {
      assert.deepEqual(
        operation['x-codeSamples'].map(({ source }: { source: string }) => source),
        LANGUAGES.map((language) => readExample(language, operation.operationId)),
      );
    }
  });
});

describe('the first curl command', () => {
  /** Returns the first curl command of a text with its continuation lines, without indentation. */
  function firstCurl(text: string): string {
    const command = /^ *(?:\$ )?(curl (?:.*\\\n)*.*)$/m.exec(text)?.[1];
    assert.ok(command, 'no curl command found');
    return command;
  }
  const lacking = LANGUAGES[0]?.lacking() ?? false;

  for (const file of ['README.md', 'docs/api.md']) {
    it(`in ${file} generates the key that applications ask for`, { skip: lacking }, async () => {
      const text = readFileSync(new URL(`../../../${file}`, import.meta.url), 'utf8');
      assert.ok(firstCurl(text).includes(EXAMPLE_ADDRESS));
      const body = JSON.parse(await runInShell(firstCurl(text), server.address));
      assertAnswer('generate', 200, body);
      assert.deepEqual([body.security_level, body.nist_validation], [256, undefined]);
    });
  }

  it('in the banner generates the same key', { skip: lacking }, async () => {
    const banner = bannerText({
      address: server.address,
      json: false,
      dashboard: true,
      data: server.dataDir,
      requiresHybrid: false,
      metricsAddress: null,
      demoApiKey: DEMO_KEY,
      demoKeysEnd: true,
      demoKeysEnded: false,
      commandLine: (words) => words,
      color: false,
    });
    const body = JSON.parse(await runInShell(firstCurl(banner), server.address));
    assert.deepEqual([body.security_level, body.nist_validation], [256, undefined]);
  });

  it('is the same in the documentation and in the README', () => {
    const readme = readFileSync(new URL('../../../README.md', import.meta.url), 'utf8');
    assert.equal(firstCurl(document.info.description), firstCurl(readme));
  });
});

describe('the examples in the document', () => {
  it('match their schemas', () => {
    const bodies = new NamedBodies(document);
    let checked = 0;
    for (const { operationId, requestBody, responses } of operationsOf(document)) {
      const contents = [requestBody, ...Object.values<OpenApiDocument>(responses)].map(
        (part) => part?.content ?? {},
      );
      for (const { schema, examples } of contents.flatMap((content) =>
        Object.values<OpenApiDocument>(content),
      )) {
        for (const [name, { $ref, value }] of Object.entries<OpenApiDocument>(examples ?? {})) {
          const code = $ref?.replace('#/components/examples/', '');
          const shown = code ? document.components.examples[code].value : value;
          bodies.assert(schema, shown, `${operationId} ${name}`);
          checked += 1;
        }
      }
    }
    assert.ok(checked > 40, `${checked} examples`);
  });
});
