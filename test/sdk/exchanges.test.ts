/** The scripted exchanges of sdk/exchanges/, which the Python client makes too, with this client in virtual time. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { ERRORS } from '../../src/errors.ts';
import {
  BODIES,
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

  it('name every code, as docs/errors.md advises', () => {
    const page = readFileSync(join(import.meta.dirname, '../../docs/errors.md'), 'utf8');
    const rows = page.matchAll(/^\| `([a-z_]+)` \| (\d+) \|.*\| ([^|]+) \|$/gm);
    const advice = [...rows].map(([, code = '', status, retry = '']) => ({
      code,
      status: Number(status),
      again: ['yes', 'after a wait'].includes(retry),
    }));
    assert.deepEqual(advice.map(({ code }) => code).sort(), Object.keys(ERRORS).sort());
    const codes = (again: boolean) =>
      advice.filter((one) => one.again === again).map(({ code }) => code);
    const statuses = (of: readonly (readonly [string, unknown])[]) =>
      of.map(([code, status]) => `${code} ${status}`);
    const casesNamed = (name: string) => all.find((one) => one.name === name)?.cases as string[];
    const [passes, final] = [
      'a refusal that passes is followed by another request',
      'a refusal that does not pass is final',
    ];
    const faults = [
      ...differences(
        'statuses of sdk/exchanges/bodies.json',
        statuses(Object.entries(BODIES.statuses as JsonObject)),
        statuses(advice.map(({ code, status }) => [code, status])),
      ),
      // Two codes have exchanges of their own.
      ...differences(
        `cases of "${passes}" in sdk/exchanges/retries.json`,
        [...casesNamed(passes), 'ledger_unavailable'],
        codes(true),
      ),
      ...differences(
        `cases of "${final}" in sdk/exchanges/retries.json`,
        [...casesNamed(final), 'key_already_made'],
        codes(false),
      ),
    ];
    assert.ok(
      faults.length === 0,
      `docs/errors.md differs from the exchanges:\n${faults.join('\n')}`,
    );
  });
});

/** Returns a line for each entry that a list lacks, or has too many. */
function differences(list: string, has: readonly string[], should: readonly string[]): string[] {
  const lacks = should.filter((entry) => !has.includes(entry));
  const extra = has.filter((entry, i) => !should.includes(entry) || has.indexOf(entry) !== i);
  return [
    ...lacks.map((entry) => `${list}: add ${entry}`),
    ...extra.map((entry) => `${list}: remove ${entry}`),
  ];
}

/** Returns the cases of an exchange, but those that are only a name. */
function casesOf({ cases = [] }: JsonObject): JsonObject[] {
  return (cases as readonly (string | JsonObject)[]).filter((one) => typeof one !== 'string');
}
