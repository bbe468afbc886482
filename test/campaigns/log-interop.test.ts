/**
 * The transparency log as other people's code sees it: golang.org/x/mod and filippo.io/torchwood verify
 * checkpoints, tiles, entries and receipts, and a witness cosigns heads and refuses a fork. 1 min, and up to
 * 4 min more when Go compiles the witness for the first time.
 */
import assert from 'node:assert/strict';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server as HttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { openCheckpoint, openPolicy, openVerifierKey } from '../../src/log/index.ts';
import { LogSite } from '../support/ledgers/log-site.ts';
import { buildGo, noGo, type Result, run } from '../support/programs/go.ts';
import { LiteWitness, noSshAgent } from '../support/programs/lite-witness.ts';
import { makeDataDir, removeDataDir, type Server } from '../support/servers/server.ts';

/** More entries than one tile and one bundle hold. */
const KEYS = 300;
const EARLY_KEYS = 5;

/** Time for a cosignature: heads are submitted every 5 s, and again 5 s after a failure. */
const WITNESS_MS = 30_000;

const WITNESS_PROGRAM = 'filippo.io/torchwood/cmd/litewitness';

const folder = makeDataDir();
const skip = noGo() ?? (await buildGo(folder, ['./verify', WITNESS_PROGRAM])) ?? noSshAgent();
if (skip !== undefined) process.stderr.write(`log-interop: skipped: ${skip}\n`);

interface GoCheck {
  readonly log?: string;
  readonly policy?: string;
  readonly old?: string;
  readonly receipts?: readonly string[];
}

