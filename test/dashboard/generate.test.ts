/** What the view Generate sends and shows, without a browser: requests, code, recipients. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { describe, it } from 'node:test';
import {
  DEFAULT_ORDER,
  type Order,
  orderProblems,
  toRequest,
} from '../../dashboard/src/generate/order.ts';
import { readRecipient } from '../../dashboard/src/generate/recipient.ts';
import { snippet } from '../../dashboard/src/generate/snippets.ts';
import { formatRecipient, formatRecipientKey, newRecipient, sealTo } from '../../sdk/src/index.ts';

const NOW_MS = Date.UTC(2027, 0, 31, 12);
const ADDRESS = 'https://keys.example/base';

const FULL: Order = {
  ...DEFAULT_ORDER,
  level: 384,
  modulation: 'none',
  source: 'jitter',
  isValidated: true,
  hasReceipt: true,
  labels: [{ name: 'owner', value: `it's "x":"y", $HOME \\ \u00e9` }],
  expiry: '7',
};

describe('the request of an order', () => {
  it('has only what differs from the defaults: plain first, no tests', () => {
    assert.deepEqual(toRequest(DEFAULT_ORDER, NOW_MS), {
      kind: 'plain',
      body: { security_level: 256 },
    });
  });

  it('leaves out an expiry that is not entered yet', () => {
    const order = { ...DEFAULT_ORDER, expiry: 'at' };
    assert.deepEqual(toRequest(order, NOW_MS).body, { security_level: 256 });
    assert.ok(orderProblems(order, NOW_MS).expiry);
  });

  it('has every choice', () => {
    assert.deepEqual(toRequest(FULL, NOW_MS), {
      kind: 'plain',
      body: {
        security_level: 384,
        modulation_type: 'none',
        enable_nist_validation: true,
        include: ['nist_report', 'receipt'],
        entropy_source: 'jitter',
        labels: { owner: FULL.labels[0]?.value },
        expires_at: '2027-02-07T12:00:00.000Z',
      },
    });
  });

  it('names the recipient of a sealed key, and is refused without one', () => {
    const order = { ...DEFAULT_ORDER, isSealed: true };
    assert.match(orderProblems(order, NOW_MS).recipient ?? '', /Paste the recipient/);
    assert.deepEqual(toRequest({ ...order, recipient: 'build-server' }, NOW_MS), {
      kind: 'sealed',
      body: { security_level: 256, seal_to: { recipient: 'build-server' } },
    });
    assert.equal(
      orderProblems({ ...order, recipient: 'build-server' }, NOW_MS).recipient,
      undefined,
    );
  });
});

describe('the request as code', () => {
  /** Runs a command of the shell with a curl that prints its arguments, and returns them. */
  const argumentsOf = (code: string): string[] =>
    JSON.parse(
      execFileSync(
        'sh',
        [
          '-c',
          `curl() { "$NODE" -e 'console.log(JSON.stringify(process.argv.slice(1)))' -- "$@"; }\n${code}`,
        ],
        { encoding: 'utf8', env: { NODE: process.execPath, PHM_API_KEY: 'from-the-environment' } },
      ),
    );

  it('sends with curl what the page sends, whatever a label holds', () => {
    for (const order of [DEFAULT_ORDER, FULL]) {
      const request = toRequest(order, NOW_MS);
      const args = argumentsOf(snippet('curl', request, ADDRESS));
      assert.equal(args[0], `${ADDRESS}/api/v2/generate`);
      assert.ok(args.includes('X-API-Key: from-the-environment'), args.join(' '));
      assert.deepEqual(JSON.parse(args.at(-1) ?? ''), request.body);
    }
  });

  it('is TypeScript whose call has the same fields', () => {
    const request = toRequest(FULL, NOW_MS);
    const code = snippet('typescript', request, ADDRESS);
    const [, object] = /phm\.generate\((.*)\);$/s.exec(code) ?? [];
    assert.deepEqual(new Function(`return ${object}`)(), request.body);
    assert.match(code, /apiKey: process\.env\.PHM_API_KEY/);
    assert.match(
      snippet('typescript', toRequest(DEFAULT_ORDER, NOW_MS), ADDRESS),
      /security_level: 256/,
    );
  });

  it('is Python whose call has the same fields', () => {
    const { labels } = toRequest(FULL, NOW_MS).body;
    const code = snippet('python', toRequest(FULL, NOW_MS), ADDRESS);
    for (const part of [
      '    384,\n',
      'modulation_type="none"',
      'enable_nist_validation=True',
      'include=("nist_report", "receipt")',
      'entropy_source="jitter"',
      `labels={"owner": ${JSON.stringify(labels?.owner)}}`,
      'expires_at=datetime.fromisoformat("2027-02-07T12:00:00.000Z")',
    ]) {
      assert.ok(code.includes(part), `${part} in ${code}`);
    }
    assert.match(
      snippet('python', toRequest(DEFAULT_ORDER, NOW_MS), ADDRESS),
      /phm\.generate\(256\)$/,
    );
  });

  it('reads the public key of a recipient from its file', async () => {
    const recipient = formatRecipient(await newRecipient());
    const request = toRequest({ ...DEFAULT_ORDER, isSealed: true, recipient }, NOW_MS);
    for (const [language, call] of [
      [
        'typescript',
        'phm.generateSealed({\n  security_level: 256,\n  seal_to: sealTo(recipient)\n})',
      ],
      ['python', 'phm.generate_sealed(\n    256,\n    seal_to=recipient,\n)'],
    ] as const) {
      const code = snippet(language, request, ADDRESS);
      assert.ok(code.includes(call), code);
      assert.match(code, /my\.recipient/);
    }
    const args = argumentsOf(snippet('curl', request, ADDRESS));
    assert.equal(args[0], `${ADDRESS}/api/v2/generate/sealed`);
    assert.deepEqual(JSON.parse(args.at(-1) ?? ''), request.body);
  });
});

describe('a recipient', () => {
  it('is a file, a public key of either suite, or a name', async () => {
    for (const suite of ['MLKEM768-X25519', 'ML-KEM-1024'] as const) {
      const made = await newRecipient(suite);
      const expected = { sealTo: sealTo(made) };
      assert.deepEqual(readRecipient(` ${formatRecipient(made)}\n`), expected);
      assert.deepEqual(readRecipient(expected.sealTo.public_key), expected);
    }
    assert.deepEqual(readRecipient('build-server'), { sealTo: { recipient: 'build-server' } });
    for (const text of ['', 'two words', '{', '{"suite": "MLKEM768-X25519"}', 'x'.repeat(65)]) {
      const read = readRecipient(text);
      assert.ok('problem' in read && !read.isSecret, text);
    }
  });

  it('is never a secret', async () => {
    const made = await newRecipient();
    for (const secret of [
      formatRecipientKey(made),
      '0f'.repeat(32),
      'phmsk_live_x',
      '-----BEGIN PRIVATE KEY-----',
    ]) {
      const read = readRecipient(secret);
      assert.ok('problem' in read && read.isSecret, secret.slice(0, 30));
    }
  });
});
