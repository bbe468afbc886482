/** JSON bodies: which are accepted and which are refused, without quoting the body. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import type { FastifyInstance } from 'fastify';
import { newApiKey } from '../../../src/accounts/index.ts';
import { AppError } from '../../../src/errors.ts';
import { parseJson } from '../../../src/http/wire/json-body.ts';
import { findJsonFault } from '../../../src/http/wire/json-fault.ts';
import { buildTestApp, standInService } from '../../support/servers/app.ts';
import { CODE_POINTS } from '../../support/texts/code-points.ts';

/** Texts that are JSON, from RFC 8259's grammar. */
const GOOD = [
  '{}',
  '[]',
  '""',
  '0',
  '-0',
  '-0.0e-0',
  '1E+2',
  '1.5e300000',
  'true',
  'false',
  'null',
  ' \t\r\n{ "a" : [ 1 , { } , [ ] ] } \n',
  '{"":{"":{"":0}}}',
  '{"a":1,"b":{"a":1},"c":[{"a":1},{"a":2}]}',
  '"\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\ud83d\\ude00"',
  '"\u007f\u2028\u2029\ufeff😀"',
  '{"__proto__":1,"constructor":{"prototype":1}}',
  `${'['.repeat(8_000)}${']'.repeat(8_000)}`,
  `${'{"a":'.repeat(3_000)}1${'}'.repeat(3_000)}`,
];

/** Texts that are not JSON, with the position of the fault. */
const BAD: readonly [string, number, number, RegExp][] = [
  ['{', 1, 2, /^expected a name in double quotes, but the text ends$/],
  ['{"a"', 1, 5, /^expected ":", but the text ends$/],
  ['{"a" 1}', 1, 6, /^expected ":"$/],
  ['{"a":}', 1, 6, /^expected a value$/],
  ['{"a":1', 1, 7, /^expected "," or "}", but the text ends$/],
  ['{"a":1,}', 1, 8, /^expected a name in double quotes$/],
  ['{"a":1 "b":2}', 1, 8, /^expected "," or "}"$/],
  ['{a:1}', 1, 2, /^expected a name in double quotes$/],
  ["{'a':1}", 1, 2, /^expected a name in double quotes$/],
  ['{"a":1]', 1, 7, /^expected "," or "}"$/],
  ['[1,]', 1, 4, /^expected a value$/],
  ['[,1]', 1, 2, /^expected a value$/],
  ['[1', 1, 3, /^expected "," or "]", but the text ends$/],
  ['[1}', 1, 3, /^expected "," or "]"$/],
  ['{} {}', 1, 4, /^expected nothing after the value$/],
  ['1 2', 1, 3, /nothing after/],
  ['01', 1, 2, /nothing after/],
  ['1.', 1, 2, /nothing after/],
  ['.5', 1, 1, /^expected a value$/],
  ['+1', 1, 1, /^expected a value$/],
  ['-', 1, 1, /^expected a value$/],
  ['1e', 1, 2, /nothing after/],
  ['0x10', 1, 2, /nothing after/],
  ['NaN', 1, 1, /^expected a value$/],
  ['Infinity', 1, 1, /^expected a value$/],
  ['True', 1, 1, /^expected a value$/],
  ['nul', 1, 1, /^expected a value$/],
  ['undefined', 1, 1, /^expected a value$/],
  ['// x\n1', 1, 1, /^expected a value$/],
  ['{"a":/**/1}', 1, 6, /^expected a value$/],
  ['\u00a01', 1, 1, /^expected a value$/],
  ['\f1', 1, 1, /^expected a value$/],
  ['"a', 1, 3, /^expected the closing quote of a string, but the text ends$/],
  ['"a\nb"', 1, 3, /control character/],
  ['"a\u0000"', 1, 3, /control character/],
  ['"\\x41"', 1, 2, /unknown escape/],
  ['"\\u12g4"', 1, 2, /unknown escape/],
  ['{"a":\'b\'}', 1, 6, /^expected a value$/],
  ['"\\ud83d"', 1, 1, /half a character/],
  ['{"a":"\\ude00\\ud83d"}', 1, 6, /half a character/],
  ['{"a":1,"a":1}', 1, 8, /twice/],
  ['{"a":1,"\\u0061":1}', 1, 8, /twice/],
  ['[{"x":{"a":1,"b":[],"a":1}}]', 1, 21, /twice/],
  ['{\n  "😀": 1\r\n, x}', 3, 3, /^expected a name/],
  ['{"😀é": x}', 1, 8, /^expected a value$/],
];

