/**
 * The administrative half of the PostgreSQL store: accounts, API keys, usage and check values of the master
 * secret.
 */

import { type Quotas, quotaOfPlan } from '../quota-decision.ts';
import { toSecretChecks } from '../secret-checks.ts';
import type {
  Account,
  AccountStore,
  ApiKeyRecord,
  Principal,
  Retirement,
  SecretCheck,
} from '../store.ts';
import { type PostgresConnection, toBuffer } from './connection.ts';

export class PostgresAccountStore implements AccountStore {
  protected readonly connection: PostgresConnection;
  protected readonly quotas: Quotas;

  constructor(connection: PostgresConnection, quotas: Quotas) {
    this.connection = connection;
    this.quotas = quotas;
  }

  async authenticate(keyHashes: readonly Uint8Array[]): Promise<(Principal | undefined)[]> {
    const rows = await this.connection.all(
      `SELECT encode(api_keys.key_hash, 'hex') AS "keyHash", api_keys.api_key_id AS "apiKeyId",
         accounts.account_id AS "accountId", accounts.plan AS plan, accounts.demo AS demo,
         coalesce(usage.used, 0) AS used, this.month AS month
       FROM (SELECT ledger_month() AS month OFFSET 0) AS this CROSS JOIN api_keys JOIN accounts ON accounts.account_id = api_keys.account_id
       LEFT JOIN usage ON usage.account_id = accounts.account_id AND usage.month = this.month
       WHERE api_keys.key_hash = ANY ($1::bytea[]) AND api_keys.revoked_ms IS NULL`,
      keyHashes.map(toBuffer),
    );
    const found = new Map(rows.map(({ keyHash, ...row }) => [keyHash, this.#principal(row)]));
    return keyHashes.map((keyHash) => found.get(toBuffer(keyHash).toString('hex')));
  }

  #principal({ used, month, ...row }: Record<string, unknown>): Principal {
    return {
      ...(row as unknown as Omit<Principal, 'usage'>),
      usage: { month: Number(month), used: Number(used), quota: this.#quota(row) },
    };
  }

  async addAccount(account: Account): Promise<boolean> {
    return this.connection.changes(
      `INSERT INTO accounts (account_id, name, plan, demo, created_ms) VALUES ($1, $2, $3, $4, $5)
       ON CONFLICT (account_id) DO NOTHING`,
      account.accountId,
      account.name,
      account.plan,
      account.demo,
      account.createdMs,
    );
  }

  async listAccounts(): Promise<Account[]> {
    return (await this.connection.all(
      `SELECT account_id AS "accountId", name, plan, demo, created_ms AS "createdMs"
       FROM accounts ORDER BY created_ms, account_id`,
    )) as unknown as Account[];
  }

  async setPlan(accountId: string, plan: string): Promise<boolean> {
    return this.connection.changes(
      'UPDATE accounts SET plan = $1 WHERE account_id = $2',
      plan,
      accountId,
    );
  }

  async addApiKey(record: ApiKeyRecord, keyHash: Uint8Array): Promise<boolean> {
    return this.connection.changes(
      `INSERT INTO api_keys (api_key_id, account_id, key_hash, hint, created_ms, revoked_ms)
       SELECT $1, account_id, $2, $3, $4, $5 FROM accounts WHERE account_id = $6
       ON CONFLICT DO NOTHING`,
      record.apiKeyId,
      keyHash,
      record.hint,
      record.createdMs,
      record.revokedMs,
      record.accountId,
    );
  }

  async listApiKeys(accountId?: string): Promise<ApiKeyRecord[]> {
    return (await this.connection.all(
      `SELECT api_key_id AS "apiKeyId", account_id AS "accountId", hint,
         created_ms AS "createdMs", revoked_ms AS "revokedMs"
       FROM api_keys WHERE $1::text IS NULL OR account_id = $1 ORDER BY created_ms, api_key_id`,
      accountId ?? null,
    )) as unknown as ApiKeyRecord[];
  }

  async hasOwnApiKeys(): Promise<boolean> {
    const row = await this.connection.get(
      `SELECT FROM api_keys JOIN accounts ON accounts.account_id = api_keys.account_id
       WHERE NOT accounts.demo LIMIT 1`,
    );
    return row !== undefined;
  }

  async revokeApiKey(apiKeyId: string, atMs: number): Promise<boolean> {
    return this.connection.changes(
      'UPDATE api_keys SET revoked_ms = coalesce(revoked_ms, $1) WHERE api_key_id = $2',
      atMs,
      apiKeyId,
    );
  }

  async secretChecks(): Promise<ReadonlyMap<number, SecretCheck>> {
    const rows = await this.connection.all(
      `SELECT version, check_value AS "checkValue", activated_ms IS NOT NULL AS activated,
         retired_ms AS "retiredMs", compromised_ms AS "compromisedMs"
       FROM secret_checks ORDER BY version`,
    );
    return toSecretChecks(rows);
  }

  async registerSecret(version: number, checkValue: Uint8Array, atMs: number): Promise<void> {
    await this.connection.changes(
      `INSERT INTO secret_checks (version, check_value, registered_ms, activated_ms)
       VALUES ($1, $2, $3, NULL) ON CONFLICT (version) DO NOTHING`,
      version,
      checkValue,
      atMs,
    );
  }

  async activateSecret(version: number, atMs: number): Promise<void> {
    await this.connection.changes(
      'UPDATE secret_checks SET activated_ms = $1 WHERE version = $2 AND activated_ms IS NULL',
      atMs,
      version,
    );
  }

  async retireSecret(version: number, retirement: Retirement): Promise<boolean> {
    return this.connection.changes(
      `UPDATE secret_checks SET retired_ms = coalesce(retired_ms, $1),
         compromised_ms = least(compromised_ms, $2)
       WHERE version = $3`,
      retirement.retiredMs,
      retirement.compromisedMs,
      version,
    );
  }

  async reinstateSecret(version: number): Promise<boolean> {
    return this.connection.changes(
      'UPDATE secret_checks SET retired_ms = NULL, compromised_ms = NULL WHERE version = $1',
      version,
    );
  }

  async addAudit(): Promise<void> {
    throw new Error('not built yet');
  }

  async close(): Promise<void> {
    await this.connection.close();
  }

  #quota({ accountId, plan }: Record<string, unknown>): number | null {
    return quotaOfPlan(this.quotas, plan, accountId);
  }
}
