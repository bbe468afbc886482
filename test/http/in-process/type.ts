/** The builders of schemas return what the package `typebox` returns. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import Typebox from 'typebox';
import { Type } from '../../../src/http/wire/type.ts';

type Builders = typeof Type;

/** Uses every builder, with options and without. */
function schemas(builders: Builders): readonly object[] {
  const { Array: list, Boolean: flag, Integer, Literal, Null, Number: number } = builders;
  const { Enum, Object: object, Optional, Record: record, String: text, Union, Unsafe } = builders;
  const notes = { description: 'd', examples: [1] };
  const optional = Optional(text(notes));
  return [
    ...[flag, Integer, Null, number, text].flatMap((scalar) => [scalar(), scalar(notes)]),
    ...[list(text()), list(number(), { minItems: 1 }), Enum(['a', 'b']), Enum(['a'], notes)],
    ...[Literal('a'), Literal(1), Literal(true, notes)],
    ...[Union([text(), Null()]), Union([number()], notes), record(text(), flag(), notes)],
    ...[Unsafe({ type: 'string' }), Unsafe(Integer({ minimum: 1 })), optional],
    ...[object({}), object({ a: text(), b: optional }, { additionalProperties: false })],
    ...[object({ b: optional }), object({ c: Optional(object({ a: optional, d: flag() })) })],
  ];
}

describe('a builder of schemas', () => {
  it('returns the same JSON as typebox, member by member', () => {
    const [ours, theirs] = [schemas(Type), schemas(Typebox)];
    for (const [i, schema] of ours.entries()) {
      assert.equal(JSON.stringify(schema), JSON.stringify(theirs[i]));
    }
    assert.ok(ours.length > 20);
  });

  it('leaves a schema as it is when it makes a copy optional', () => {
    const schema = Type.String();
    Type.Optional(schema);
    assert.deepEqual(Type.Object({ schema }).required, ['schema']);
  });
});