const isJson = (text: string) => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

describe('findJsonFault', () => {
  it('finds no fault in valid JSON', () => {
    for (const text of GOOD) {
      assert.ok(isJson(text));
      assert.equal(findJsonFault(text), undefined, text.slice(0, 80));
    }
  });

  it('returns the fault and its position', () => {
    for (const [text, line, column, what] of BAD) {
      const fault = findJsonFault(text);
      assert.deepEqual([fault?.line, fault?.column], [line, column], text);
      assert.match(fault?.what ?? '', what, text);
    }
  });

  it('agrees with JSON.parse except on repeated names and lone surrogates', () => {
    const piece = fc.constantFrom(
      ...['{', '}', '[', ']', ',', ':', '"', '"a"', '"a":', '"b":', '1', '-', '0', '.', 'e', '+'],
      ...[
        'true',
        'null',
        ' ',
        '\n',
        '\\',
        '\\u0061',
        '\\ud83d',
        '\\ude00',
        '\u0000',
        '😀',
        '\ufeff',
      ],
    );
    const text = fc.oneof(
      fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join('')),
      fc.json({ stringUnit: CODE_POINTS }),
      fc
        .tuple(fc.json(), fc.nat(), fc.constantFrom('', ',', '"', '}', '1', '\\', ' '))
        .map(([json, at, put]) => {
          const place = at % (json.length + 1);
          return json.slice(0, place) + put + json.slice(place + 1);
        }),
    );
    fc.assert(
      fc.property(text, (sample) => {
        const fault = findJsonFault(sample);
        const stricter = fault?.repeated !== undefined || fault?.what.includes('half a character');
        // A stricter rule ends the scan, so the rest may be anything.
        if (!stricter) assert.equal(fault === undefined, isJson(sample), sample);
      }),
      { numRuns: 5_000 },
    );
  });

  it('finds repeated names at any depth, and only within one object', () => {
    const names = fc.uniqueArray(fc.string({ unit: 'grapheme', maxLength: 5 }), { minLength: 1 });
    fc.assert(
      fc.property(names, fc.nat(), fc.nat(20), (unique, pick, depth) => {
        const members = unique.map((name) => `${JSON.stringify(name)}: {}`);
        const wrap = (body: string) => `${'[{"x":'.repeat(depth)}${body}${'}]'.repeat(depth)}`;
        assert.equal(findJsonFault(wrap(`{${members.join()}}`)), undefined);
        const repeated = unique[pick % unique.length] ?? '';
        const fault = findJsonFault(wrap(`{${members.join()},${JSON.stringify(repeated)}:1}`));
        assert.equal(fault?.repeated, repeated);
      }),
    );
  });
});

describe('parseJson', () => {
  const detailOf = (body: Buffer | string): string => {
    try {
      parseJson(Buffer.from(body));
    } catch (error) {
      assert.ok(error instanceof AppError && error.code === 'malformed_json');
      return error.details.detail ?? '';
    }
    assert.fail('the body was taken');
  };

  it('returns the value that JSON.parse returns', () => {
    // Some are nested more deeply than assert can compare.
    for (const text of GOOD.filter(({ length }) => length < 1_000)) {
      assert.deepEqual(parseJson(Buffer.from(text)), JSON.parse(text));
    }
  });

  it('ignores a byte order mark and returns undefined for an empty body', () => {
    assert.deepEqual(parseJson(Buffer.from('\ufeff{"a":1}')), { a: 1 });
    for (const text of ['', ' \r\n\t', '\ufeff']) {
      assert.equal(parseJson(Buffer.from(text)), undefined);
    }
    assert.match(detailOf('\ufeff\ufeff{}'), /line 1, column 1/);
  });

  it('rejects invalid UTF-8', () => {
    for (const bytes of [
      [0x22, 0xff, 0x22],
      [0x22, 0xc3, 0x22],
      [0x22, 0xed, 0xa0, 0x80, 0x22],
      [0x22, 0xc0, 0xaf, 0x22],
      [0xff, 0xfe, 0x7b, 0, 0x7d, 0],
    ]) {
      assert.equal(detailOf(Buffer.from(bytes)), 'The body is not UTF-8.');
    }
  });

  it('names a repeated name, shortened and printable, and quotes nothing else', () => {
    assert.equal(
      detailOf('{"key":\n "5ec2e7", "key": "x"}'),
      'The body has the name "key" twice in one object; the second is at line 2, column 12.',
    );
    const long = '5ec2e7'.repeat(16);
    const detail = detailOf(`{"${long}": 1, "${long}": 2}`);
    assert.ok(detail.includes(`"${long.slice(0, 8)}…"`), detail);
    for (const [text] of BAD) {
      const secret = `{"key": "5ec2e75ec2e7", "rest": ${text}`;
      assert.ok(!detailOf(secret).includes('5ec2e7'), secret);
    }
  });
});

