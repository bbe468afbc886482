/** Every text that the command line reads: the same verdict in every form, and exit code 2 without one for other encodings. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { encodeBase64 } from '#tlog';
import { DEMO_ACCOUNTS } from '../../src/accounts/index.ts';
import { sealAnswer } from '../support/clients/sealed-answer.ts';
import { OTHER_ENCODINGS, SAME_TEXT } from '../support/lab/text-forms.ts';
import { LogLedger } from '../support/ledgers/log-ledger.ts';
import { runCommand, runCommandOn } from '../support/servers/run-command.ts';

let ledger: LogLedger;
/** Texts by the name of their file. */
const texts: Record<string, string> = {};
before(async () => {
  ledger = await LogLedger.create();
  const [, key] = await ledger.addKeys(2);
  if (!key) throw new Error('no key');
  await ledger.publish();
  texts.receipt = `${JSON.stringify(await ledger.receiptOf(key), null, 2)}\n`;
  texts.policy = (await ledger.run('log', 'show', '--policy')).stdout;
  texts.key = `${key.key.toString('hex')}\n`;
  texts.opening = `${encodeBase64(key.opening)}\n`;
  texts.ids = 'phm_1\nphm_2\n';
  await runCommand(['recipient', 'new', '--output', path('ada')]);
  texts.recipient = readFileSync(path('ada.recipient'), 'utf8');
  texts['recipient-key'] = readFileSync(path('ada.recipient-key'), 'utf8');
  const { answer } = await sealAnswer(texts.recipient, 'phm_1');
  texts.sealed = `${JSON.stringify(answer, null, 2)}\n`;
  texts.vectors = readFileSync(
    new URL('../vectors/drbg/CTR_DRBG.no_reseed.excerpt.rsp', import.meta.url),
    'latin1',
  );
  for (const [name, text] of Object.entries(texts)) writeFileSync(path(name), text);
});
after(() => ledger.remove());

const path = (name: string): string => join(ledger.folder, name);

/** Commands by the file in them that is written in each form. */
const COMMANDS: readonly (readonly [file: string, ...args: string[]])[] = [
  ['receipt', 'receipt', 'verify', '=receipt', '--policy', '=policy'],
  ['policy', 'receipt', 'verify', '=receipt', '--policy', '=policy'],
  [
    'key',
    'receipt',
    'verify',
    '=receipt',
    '--policy',
    '=policy',
    '--key-file',
    '=key',
    '--opening',
    '@opening',
  ],
  [
    'opening',
    'receipt',
    'verify',
    '=receipt',
    '--policy',
    '=policy',
    '--key-file',
    '=key',
    '--opening',
    '@opening',
  ],
  ['sealed', 'open', '=sealed', '--recipient-key', '=recipient-key'],
  ['recipient-key', 'open', '=sealed', '--recipient-key', '=recipient-key'],
  ['recipient', 'recipient', 'show', '=recipient'],
  ['vectors', 'selftest', '--cavp', '=vectors'],
];

const filled = (arg: string): string =>
  arg.startsWith('=') ? path(arg.slice(1)) : arg.startsWith('@') ? `@${path(arg.slice(1))}` : arg;

describe('a text file of the command line', () => {
  for (const [file, ...args] of COMMANDS) {
    it(`is the same in every form: ${args.slice(0, 2).join(' ')}, ${file}`, async () => {
      const text = texts[file] ?? '';
      const run = () => runCommand(args.map(filled));
      const expected = await run();
      assert.equal(expected.code, 0, expected.stderr);
      for (const [form, bytes] of Object.entries(SAME_TEXT)) {
        writeFileSync(path(file), bytes(text));
        const { code, stdout, stderr } = await run();
        assert.deepEqual([code, stdout], [0, expected.stdout], `${form}: ${stderr}`);
      }
      for (const [encoding, bytes, words] of OTHER_ENCODINGS) {
        writeFileSync(path(file), bytes(text));
        const { code, stdout, stderr } = await run();
        assert.deepEqual([code, stdout], [2, ''], `${encoding}: ${stderr}`);
        assert.match(stderr, words, encoding);
        assert.ok(!stderr.includes(texts.key?.trim() ?? ''));
      }
      writeFileSync(path(file), text);
    });
  }

  it('is the same from standard input', async () => {
    const verify = ['receipt', 'verify', '-', '--policy', path('policy')];
    const open = ['open', '-', '--recipient-key', path('recipient-key')];
    for (const [text = '', args] of [
      [texts.receipt, verify],
      [texts.sealed, open],
    ] as const) {
      for (const [form, bytes] of Object.entries(SAME_TEXT)) {
        assert.equal((await runCommandOn(bytes(text), args)).code, 0, form);
      }
      for (const [encoding, bytes, words] of OTHER_ENCODINGS) {
        const { code, stdout, stderr } = await runCommandOn(bytes(text), args);
        assert.deepEqual([code, stdout], [2, ''], encoding);
        assert.match(stderr, words);
      }
    }
  });
});

describe('an API key file', () => {
  it('is sent as the same API key in every form', async () => {
    const [{ apiKey }] = DEMO_ACCOUNTS;
    const sent: (string | undefined)[] = [];
    const server = createServer((request, response) => {
      sent.push(request.headers['x-api-key']?.toString());
      response.writeHead(401, { connection: 'close' }).end();
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    const env = { PHM_URL: `http://127.0.0.1:${port}`, PHM_API_KEY_FILE: path('api-key') };
    const forms = Object.values(SAME_TEXT);
    for (const bytes of forms) {
      writeFileSync(path('api-key'), bytes(`${apiKey}\n`));
      await runCommand(['keys', 'list'], env);
    }
    server.close();
    assert.deepEqual(sent, Array(forms.length).fill(apiKey));
  });

  it('is named in another encoding, and nothing is sent', async () => {
    for (const [encoding, bytes, words] of OTHER_ENCODINGS) {
      writeFileSync(path('api-key'), bytes('phmsk_x\n'));
      const env = { PHM_URL: 'http://127.0.0.1:9', PHM_API_KEY_FILE: path('api-key') };
      const { code, stderr } = await runCommand(['keys', 'list'], env);
      assert.equal(code, 2, encoding);
      assert.match(stderr, words);
    }
  });
});
