/** Requests of ETSI GS QKD 014: their defaults and bounds, and what is refused. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  keyIdsOfBody,
  keyIdsOfQuery,
  keyRequestOfBody,
  keyRequestOfQuery,
  parseTarget,
} from '../../src/etsi014/request.ts';
import { RequestError } from '../../src/listeners/answer.ts';

const ID = '550e8400-e29b-41d4-a716-446655440000';
const OTHER = 'bc490419-7d60-487f-adc1-4ddcc177c139';

const byQuery = (text: string) => keyRequestOfQuery(new URLSearchParams(text), 256);
const byBody = (value: unknown) => keyRequestOfBody(JSON.stringify(value), 256);

function refuses(work: () => unknown, message: RegExp, status = 400): void {
  assert.throws(work, (error) => {
    assert.ok(error instanceof RequestError);
    assert.equal(error.status, status);
    assert.match(error.message, message);
    return true;
  });
}

describe('the path', () => {
  it('names a system, URL-encoded, and a method', () => {
    const { system, method, query } = parseTarget('/api/v1/keys/urn%3Asae%2Fb/enc_keys?number=3');
    assert.deepEqual([system, method, query.get('number')], ['urn:sae/b', 'enc_keys', '3']);
  });

  it('is unknown in any other form', () => {
    for (const path of [
      '/',
      '/api/v1/keys/b',
      '/api/v1/keys//status',
      '/api/v1/keys/b/status/',
      '/api/v2/keys/b/status',
      '/api/v1/keys/b/c/status',
      'http://h/api/v1/keys/b/status',
    ]) {
      refuses(() => parseTarget(path), /no such resource/, 404);
    }
    refuses(() => parseTarget('/api/v1/keys/%zz/status'), /URL-encoded/);
  });
});

describe('a request for keys', () => {
  it('has defaults, by query, body and empty body', () => {
    const usual = { number: 1, size: 256, further: [] };
    assert.deepEqual(byQuery(''), usual);
    assert.deepEqual(byBody({}), usual);
    assert.deepEqual(keyRequestOfBody('', 256), usual);
    assert.deepEqual(keyRequestOfBody('', 384).size, 384);
    const nulls = ['number', 'size', 'additional_slave_SAE_IDs', 'extension_mandatory'];
    assert.deepEqual(byBody(Object.fromEntries(nulls.map((name) => [name, null]))), usual);
  });

  it('states number, size and further slaves', () => {
    assert.deepEqual(byQuery('number=128&size=384'), { number: 128, size: 384, further: [] });
    const further = ['c', 'd'];
    assert.deepEqual(byBody({ number: 2, size: 128, additional_slave_SAE_IDs: further }), {
      number: 2,
      size: 128,
      further,
    });
  });

  it('is refused beyond its bounds', () => {
    for (const number of ['0', '129', '-1', '1.5', '1e1', 'x', '', '9999999999']) {
      refuses(() => byQuery(`number=${number}`), /number shall be a whole number from 1 to 128/);
    }
    for (const number of [0, 129, 1.5, '1', true, [1]]) {
      refuses(() => byBody({ number }), /number shall be/);
    }
    refuses(() => byQuery('size=257'), /^size shall be a multiple of 8$/);
    refuses(() => byBody({ size: 12 }), /^size shall be a multiple of 8$/);
    for (const size of [64, 192, 512, '256']) {
      refuses(() => byBody({ size }), /size shall be one of 128, 256, 384/);
    }
    for (const list of ['b', ['c', 'c'], [1], ['c', 'd', 'e', 'f', 'g', 'h', 'i'], {}]) {
      refuses(() => byBody({ additional_slave_SAE_IDs: list }), /array of at most 6 different/);
    }
  });

  it('ignores optional extensions and refuses mandatory ones, naming them', () => {
    const size = 256;
    for (const extension_optional of [[], [{ a: 1 }], [{ a: { b: [] } }, {}], { a: 1 }]) {
      assert.equal(byBody({ extension_optional, extension_mandatory: [] }).size, size);
    }
    assert.throws(
      () => byBody({ extension_mandatory: [{ route: 'x' }, { other: 1 }] }),
      ({ message, details }: RequestError) => {
        assert.equal(message, 'not all extension_mandatory parameters are supported');
        assert.deepEqual(details, [
          { extension_mandatory_unsupported: 'route, other is not supported' },
        ]);
        return true;
      },
    );
    for (const list of [[{}], { a: 1 }, 'x', 0]) {
      refuses(() => byBody({ extension_mandatory: list }), /extension_mandatory/);
    }
  });

  it('is refused with what the standard does not define', () => {
    refuses(() => byQuery('numbers=2'), /no parameter "numbers"/);
    refuses(() => byQuery('number=1&number=2'), /twice/);
    refuses(() => byBody({ numbers: 2 }), /no member "numbers"/);
    refuses(() => keyRequestOfBody('{"number":1,"number":2}', 256), /twice/);
    for (const body of ['[]', 'null', '1', '"x"']) {
      refuses(() => keyRequestOfBody(body, 256), /JSON object/);
    }
    for (const body of ['{', '\u0000', 'number=1']) {
      refuses(() => keyRequestOfBody(body, 256), /shall be JSON/);
    }
  });
});

describe('a request for keys by ID', () => {
  it('has one ID by query, and several by body, in any case of letters', () => {
    assert.deepEqual(keyIdsOfQuery(new URLSearchParams(`key_ID=${ID.toUpperCase()}`)), [ID]);
    const body = {
      key_IDs: [{ key_ID: ID, key_ID_extension: { a: 1 } }, { key_ID: OTHER.toUpperCase() }],
      key_IDs_extension: {},
    };
    assert.deepEqual(keyIdsOfBody(JSON.stringify(body)), [ID, OTHER]);
  });

  it('is refused without IDs, with repeated and too many IDs, and with what is no UUID', () => {
    const ids = (list: unknown) => () => keyIdsOfBody(JSON.stringify({ key_IDs: list }));
    for (const list of [undefined, [], {}, 'x', new Array(129).fill({ key_ID: ID })]) {
      refuses(ids(list), /array of 1 to 128/);
    }
    for (const one of [null, ID, {}, { key_ID: 1 }, { key_ID: `${ID}0` }, { key_ID: 'x' }]) {
      refuses(ids([one]), /shall be a UUID/);
    }
    refuses(ids([{ key_ID: ID }, { key_ID: ID.toUpperCase() }]), /twice/);
    refuses(() => keyIdsOfQuery(new URLSearchParams('')), /missing/);
    refuses(() => keyIdsOfBody(''), /shall be JSON/);
  });
});
