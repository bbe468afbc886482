/**
 * The administrative half of the PostgreSQL store: accounts, API keys, usage and check values of the master
 * secret.
 */

import type { AccountChange, AccountChangeOutcome } from '../account-states.ts';
import {
  type ApiKeyRecord,
  type NewApiKey,
  type Rotation,
  type RotationOutcome,
  RULE_COLUMNS,
  SELECT_API_KEYS,
  toApiKeyRecord,
  toRules,
} from '../api-keys.ts';
import type { AuditRecord } from '../log-store.ts';
import { type Quotas, quotaOfPlan, usageOf } from '../quota-decision.ts';
import { toSecretChecks } from '../secret-checks.ts';
import type {
  Account,
  AccountRecord,
  AccountStore,
  NewAccount,
  Principal,
  RecipientAddition,
  RecipientRecord,
  Retirement,
  SealedOnly,
  SecretCheck,
} from '../store.ts';
import { changeAccountState, findAccount, listAccounts } from './account-states.ts';
import { addition, NOTE_USES, rotationStatement } from './api-keys.ts';
import { auditStatement, countOf, type Statement, withAudit } from './audit.ts';
import { type PostgresConnection, toBuffer } from './connection.ts';
import { emptyBoxesAhead } from './deliveries.ts';
import { droppedRow } from './disturbances.ts';

const SELECT_RECIPIENTS = `SELECT account_id AS "accountId", name, suite, public_key AS "publicKey",
    created_ms AS "createdMs" FROM recipients`;

const FIND_PRINCIPALS = `SELECT encode(api_keys.key_hash, 'hex') AS "keyHash", api_keys.api_key_id AS "apiKeyId",
    accounts.account_id AS "accountId", accounts.plan AS plan, accounts.demo AS demo,
    accounts.sealed_only AS "sealedOnly", accounts.suspended_ms IS NOT NULL AS suspended, coalesce(usage.used, 0) AS used, this.month AS month, ${RULE_COLUMNS}
  FROM (SELECT ledger_month() AS month OFFSET 0) AS this CROSS JOIN api_keys JOIN accounts ON accounts.account_id = api_keys.account_id
  LEFT JOIN usage ON usage.account_id = accounts.account_id AND usage.month = this.month
  LEFT JOIN api_key_usage ON api_keys.monthly_limit IS NOT NULL AND api_key_usage.month = this.month
    AND api_key_usage.api_key_id = coalesce(api_keys.counter_id, api_keys.api_key_id)
  WHERE api_keys.key_hash = ANY ($1::bytea[]) AND api_keys.revoked_ms IS NULL
    AND accounts.deleted_ms IS NULL`;

export class PostgresAccountStore implements AccountStore {
  protected readonly connection: PostgresConnection;
  protected readonly quotas: Quotas;

  constructor(connection: PostgresConnection, quotas: Quotas) {
    this.connection = connection;
    this.quotas = quotas;
  }