describe("a log under other people's code", { skip: skip ?? false }, () => {
  const site = LogSite.sqlite();
  let server: Server;
  let witness: LiteWitness;
  let ed25519 = '';
  let origin = '';

  const path = (name: string) => join(folder, name);
  const save = (name: string, text: string) => {
    writeFileSync(path(name), text);
    return path(name);
  };
  const read = async (name: string, from = `${server.address}/log`) =>
    (await fetch(`${from}/${name}`)).text();

  /** Generates keys. Returns the answers. */
  async function generate(count: number, include: readonly string[] = []) {
    const order = { security_level: 256, include };
    const answers = [];
    for (let i = 0; i < count; i += 50) {
      const batch = Array.from({ length: Math.min(50, count - i) }, () =>
        server.generate(order, site.apiKey),
      );
      answers.push(...(await Promise.all(batch)));
    }
    for (const { status, body } of answers) assert.equal(status, 200, JSON.stringify(body));
    return answers.map(({ body }) => body);
  }

  /** Generates a key and saves its receipt. */
  async function receipt(name: string): Promise<string> {
    const [{ receipt }] = await generate(1, ['receipt']);
    assert.ok(receipt, 'the receipt is in the answer');
    return save(name, JSON.stringify(receipt));
  }

  function verify({ log, policy = path('policy'), old, receipts = [] }: GoCheck): Promise<Result> {
    return run(path('verify'), [
      ...['-log', log ?? `${server.address}/log`, '-ed25519', ed25519, '-policy', policy],
      ...(old === undefined ? [] : ['-old', old]),
      ...receipts,
    ]);
  }

  /** Resolves once the served checkpoint has at least this size and the witness's signature. */
  async function cosigned(minSize: number) {
    const keys = [ed25519, witness.vkey].map(openVerifierKey);
    for (const deadline = Date.now() + WITNESS_MS; Date.now() < deadline; await sleep(200)) {
      const { checkpoint, signedBy } = openCheckpoint(await read('checkpoint'), keys);
      const signer = signedBy.find(({ text }) => text === witness.vkey);
      if (signer && checkpoint.size >= minSize) return { size: checkpoint.size, signer };
    }
    throw new Error(`no cosignature in time:\n${server.log}`);
  }

  /** Resolves once the server has logged a text. */
  async function logged(text: string): Promise<void> {
    for (const deadline = Date.now() + WITNESS_MS; Date.now() < deadline; await sleep(200)) {
      if (server.log.includes(text)) return;
    }
    throw new Error(`not logged: ${text}\n${server.log}`);
  }

  before(async () => {
    server = await site.start();
    const policy = await read('policy');
    save('policy', policy);
    ed25519 = /^#.* (\S+\+[0-9a-f]{8}\+\S+)$/m.exec(policy)?.[1] ?? '';
    origin = openVerifierKey(ed25519).name;
  });
  after(async () => {
    await server?.stop();
    await witness?.stop();
    await site.remove();
    removeDataDir(folder);
  });

  it('shows Go its entries, its growth, both signatures and receipts', async () => {
    await generate(EARLY_KEYS - 1);
    const early = await receipt('early.json');
    const old = save('old', await read('checkpoint'));
    await generate(KEYS);
    const late = await receipt('late.json');
    const { code, output } = await verify({ old, receipts: [early, late] });
    assert.equal(code, 0, output);
    const [, size] = /^Ed25519: (\d+) entries$/m.exec(output) ?? [];
    assert.ok(Number(size) > KEYS, output);
    assert.match(output, /^policy: ML-DSA-44 and quorum$/m);
    assert.match(output, new RegExp(`^inclusion: ${size} entries$`, 'm'));
    assert.match(output, /^consistency: from \d+ entries$/m);
    assert.equal(output.match(/^receipt: /gm)?.length, 2, output);
  });

  it('shows Go each change of a tile, an entry, the checkpoint or a receipt', async () => {
    for (const [changed, message] of [
      ['tile/0/000', /downloaded inconsistent tile|invalid/],
      ['tile/entries/000', /invalid transparency proof|invalid/],
      ['checkpoint', /./],
    ] as const) {
      const forger = await serveChanged(`${server.address}/log`, changed);
      const { port } = forger.address() as AddressInfo;
      const { code, output } = await verify({ log: `http://127.0.0.1:${port}` });
      forger.close();
      assert.notEqual(code, 0, `${changed}: ${output}`);
      assert.match(output, message);
    }
    const good = readFileSync(path('late.json'), 'utf8');
    for (const [from, to] of [
      ['"security_level":256', '"security_level":128'],
      [/index \d+/, 'index 0'],
      [/"salt":"[^"]+"/, `"salt":"${Buffer.alloc(32).toString('base64')}"`],
    ] as const) {
      const altered = good.replace(from, to);
      assert.notEqual(altered, good);
      const { code, output } = await verify({ receipts: [save('altered.json', altered)] });
      assert.notEqual(code, 0, `${to}: ${output}`);
    }
  });

  it('gets cosignatures of a witness, which the policy then demands', async () => {
    witness = await LiteWitness.start(path('litewitness'), folder);
    witness.addLog(origin, ed25519);
    const lines = `witness w1 ${witness.vkey} ${witness.url}\nquorum w1\n`;
    const witnesses = { PHM_LOG_WITNESSES: save('witnesses', lines) };
    await server.stop();
    server = await site.start(0, witnesses);
    const [{ key_id }] = await generate(1, ['receipt']);
    const { size, signer } = await cosigned(KEYS + EARLY_KEYS);
    assert.ok(Math.abs(Number(signer.timestamp) - Date.now() / 1000) < 60);

    const policy = save('policy', await read('policy'));
    assert.equal(openPolicy(readFileSync(policy, 'utf8')).quorum, 'w1');
    // The receipt that is fetched later has the cosignature; the one of the answer may have none.
    const headers = { 'X-API-Key': site.apiKey };
    const { body } = await server.request(`/api/v2/keys/${key_id}/receipt`, { headers });
    const cosignedReceipt = save('cosigned.json', JSON.stringify(body.receipt));
    const { code, output } = await verify({ policy, receipts: [cosignedReceipt] });
    assert.equal(code, 0, output);
    assert.ok(Number(/(\d+) entries/.exec(output)?.[1]) >= size, output);
    await site.run('receipt', 'verify', cosignedReceipt, '--policy', policy);

    const early = await verify({ policy, receipts: [path('early.json')] });
    assert.notEqual(early.code, 0, 'a receipt without the cosignature');
    assert.match(early.output, /policy components satisfied|did not sign/);
    const refused = await site.phm(['receipt', 'verify', path('early.json'), '--policy', policy]);
    assert.equal(refused.code, 1, refused.stdout);
  });

  it('cannot fork under the witness, even with a forged state file', async () => {
    const witnesses = { PHM_LOG_WITNESSES: path('witnesses') };
    await server.stop();
    await site.backUp();
    copyFileSync(site.stateFile(), path('state'));
    server = await site.start(0, witnesses);
    await generate(10);
    const { size } = await cosigned(KEYS + EARLY_KEYS + 10);
    await server.stop();

    await site.restore();
    copyFileSync(path('state'), site.stateFile());
    server = await site.start(0, witnesses);
    // The fork is at first smaller than the tree that the witness knows, then larger.
    await generate(2);
    await logged('the database was restored');
    await generate(40);
    await logged('the log may have forked');
    const keys = [ed25519, witness.vkey].map(openVerifierKey);
    const { checkpoint, signedBy } = openCheckpoint(await read('checkpoint'), keys);
    assert.ok(checkpoint.size > size, 'the fork is larger');
    assert.deepEqual(
      signedBy.map(({ text }) => text),
      [ed25519],
    );
    const { code, output } = await verify({});
    assert.notEqual(code, 0, 'the policy demands the witness');
    assert.match(output, /policy components satisfied|did not sign/);
  });
});

/** Serves a log with one bit of one resource changed. */
async function serveChanged(log: string, changed: string): Promise<HttpServer> {
  const forger = createServer((request, response) => {
    void (async () => {
      const answer = await fetch(log + request.url);
      const body = Buffer.from(await answer.arrayBuffer());
      // In the middle of a tile or an entry; in the root hash of the checkpoint.
      const at = changed === 'checkpoint' ? body.indexOf('=') - 10 : 50;
      if (request.url === `/${changed}`) body[at] = (body[at] as number) ^ 1;
      response.writeHead(answer.status).end(body);
    })();
  });
  await new Promise<void>((done) => forger.listen(0, '127.0.0.1', done));
  return forger;
}
