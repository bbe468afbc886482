/** The scripted exchanges of sdk/exchanges/, which the Python client makes too, with this client in virtual time. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import {
  exchangesOf,
  FOLDER,
  type JsonObject,
  topics,
  unknownMember,
  written,
} from './exchange-file.ts';
import { runExchange } from './exchange-run.ts';

for (const file of topics()) {
  describe(`an exchange of ${file}`, () => {
    for (const exchange of exchangesOf(file, 'typescript')) {
      it(exchange.name, () => runExchange(exchange));
    }
  });
}

describe('the exchanges', () => {
  const all = topics().flatMap(written);
  const variants = all.flatMap((one) => [one, ...casesOf(one)]);

  it('have names of their own, and no member that no reader knows', () => {
    const names = topics().flatMap((file) => exchangesOf(file, 'python').map(({ name }) => name));
    assert.deepEqual(
      names.filter((name, i) => names.indexOf(name) !== i),
      [],
    );
    assert.deepEqual(
      variants.map(unknownMember),
      variants.map(() => undefined),
    );
  });

  it('differ only for reasons that their README lists', () => {
    const page = readFileSync(join(FOLDER, 'README.md'), 'utf8');
    const [, list = ''] = page.split('## Differences\n');
    const listed = list
      .trim()
      .split('\n- ')
      .map((text) => text.replace(/^- /, '').replaceAll('\n  ', ' '));
    const differs = variants.flatMap(({ differs: one }) => (one ? [one as JsonObject] : []));
    assert.deepEqual(new Set(listed), new Set(differs.map(({ because }) => because)));
    for (const { because: _, ...clients } of differs) {
      assert.match(Object.keys(clients).join(), /^(?:typescript|python)(?:,python)?$/);
    }
  });
});

/** Returns the cases of an exchange, but those that are only a name. */
function casesOf({ cases = [] }: JsonObject): JsonObject[] {
  return (cases as readonly (string | JsonObject)[]).filter((one) => typeof one !== 'string');
}