  async authenticate(keyHashes: readonly Uint8Array[]): Promise<(Principal | undefined)[]> {
    const rows = await this.connection.all(FIND_PRINCIPALS, keyHashes.map(toBuffer));
    const found = new Map(rows.map((row) => [row.keyHash, this.#principal(row)]));
    return keyHashes.map((keyHash) => found.get(toBuffer(keyHash).toString('hex')));
  }

  #principal(row: Record<string, unknown>): Principal {
    const month = Number(row.month);
    const quota = quotaOfPlan(this.quotas, row.plan);
    return {
      apiKeyId: String(row.apiKeyId),
      accountId: String(row.accountId),
      plan: String(row.plan),
      demo: row.demo === true,
      sealedOnly: row.sealedOnly as SealedOnly,
      suspended: row.suspended === true,
      usage: usageOf({ month, used: Number(row.used), quota }),
      rules: toRules(row, month),
      lastUsedHour: row.lastUsedHour as number | null,
    };
  }

  async addAccount(account: NewAccount, audit: AuditRecord | null = null): Promise<boolean> {
    const { accountId, name, plan, demo, createdMs } = account;
    const sql = `INSERT INTO accounts (account_id, name, plan, demo, created_ms)
       VALUES ($1, $2, $3, $4, $5) ON CONFLICT (account_id) DO NOTHING RETURNING true AS is_new`;
    const values = [accountId, name, plan, demo, createdMs];
    const isAdded = await this.#change(withAudit({ sql, values }, audit));
    if (!isAdded && (await this.findAccount(accountId)) === null) throw droppedRow('accounts');
    return isAdded;
  }

  listAccounts(): Promise<Account[]> {
    return listAccounts(this.connection);
  }

  findAccount(accountId: string): Promise<AccountRecord | null> {
    return findAccount(this.connection, accountId);
  }

  changeAccountState(change: AccountChange, audit: AuditRecord): Promise<AccountChangeOutcome> {
    return changeAccountState(this.connection, change, audit);
  }

  async accountsOutside(plans: readonly string[]): Promise<Pick<Account, 'accountId' | 'plan'>[]> {
    return (await this.connection.all(
      `SELECT account_id AS "accountId", plan FROM accounts
       WHERE plan <> ALL ($1::text[]) AND deleted_ms IS NULL ORDER BY created_ms, account_id`,
      plans,
    )) as unknown as Pick<Account, 'accountId' | 'plan'>[];
  }

  async setPlan(
    accountId: string,
    plan: string,
    audit: AuditRecord | null = null,
  ): Promise<boolean> {
    const old = `SELECT account_id AS id, plan <> $1 AS is_new FROM accounts
       WHERE account_id = $2 AND deleted_ms IS NULL FOR UPDATE`;
    const change = update('accounts', 'plan = $1', 'account_id', old);
    return this.#change(withAudit({ ...change, values: [plan, accountId] }, audit));
  }

  async setSealedOnly(
    accountId: string,
    rule: SealedOnly,
    audit: AuditRecord | null = null,
  ): Promise<boolean> {
    const old = `SELECT account_id AS id, sealed_only <> $1 AS is_new FROM accounts
       WHERE account_id = $2 AND deleted_ms IS NULL FOR UPDATE`;
    const change = update('accounts', 'sealed_only = $1', 'account_id', old);
    return this.#change(withAudit({ ...change, values: [rule, accountId] }, audit));
  }

  async addRecipient(
    record: RecipientRecord,
    audit: AuditRecord | null = null,
  ): Promise<RecipientAddition> {
    const { accountId, name, suite, publicKey, createdMs } = record;
    const sql = `INSERT INTO recipients (account_id, name, suite, public_key, created_ms)
       SELECT account_id, $1, $2, $3, $4 FROM accounts
       WHERE account_id = $5 AND deleted_ms IS NULL FOR SHARE
       ON CONFLICT DO NOTHING RETURNING true AS is_new`;
    const values = [name, suite, publicKey, createdMs, accountId];
    if (await this.#change(withAudit({ sql, values }, audit))) return 'added';
    const find = 'SELECT FROM accounts WHERE account_id = $1 AND deleted_ms IS NULL';
    if (!(await this.connection.get(find, accountId))) return 'unknown_account';
    if (await this.findRecipient(accountId, name)) return 'taken';
    throw droppedRow('recipients');
  }

  async removeRecipient(
    accountId: string,
    name: string,
    audit: AuditRecord | null = null,
  ): Promise<boolean> {
    await emptyBoxesAhead(this.connection, accountId, name);
    const sql = 'SELECT is_new FROM remove_recipient_1($1, $2)';
    return this.#change(withAudit({ sql, values: [accountId, name] }, audit));
  }

  async listRecipients(accountId?: string): Promise<RecipientRecord[]> {
    return (await this.connection.all(
      `${SELECT_RECIPIENTS} WHERE $1::text IS NULL OR account_id = $1
       ORDER BY account_id COLLATE "C", name COLLATE "C"`,
      accountId ?? null,
    )) as unknown as RecipientRecord[];
  }

  async findRecipient(accountId: string, name: string): Promise<RecipientRecord | null> {
    const find = `${SELECT_RECIPIENTS} WHERE account_id = $1 AND name = $2`;
    const row = await this.connection.get(find, accountId, name);
    return (row as RecipientRecord | undefined) ?? null;
  }

  async addApiKey(
    record: NewApiKey,
    keyHash: Uint8Array,
    audit: AuditRecord | null = null,
  ): Promise<boolean> {
    if (await this.#change(withAudit(addition(record, keyHash), audit))) return true;
    const dropped = `SELECT FROM accounts WHERE account_id = $1 AND deleted_ms IS NULL
       AND NOT EXISTS (SELECT FROM api_keys WHERE api_key_id = $2 OR key_hash = $3)`;
    const { accountId, apiKeyId } = record;
    if (await this.connection.get(dropped, accountId, apiKeyId, toBuffer(keyHash))) {
      throw droppedRow('api_keys');
    }
    return false;
  }

  async listApiKeys(accountId?: string): Promise<ApiKeyRecord[]> {
    const list = `${SELECT_API_KEYS} WHERE $1::text IS NULL OR account_id = $1 ORDER BY created_ms, api_key_id`;
    return (await this.connection.all(list, accountId ?? null)).map(toApiKeyRecord);
  }

  async findApiKey(keyHash: Uint8Array): Promise<ApiKeyRecord | null> {
    const row = await this.connection.get(`${SELECT_API_KEYS} WHERE key_hash = $1`, keyHash);
    return row ? toApiKeyRecord(row) : null;
  }

  async findApiKeyById(apiKeyId: string): Promise<ApiKeyRecord | null> {
    const row = await this.connection.get(`${SELECT_API_KEYS} WHERE api_key_id = $1`, apiKeyId);
    return row ? toApiKeyRecord(row) : null;
  }

  async hasOwnApiKeys(): Promise<boolean> {
    const row = await this.connection.get(
      `SELECT FROM api_keys JOIN accounts ON accounts.account_id = api_keys.account_id
       WHERE NOT accounts.demo LIMIT 1`,
    );
    return row !== undefined;
  }

  async revokeApiKey(
    apiKeyId: string,
    atMs: number,
    audit: AuditRecord | null = null,
  ): Promise<boolean> {
    const old = `SELECT api_key_id AS id, revoked_ms IS NULL AS is_new FROM api_keys
       WHERE api_key_id = $2 FOR UPDATE`;
    const set = 'revoked_ms = coalesce(revoked_ms, $1)';
    const change = update('api_keys', set, 'api_key_id', old);
    return this.#change(withAudit({ ...change, values: [atMs, apiKeyId] }, audit));
  }

  async rotateApiKey(
    rotation: Rotation,
    audit: AuditRecord | null = null,
  ): Promise<RotationOutcome> {
    const isRotated = await this.#change(withAudit(rotationStatement(rotation), audit));
    return isRotated ? 'rotated' : 'unusable';
  }

  async noteApiKeyUses(apiKeyIds: readonly string[], hour: number): Promise<void> {
    await this.connection.guarded(() => this.connection.run(NOTE_USES, [apiKeyIds, hour]));
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
    const isAdded = await this.connection.changes(
      `INSERT INTO secret_checks (version, check_value, registered_ms, activated_ms)
       VALUES ($1, $2, $3, NULL) ON CONFLICT (version) DO NOTHING`,
      version,
      checkValue,
      atMs,
    );
    if (!isAdded && !(await this.secretChecks()).has(version)) throw droppedRow('secret_checks');
  }

  async activateSecret(
    version: number,
    atMs: number,
    audit: AuditRecord | null = null,
  ): Promise<void> {
    const old = `SELECT version AS id, true AS is_new FROM secret_checks
       WHERE version = $2 AND activated_ms IS NULL FOR UPDATE`;
    const change = update('secret_checks', 'activated_ms = $1', 'version', old);
    await this.#change(withAudit({ ...change, values: [atMs, version] }, audit));
  }

  async retireSecret(
    version: number,
    { retiredMs, compromisedMs }: Retirement,
    audit: AuditRecord | null = null,
  ): Promise<boolean> {
    const old = `SELECT version AS id, retired_ms IS NULL
         OR least(compromised_ms, $2) IS DISTINCT FROM compromised_ms AS is_new
       FROM secret_checks WHERE version = $3 FOR UPDATE`;
    const set = 'retired_ms = coalesce(retired_ms, $1), compromised_ms = least(compromised_ms, $2)';
    const change = update('secret_checks', set, 'version', old);
    const values = [retiredMs, compromisedMs, version];
    return this.#change(withAudit({ ...change, values }, audit));
  }

  async reinstateSecret(version: number, audit: AuditRecord | null = null): Promise<boolean> {
    const old = `SELECT version AS id, retired_ms IS NOT NULL AS is_new FROM secret_checks
       WHERE version = $1 FOR UPDATE`;
    const change = update(
      'secret_checks',
      'retired_ms = NULL, compromised_ms = NULL',
      'version',
      old,
    );
    return this.#change(withAudit({ ...change, values: [version] }, audit));
  }

  async addAudit(audit: AuditRecord): Promise<void> {
    await this.#change(auditStatement(audit));
  }

  async close(): Promise<void> {
    await this.connection.close();
  }

  #change({ sql, values }: Statement): Promise<boolean> {
    return this.connection.changes(sql, ...values);
  }
}

/** Returns the update of the rows that `old` selects and locks, by their `id`. */
function update(
  table: string,
  set: string,
  key: string,
  old: string,
): Pick<Statement, 'parts' | 'sql' | 'must'> {
  return {
    parts: [`old AS (${old})`],
    sql: `UPDATE ${table} SET ${set} FROM old WHERE ${key} = old.id RETURNING old.is_new`,
    must: [table, countOf('old')],
  };
}
