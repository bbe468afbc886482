/** A log with a witness: its receipts meet its own policy, and a copy of its server is found out. */
import assert from 'node:assert/strict';
import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { meetsQuorum, parseProof, parseVerifierKey } from '#tlog';
import type { Principal } from '../../../src/ledger/index.ts';
import {
  newLogKeysText,
  openCheckpoint,
  openPolicy,
  parseLogKeys,
} from '../../../src/log/index.ts';
import type { KeyService, LogReceipt } from '../../../src/service/index.ts';
import { FakeWitness } from '../../service/log/fake-witness.ts';
import { until } from '../../support/run/until.ts';
import { generate, LoggedService, receiptOf } from '../../support/servers/logged-service.ts';

const KEYS_TEXT = newLogKeysText('phm.invalid/witnessed');
const LOG_KEYS = Object.values(parseLogKeys(KEYS_TEXT).verifierKeys).map(parseVerifierKey);

const site = new LoggedService();
const copy = new LoggedService();
const witness = new FakeWitness('witness.example', LOG_KEYS);
let service: KeyService;
let principal: Principal;
before(async () => {
  const url = await witness.start();
  const witnessesFile = join(site.dataDir, 'witnesses');
  writeFileSync(witnessesFile, `witness one ${witness.key.text} ${url}\nquorum one\n`);
  writeFileSync(join(site.dataDir, 'log.key'), KEYS_TEXT, { mode: 0o600 });
  site.config = { ...site.config, witnessesFile };
  ({ service, principal } = await site.start());
});
after(async () => {
  witness.stop();
  await Promise.all([site.remove(), copy.remove()]);
});

/** Reports whether a receipt has the quorum of the policy that the server publishes. */
function hasQuorum({ proof }: LogReceipt): boolean {
  const answer = service.log.policy();
  const policy = openPolicy(answer.kind === 'text' ? answer.text : '');
  const keys = [...policy.logs, ...policy.witnesses].map(({ key }) => key);
  const { signedBy } = openCheckpoint(parseProof(proof).checkpoint, keys);
  const names = policy.witnesses.filter(({ key }) => signedBy.some((one) => one.text === key.text));
  return meetsQuorum(policy, new Set(names.map(({ name }) => name)));
}

describe('a receipt of a log with a witness', () => {
  it('has the cosignature, in the answer and later', async () => {
    const keyId = await generate(service, principal);
    assert.ok(hasQuorum(await receiptOf(service, keyId)));
    assert.ok(hasQuorum(await receiptOf(service, keyId, 0)));
  });

  it('waits while the witness does not answer, and comes once it does', async () => {
    await receiptOf(service, await generate(service, principal));
    witness.hangs = true;
    const keyId = await generate(service, principal);
    // A slow machine may have published no head at the end of a wait.
    await until('a wait ends without a cosignature', async () => {
      const answer = await service.log.receipt(keyId, 'acct_test', 300);
      assert.match(answer.kind, /^(pending|not_cosigned)$/);
      return answer.kind === 'not_cosigned';
    });
    assert.deepEqual(await service.log.receipt(keyId, 'acct_test', 0), { kind: 'not_cosigned' });
    witness.release();
    assert.ok(hasQuorum(await receiptOf(service, keyId)));
  });
});

describe('a copy of a server, with its log keys', () => {
  it('signs no second tree once the witness has cosigned another one, also after a restart', async () => {
    await site.stop(service);
    const copied = (name: string) => !/\.(lock|pid)$/.test(name);
    cpSync(site.dataDir, copy.dataDir, { recursive: true, filter: copied });
    cpSync(site.config.stateFile, copy.config.stateFile);
    copy.config = { ...copy.config, witnessesFile: join(site.dataDir, 'witnesses') };
    const other = await copy.start();
    ({ service, principal } = await site.start());
    await receiptOf(service, await generate(service, principal));
    await generate(other.service, other.principal);
    await until('the log stops', () => other.service.log.status().state === 'stopped');
    const published = copy.notices.filter(({ kind }) => kind === 'published');
    assert.equal(service.log.status().state, 'running');
    await generate(service, principal);
    // The copy signed a head of its own, or none. It stays stopped, and forked if it signed one.
    const { reason, halt } = other.service.log.status();
    assert.match(reason ?? '', /the keys of the log|its keys have signed/);
    await copy.stop(other.service);
    const again = await copy.start();
    await until('the log stops', () => again.service.log.status().state === 'stopped');
    assert.equal(again.service.log.status().halt, halt);
    assert.equal(copy.notices.filter(({ kind }) => kind === 'published').length, published.length);
  });
});
