/**
 * The administrative half of the embedded store: accounts, API keys, usage and check values of the master
 * secret.
 */
import type { SQLInputValue } from 'node:sqlite';
import { utcMonth } from '../../clock.ts';
import type { AuditRecord } from '../log-store.ts';
import { type Quotas, quotaOfPlan, usageOf } from '../quota-decision.ts';
import { toSecretChecks } from '../secret-checks.ts';
import type {
  Account,
  AccountStore,
  ApiKeyRecord,
  NewAccount,
  Principal,
  RecipientAddition,
  RecipientRecord,
  Retirement,
  SealedOnly,
  SecretCheck,
  Usage,
} from '../store.ts';
import { insertAudit } from './audit.ts';
import type { SqliteConnection } from './connection.ts';

const SELECT_RECIPIENTS = `SELECT account_id AS accountId, name, suite, public_key AS publicKey,
    created_ms AS createdMs FROM recipients`;

export class SqliteAccountStore implements AccountStore {
  protected readonly connection: SqliteConnection;
  protected readonly quotas: Quotas;

  constructor(connection: SqliteConnection, quotas: Quotas) {
    this.connection = connection;
    this.quotas = quotas;
  }

  async authenticate(
    keyHashes: readonly Uint8Array[],
    nowMs: number,
  ): Promise<(Principal | undefined)[]> {
    const month = utcMonth(nowMs);
    return this.connection.guarded(() =>
      keyHashes.map((keyHash) => this.#authenticate(keyHash, month)),
    );
  }

  #authenticate(keyHash: Uint8Array, month: number): Principal | undefined {
    const found = this.connection.get(
      `SELECT api_keys.api_key_id AS apiKeyId, accounts.account_id AS accountId,
         accounts.plan AS plan, accounts.demo AS demo,
         accounts.sealed_only AS sealedOnly
       FROM api_keys JOIN accounts ON accounts.account_id = api_keys.account_id
       WHERE api_keys.key_hash = ? AND api_keys.revoked_ms IS NULL`,
      keyHash,
    );
    if (!found) return undefined;
    const accountId = String(found.accountId);
    return {
      apiKeyId: String(found.apiKeyId),
      accountId,
      plan: String(found.plan),
      demo: found.demo === 1,
      sealedOnly: found.sealedOnly as SealedOnly,
      usage: this.#usage(accountId, month),
    };
  }