describe('a request body', () => {
  let app: FastifyInstance;
  before(async () => {
    const verdict = { valid: true, keyFormat: 'valid', entropyCheck: 'passed' } as const;
    const usage = { month: 0, used: 0, quota: null };
    const service = standInService('enterprise', {
      validate: async () => ({
        kind: 'validated',
        usage,
        verdict: { ...verdict, proofVerification: 'passed', retiredSecret: null, keyStatus: null },
      }),
    });
    app = await buildTestApp({ service, rateLimits: false });
  });
  after(() => app.close());

  const apiKey = newApiKey('live');
  const post = async (payload: Buffer | string, type = 'application/json', url = 'validate') => {
    const headers = { 'x-api-key': apiKey, 'content-type': type };
    const answer = await app.inject({ method: 'POST', url: `/api/v2/${url}`, headers, payload });
    const { code, detail } = answer.json();
    return [answer.statusCode, code, detail];
  };

  it('is read as UTF-8, however its Content-Type spells that', async () => {
    for (const parameters of [
      '',
      ';',
      '; charset=utf-8',
      ';charset="UTF-8"',
      ' ; Charset=utf8',
      '; profile=x; charset=Utf-8',
    ]) {
      const [status] = await post('{"key": "é"}', `application/json${parameters}`);
      assert.equal(status, 200, parameters);
    }
    for (const charset of ['iso-8859-1', '"utf-16"', 'us-ascii', "'utf-8'", 'x'.repeat(500)]) {
      assert.deepEqual(
        await post('{"key": "é"}', `application/json; charset=${charset}`),
        [
          415,
          'unsupported_media_type',
          'The charset in Content-Type is not UTF-8. Encode the body as UTF-8 and omit the charset.',
        ],
        charset,
      );
    }
    assert.deepEqual(await post(Buffer.from('{"key": "\xe9"}', 'latin1')), [
      400,
      'malformed_json',
      'The body is not UTF-8. Send one JSON object as the body, encoded as UTF-8.',
    ]);
  });

  it('is required, and the error contains a valid example', async () => {
    for (const url of ['generate', 'validate']) {
      const [status, code, detail] = await post('', 'application/json', url);
      assert.deepEqual([status, code], [400, 'malformed_json']);
      assert.match(detail, /^The body is missing\. The smallest valid body is (\{.*\})\.$/);
      assert.deepEqual(await post('\ufeff \n', 'application/json', url), [status, code, detail]);
      const bare = await app.inject({
        method: 'POST',
        url: `/api/v2/${url}`,
        headers: { 'x-api-key': apiKey },
      });
      assert.equal(bare.json().detail, detail);
    }
    const [, , detail] = await post('');
    const [, example] = /is (\{.*\})\.$/.exec(detail) ?? [];
    assert.equal((await post(example ?? ''))[0], 200);
  });

  it('is rejected with the position of its fault', async () => {
    assert.deepEqual(await post('{"key": "5ec2e7",\n  key: 1}'), [
      400,
      'malformed_json',
      'The body is not valid JSON. At line 2, column 3: expected a name in double quotes. Send one JSON object as the body, encoded as UTF-8.',
    ]);
    assert.deepEqual(await post('{"key": "5ec2e7", "key": "x"}'), [
      400,
      'malformed_json',
      'The body has the name "key" twice in one object; the second is at line 1, column 19. Send each name once.',
    ]);
  });
});
