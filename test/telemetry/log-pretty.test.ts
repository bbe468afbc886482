/** Pretty log lines hold what the JSON holds, and no value controls the terminal. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { prettyLines } from '../../src/telemetry/log-pretty.ts';

const plain = prettyLines({ color: false });
const line = (entry: object) => `${JSON.stringify(entry)}\n`;

describe('a pretty log line', () => {
  it('shows time, level, message and fields', () => {
    const entry = {
      level: 30,
      time: Date.UTC(2026, 10, 21, 23, 4, 5, 67),
      reqId: 'a-1',
      route: '/api/v2/generate',
      status: 200,
      ms: 1.25,
      versions: [1, 2],
      reason: 'two words',
      none: null,
      msg: 'request',
    };
    assert.equal(
      plain(line(entry)),
      '23:04:05.067 INFO  request reqId=a-1 route=/api/v2/generate status=200 ms=1.25 ' +
        'versions=[1,2] reason="two words" none=null\n',
    );
  });

  it('is coloured by level if enabled', () => {
    const colored = prettyLines({ color: true })(line({ level: 50, time: 0, msg: 'failed' }));
    assert.equal(colored, '\x1b[90m00:00:00.000\x1b[0m \x1b[31mERROR\x1b[0m failed\n');
  });

  it('keeps a foreign line, with its control characters escaped', () => {
    assert.equal(plain('half a \x1b[31mline\n'), 'half a \\u001b[31mline\n');
    assert.equal(plain('[1]\n'), '[1]\n');
    assert.equal(plain(line({ level: 'x', time: 'y' })), '??:??:??.??? ?    \n');
  });

  it('contains no control characters or direction marks, whatever is logged', () => {
    const nasty = fc.string({
      unit: fc.constantFrom(
        '\x1b',
        '\n',
        '\r',
        '\x07',
        '\x9b',
        '\x7f',
        '\u2028',
        '\u202e',
        '\u2066',
        '\ud800',
        'a',
        ' ',
      ),
    });
    const entry = fc.record({
      level: fc.nat(70),
      time: fc.double(),
      msg: nasty,
      a: nasty,
      b: fc.array(nasty),
    });
    fc.assert(
      fc.property(entry, nasty, (fields, key) => {
        const shown = plain(line({ ...fields, [`k${key}`]: key }));
        assert.ok(shown.endsWith('\n'));
        // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
        assert.doesNotMatch(shown.slice(0, -1), /[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]/);
        assert.ok(shown.isWellFormed());
      }),
    );
  });
});
