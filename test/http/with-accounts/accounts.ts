/** Suspended and deleted accounts of a running server. `../access-table.ts` has what each endpoint answers them. */
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { monthlyQuotas, PUBLISHED_PLANS } from '../../../src/config/index.ts';
import { openStore } from '../../../src/ledger/index.ts';
import { sqliteIn } from '../../support/clients/unknown-keys.ts';
import { changeState } from '../../support/ledgers/account-state.ts';
import { type Account, addAccounts } from '../../support/ledgers/books.ts';
import { dataDir, server } from '../../support/servers/shared-server.ts';

let suspended: Account;
let other: Account;
/** A key of a suspended and of a deleted account. */
let keys: { readonly key: string; readonly hash_proof: string }[];

const generate = ({ apiKey }: Account) =>
  server.generate({ security_level: 128, include: ['hash_proof'] }, apiKey);

before(async () => {
  const location = sqliteIn(dataDir);
  const plans = ['professional', 'professional', 'professional'];
  const [deleted, ...others] = (await addAccounts(location, plans)) as [Account, Account, Account];
  [suspended, other] = others;
  keys = await Promise.all(
    [suspended, deleted].map(async (account) => (await generate(account)).body),
  );
  const store = await openStore(location, monthlyQuotas(PUBLISHED_PLANS));
  await changeState(store, suspended.accountId, 'suspended');
  await changeState(store, deleted.accountId, 'deleted');
  await store.close();
});

describe('a suspended account', () => {
  it('gets the address of the operator, but no reason, and has its rate limit', async () => {
    for (;;) {
      const { body, headers } = await generate(suspended);
      if (body.code === 'account_suspended') {
        assert.match(body.detail, /Ask the operator/);
        assert.doesNotMatch(JSON.stringify(body), /secret reason/);
        assert.ok(Number(headers.get('x-ratelimit-remaining')) >= 0);
        return;
      }
      // The server looks the API key up again within two seconds.
      await sleep(50);
    }
  });

  it('leaves keys that stay valid for others, as a deleted one does', async () => {
    for (const { key, hash_proof } of keys) {
      for (const asked of [{ key }, { key, hash_proof }]) {
        assert.equal((await server.validate(asked, other.apiKey)).body.valid, true);
      }
    }
  });
});