  async addAccount(account: NewAccount, audit: AuditRecord | null = null): Promise<boolean> {
    return this.#audited(audit, () =>
      this.connection.changes(
        `INSERT INTO accounts (account_id, name, plan, demo, created_ms) VALUES (?, ?, ?, ?, ?)
         ON CONFLICT (account_id) DO NOTHING`,
        account.accountId,
        account.name,
        account.plan,
        account.demo ? 1 : 0,
        account.createdMs,
      ),
    );
  }

  async listAccounts(): Promise<Account[]> {
    return this.connection.guarded(() =>
      this.connection
        .all(
          `SELECT account_id AS accountId, name, plan, demo, created_ms AS createdMs,
           sealed_only AS sealedOnly
         FROM accounts ORDER BY created_ms, account_id`,
        )
        .map((row) => ({
          ...(row as unknown as Account),
          demo: row.demo === 1,
        })),
    );
  }

  async accountsOutside(plans: readonly string[]): Promise<Pick<Account, 'accountId' | 'plan'>[]> {
    return this.connection.guarded(() =>
      this.connection
        .all(
          `SELECT account_id AS accountId, plan FROM accounts
           WHERE plan NOT IN (SELECT value FROM json_each(?)) ORDER BY created_ms, account_id`,
          JSON.stringify(plans),
        )
        .map((row) => ({ ...(row as unknown as Pick<Account, 'accountId' | 'plan'>) })),
    );
  }

  async setPlan(
    accountId: string,
    plan: string,
    audit: AuditRecord | null = null,
  ): Promise<boolean> {
    return this.#audited(
      audit,
      () => {
        const update = 'UPDATE accounts SET plan = ? WHERE account_id = ?';
        return this.connection.changes(update, plan, accountId);
      },
      () => this.#has('accounts WHERE account_id = ? AND plan <> ?', accountId, plan),
    );
  }

  async setSealedOnly(
    accountId: string,
    rule: SealedOnly,
    audit: AuditRecord | null = null,
  ): Promise<boolean> {
    return this.#audited(
      audit,
      () => {
        const update = 'UPDATE accounts SET sealed_only = ? WHERE account_id = ?';
        return this.connection.changes(update, rule, accountId);
      },
      () => this.#has('accounts WHERE account_id = ? AND sealed_only <> ?', accountId, rule),
    );
  }

  async addRecipient(
    { accountId, name, suite, publicKey, createdMs }: RecipientRecord,
    audit: AuditRecord | null = null,
  ): Promise<RecipientAddition> {
    const isAdded = this.#audited(audit, () =>
      this.connection.changes(
        `INSERT INTO recipients (account_id, name, suite, public_key, created_ms)
         SELECT account_id, ?, ?, ?, ? FROM accounts WHERE account_id = ? ON CONFLICT DO NOTHING`,
        name,
        suite,
        publicKey,
        createdMs,
        accountId,
      ),
    );
    if (isAdded) return 'added';
    const isKnown = this.connection.guarded(() =>
      this.#has('accounts WHERE account_id = ?', accountId),
    );
    return isKnown ? 'taken' : 'unknown_account';
  }

  async removeRecipient(
    accountId: string,
    name: string,
    audit: AuditRecord | null = null,
  ): Promise<boolean> {
    return this.#audited(audit, () => {
      const removal = 'DELETE FROM recipients WHERE account_id = ? AND name = ?';
      return this.connection.changes(removal, accountId, name);
    });
  }

  async listRecipients(accountId?: string): Promise<RecipientRecord[]> {
    return this.connection.guarded(() =>
      this.connection
        .all(
          `${SELECT_RECIPIENTS} WHERE ? IS NULL OR account_id = ? ORDER BY account_id, name`,
          accountId ?? null,
          accountId ?? null,
        )
        .map((row) => ({ ...(row as unknown as RecipientRecord) })),
    );
  }

  async findRecipient(accountId: string, name: string): Promise<RecipientRecord | null> {
    return this.connection.guarded(() => {
      const find = `${SELECT_RECIPIENTS} WHERE account_id = ? AND name = ?`;
      const row = this.connection.get(find, accountId, name);
      return row ? { ...(row as unknown as RecipientRecord) } : null;
    });
  }

  async addApiKey(
    record: ApiKeyRecord,
    keyHash: Uint8Array,
    audit: AuditRecord | null = null,
  ): Promise<boolean> {
    return this.#audited(audit, () =>
      this.connection.changes(
        `INSERT INTO api_keys (api_key_id, account_id, key_hash, hint, created_ms, revoked_ms)
         SELECT ?, account_id, ?, ?, ?, ? FROM accounts WHERE account_id = ?
         ON CONFLICT DO NOTHING`,
        record.apiKeyId,
        keyHash,
        record.hint,
        record.createdMs,
        record.revokedMs,
        record.accountId,
      ),
    );
  }

  async listApiKeys(accountId?: string): Promise<ApiKeyRecord[]> {
    return this.connection.guarded(
      () =>
        this.connection.all(
          `SELECT api_key_id AS apiKeyId, account_id AS accountId, hint, created_ms AS createdMs,
             revoked_ms AS revokedMs
           FROM api_keys WHERE ? IS NULL OR account_id = ? ORDER BY created_ms, api_key_id`,
          accountId ?? null,
          accountId ?? null,
        ) as unknown as ApiKeyRecord[],
    );
  }

  async hasOwnApiKeys(): Promise<boolean> {
    return this.connection.guarded(() => {
      const row = this.connection.get(
        `SELECT 1 FROM api_keys JOIN accounts ON accounts.account_id = api_keys.account_id
         WHERE accounts.demo = 0 LIMIT 1`,
      );
      return row !== undefined;
    });
  }

  async revokeApiKey(
    apiKeyId: string,
    atMs: number,
    audit: AuditRecord | null = null,
  ): Promise<boolean> {
    return this.#audited(
      audit,
      () => {
        const update =
          'UPDATE api_keys SET revoked_ms = coalesce(revoked_ms, ?) WHERE api_key_id = ?';
        return this.connection.changes(update, atMs, apiKeyId);
      },
      () => this.#has('api_keys WHERE api_key_id = ? AND revoked_ms IS NULL', apiKeyId),
    );
  }

  async secretChecks(): Promise<ReadonlyMap<number, SecretCheck>> {
    return this.connection.guarded(() => {
      const rows = this.connection.all(
        `SELECT version, check_value AS checkValue, activated_ms IS NOT NULL AS activated,
           retired_ms AS retiredMs, compromised_ms AS compromisedMs
         FROM secret_checks ORDER BY version`,
      );
      return toSecretChecks(rows);
    });
  }

  async registerSecret(version: number, checkValue: Uint8Array, atMs: number): Promise<void> {
    this.connection.guarded(() =>
      this.connection.changes(
        `INSERT INTO secret_checks (version, check_value, registered_ms, activated_ms)
         VALUES (?, ?, ?, NULL) ON CONFLICT (version) DO NOTHING`,
        version,
        checkValue,
        atMs,
      ),
    );
  }

  async activateSecret(
    version: number,
    atMs: number,
    audit: AuditRecord | null = null,
  ): Promise<void> {
    this.#audited(audit, () =>
      this.connection.changes(
        'UPDATE secret_checks SET activated_ms = ? WHERE version = ? AND activated_ms IS NULL',
        atMs,
        version,
      ),
    );
  }

  async retireSecret(
    version: number,
    { retiredMs, compromisedMs }: Retirement,
    audit: AuditRecord | null = null,
  ): Promise<boolean> {
    return this.#audited(
      audit,
      () =>
        this.connection.changes(
          `UPDATE secret_checks SET retired_ms = coalesce(retired_ms, ?),
             compromised_ms = min(coalesce(compromised_ms, ?), coalesce(?, compromised_ms))
           WHERE version = ?`,
          retiredMs,
          compromisedMs,
          compromisedMs,
          version,
        ),
      () =>
        this.#has(
          `secret_checks WHERE version = ? AND (retired_ms IS NULL
             OR ? < coalesce(compromised_ms, 9223372036854775807))`,
          version,
          compromisedMs,
        ),
    );
  }

  async reinstateSecret(version: number, audit: AuditRecord | null = null): Promise<boolean> {
    return this.#audited(
      audit,
      () =>
        this.connection.changes(
          'UPDATE secret_checks SET retired_ms = NULL, compromised_ms = NULL WHERE version = ?',
          version,
        ),
      () => this.#has('secret_checks WHERE version = ? AND retired_ms IS NOT NULL', version),
    );
  }

  async addAudit(audit: AuditRecord): Promise<void> {
    this.#audited(audit, () => true);
  }

  async close(): Promise<void> {
    this.connection.close();
  }

  /**
   * Runs `change`, which returns true if it wrote a row. Writes the audit record in the same transaction if
   * the row has a new value, which `isNew` tells beforehand. An unchanged row is written all the same: a
   * caller may repeat a change whose commit failed.
   */
  #audited(
    audit: AuditRecord | null,
    change: () => boolean,
    isNew: () => boolean = () => true,
  ): boolean {
    return this.connection.guarded(() =>
      this.connection.transact(() => {
        const isAudited = audit !== null && isNew();
        const changed = change();
        if (changed && isAudited) insertAudit(this.connection, audit);
        return changed;
      }),
    );
  }

  #has(rows: string, ...values: SQLInputValue[]): boolean {
    return this.connection.get(`SELECT 1 FROM ${rows}`, ...values) !== undefined;
  }

  #usage(accountId: string, month: number): Usage {
    return usageOf({
      month,
      used: readUsed(this.connection, accountId, month),
      quota: readQuota(this.connection, this.quotas, accountId),
    });
  }
}

/** Returns the requests that count against an account's quota of a month. */
export function readUsed(connection: SqliteConnection, accountId: string, month: number): number {
  const row = connection.get(
    'SELECT used FROM usage WHERE account_id = ? AND month = ?',
    accountId,
    month,
  );
  return Number(row?.used ?? 0);
}

/** Returns the monthly quota of an account's plan; null is unlimited, undefined a plan that this server lacks. */
export function readQuota(
  connection: SqliteConnection,
  quotas: Quotas,
  accountId: string,
): number | null | undefined {
  const plan = connection.get('SELECT plan FROM accounts WHERE account_id = ?', accountId)?.plan;
  return quotaOfPlan(quotas, plan);
}
