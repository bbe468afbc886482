/** The Prefer header (RFC 7240), and suggestions for misspelt names. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  bodyPointer,
  labelOf,
  queryPointer,
  quoteName,
} from '../../../src/http/wire/field-names.ts';
import { nearestName } from '../../../src/http/wire/nearest-name.ts';
import { preferenceHeaders, requestedHandling } from '../../../src/http/wire/prefer.ts';
import { CODE_POINTS } from '../../support/texts/code-points.ts';

describe('requestedHandling', () => {
  it('reads the handling preference in every form of RFC 7240 §2', () => {
    for (const header of [
      'handling=strict',
      'Handling=STRICT',
      'handling="strict"',
      'handling="s\\trict"',
      ' handling \t=  strict ',
      'handling=strict; foo="a, b"',
      'return=minimal, handling=strict',
      'respond-async,wait=10 , , handling=strict',
      'foo="handling=lenient, \\", x", handling=strict',
      'foo; bar=", handling=lenient", handling=strict',
      // Node joins repeated headers with commas; only the first instance counts.
      'handling=strict, handling=lenient',
    ]) {
      assert.equal(requestedHandling(header), 'strict', header);
    }
    assert.equal(requestedHandling('handling=lenient, handling=strict'), 'lenient');
  });

  it('ignores everything else', () => {
    for (const header of [
      undefined,
      '',
      'handling',
      'handling=',
      'handling=""',
      'handling=other, handling=strict',
      'nothandling=strict',
      'foo=handling; handling=strict',
      'foo="handling=strict',
      'foo=", handling=strict',
      'handling strict',
      'handling==strict',
      'handling=strict strict',
    ]) {
      assert.equal(requestedHandling(header), undefined, String(header));
    }
  });

  it('reads any text in linear time', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'a=",;\\ \t'), maxLength: 200 }), (text) => {
        assert.equal(requestedHandling(`handling=strict, ${text}`), 'strict');
      }),
    );
    // Long enough that quadratic time would take minutes.
    for (const text of ['"', '\\', ',', ';', ' ', '\t', '=', 'a=', '"\\', '","', ' =', '(']) {
      const long = text.repeat(2 ** 19 / text.length);
      for (const header of [long, `a${long}(`, `a=${long}(`, `a="${long}("(`, `(${long}`]) {
        assert.equal(requestedHandling(header), undefined);
      }
    }
  });

  it('is confirmed by Preference-Applied', () => {
    const headers = { 'preference-applied': 'handling=strict' };
    assert.deepEqual(preferenceHeaders({ prefer: 'Handling="strict"' }), headers);
    assert.deepEqual(preferenceHeaders({ prefer: 'return=minimal' }), {});
  });
});

describe('nearestName', () => {
  const fields = [
    'security_level',
    'enable_nist_validation',
    'modulation_type',
    'entropy_source',
    'include',
  ];

  it('recognises other spellings, typing errors and partial names', () => {
    const cases: [string, string][] = [
      ['securityLevel', 'security_level'],
      ['Security-Level', 'security_level'],
      ['securty_level', 'security_level'],
      ['level', 'security_level'],
      ['enable_nist', 'enable_nist_validation'],
      ['nist_validation', 'enable_nist_validation'],
      ['modulation', 'modulation_type'],
      ['source', 'entropy_source'],
      ['includes', 'include'],
    ];
    for (const [name, expected] of cases) assert.equal(nearestName(name, fields), expected, name);
    assert.equal(nearestName('hour', ['hours', 'step']), 'hours');
    assert.equal(nearestName('hashProof', ['key', 'hash_proof']), 'hash_proof');
  });

  it('makes no guess for names with another meaning', () => {
    for (const name of ['metadata', 'qasm', 'qasm_circuit', 'id', 'x', '', '__proto__', 'ключ']) {
      assert.equal(nearestName(name, fields), undefined, name);
    }
    assert.equal(nearestName('security_level'.repeat(100), fields), undefined);
  });
});

describe('a name in an answer', () => {
  it('is short, printable and quoted', () => {
    assert.equal(quoteName('metadata'), '"metadata"');
    assert.equal(quoteName('a"b\\'), '"a\\"b\\\\"');
    assert.equal(quoteName('a\u001b[31m\u009b\u202e'), '"a\\u001b[31m\\u{9b}\\u{202e}"');
    assert.equal(quoteName('f'.repeat(24)), `"${'f'.repeat(24)}"`);
    assert.equal(quoteName(`${'f'.repeat(7)}${'😀'.repeat(9)}`), `"${'f'.repeat(7)}…"`);
  });

  it('is cut to 8 characters if it may be a key', () => {
    assert.equal(quoteName('f'.repeat(32)), `"${'f'.repeat(8)}…"`);
    assert.equal(bodyPointer('f'.repeat(32)), `#/${'f'.repeat(8)}%E2%80%A6`);
    assert.equal(queryPointer('f'.repeat(25)), `?${'f'.repeat(8)}%E2%80%A6`);
  });

  it('can be decoded from its pointer', () => {
    assert.equal(bodyPointer('a/b~c d'), '#/a~1b~0c%20d');
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 }), (name) => {
        assert.equal(labelOf(bodyPointer(name)), quoteName(name));
        assert.equal(labelOf(queryPointer(name)), `Query parameter ${quoteName(name)}`);
      }),
    );
    fc.assert(
      fc.property(fc.string({ unit: CODE_POINTS }), (name) => {
        for (const pointer of [bodyPointer(name), queryPointer(name)]) {
          assert.match(pointer, /^[!-~]{1,300}$/);
          labelOf(pointer);
        }
      }),
    );
    assert.equal(labelOf('#'), 'The body');
    assert.equal(labelOf('#/include/0'), '"include[0]"');
  });
});
