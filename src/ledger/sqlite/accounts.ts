/**
 * The administrative half of the embedded store: accounts, API keys, usage and check values of the master
 * secret.
 */

import type { SQLInputValue } from 'node:sqlite';
import { utcMonth } from '../../clock.ts';
import {
  type AccountChange,
  type AccountChangeOutcome,
  accountChangeOutcome,
} from '../account-states.ts';
import {
  type ApiKeyRecord,
  type NewApiKey,
  type Rotation,
  type RotationOutcome,
  RULE_COLUMNS,
  toRules,
} from '../api-keys.ts';
import type { AuditRecord } from '../log-store.ts';
import { type Quotas, usageOf } from '../quota-decision.ts';
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
import type { Usage } from '../usage.ts';
import { changeAccountState, findAccount, listAccounts } from './account-states.ts';
import {
  addApiKey,
  findApiKey,
  findApiKeyById,
  hasOwnApiKeys,
  listApiKeys,
  noteApiKeyUses,
  revokeApiKey,
  rotateApiKey,
} from './api-keys.ts';
import { insertAudit } from './audit.ts';
import type { SqliteConnection } from './connection.ts';
import { emptyBoxesAhead } from './deliveries.ts';
import { addRecipient, findRecipient, listRecipients, removeRecipient } from './recipients.ts';
import { readQuota, readUsed } from './usage.ts';

const FIND_PRINCIPAL = `SELECT api_keys.api_key_id AS apiKeyId, accounts.account_id AS accountId,
    accounts.plan AS plan, accounts.demo AS demo, accounts.sealed_only AS sealedOnly,
    accounts.suspended_ms IS NOT NULL AS suspended, ${RULE_COLUMNS}
  FROM api_keys JOIN accounts ON accounts.account_id = api_keys.account_id
  LEFT JOIN api_key_usage ON api_keys.monthly_limit IS NOT NULL AND api_key_usage.month = ?
    AND api_key_usage.api_key_id = coalesce(api_keys.counter_id, api_keys.api_key_id)
  WHERE api_keys.key_hash = ? AND api_keys.revoked_ms IS NULL AND accounts.deleted_ms IS NULL`;

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
    const found = this.connection.get(FIND_PRINCIPAL, month, keyHash);
    if (!found) return undefined;
    const accountId = String(found.accountId);
    return {
      apiKeyId: String(found.apiKeyId),
      accountId,
      plan: String(found.plan),
      demo: found.demo === 1,
      sealedOnly: found.sealedOnly as SealedOnly,
      suspended: found.suspended === 1,
      usage: this.#usage(accountId, month),
      rules: toRules(found, month),
      lastUsedHour: found.lastUsedHour as number | null,
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
    return this.connection.guarded(() => listAccounts(this.connection));
  }

  async findAccount(accountId: string): Promise<AccountRecord | null> {
    return this.connection.guarded(() => findAccount(this.connection, accountId));
  }

  async changeAccountState(
    change: AccountChange,
    audit: AuditRecord,
  ): Promise<AccountChangeOutcome> {
    const { accountId, to } = change;
    if (to === 'deleted' && (await this.#isChangeable(change))) {
      await emptyBoxesAhead(this.connection, { accountId });
    }
    return this.connection.guarded(() =>
      this.connection.transact(() => changeAccountState(this.connection, change, audit)),
    );
  }

  async #isChangeable(change: AccountChange): Promise<boolean> {
    const account = await this.findAccount(change.accountId);
    return account !== null && accountChangeOutcome(account, change) === 'changed';
  }

  async accountsOutside(plans: readonly string[]): Promise<Pick<Account, 'accountId' | 'plan'>[]> {
    return this.connection.guarded(() =>
      this.connection
        .all(
          `SELECT account_id AS accountId, plan FROM accounts
           WHERE plan NOT IN (SELECT value FROM json_each(?)) AND deleted_ms IS NULL
           ORDER BY created_ms, account_id`,
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
        const update = 'UPDATE accounts SET plan = ? WHERE account_id = ? AND deleted_ms IS NULL';
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
        const update =
          'UPDATE accounts SET sealed_only = ? WHERE account_id = ? AND deleted_ms IS NULL';
        return this.connection.changes(update, rule, accountId);
      },
      () => this.#has('accounts WHERE account_id = ? AND sealed_only <> ?', accountId, rule),
    );
  }

  async addRecipient(
    record: RecipientRecord,
    audit: AuditRecord | null = null,
  ): Promise<RecipientAddition> {
    const isAdded = this.#audited(audit, () => addRecipient(this.connection, record));
    if (isAdded) return 'added';
    const isKnown = this.connection.guarded(() =>
      this.#has('accounts WHERE account_id = ? AND deleted_ms IS NULL', record.accountId),
    );
    return isKnown ? 'taken' : 'unknown_account';
  }

  async removeRecipient(
    accountId: string,
    name: string,
    audit: AuditRecord | null = null,
  ): Promise<boolean> {
    await emptyBoxesAhead(this.connection, { accountId, recipient: name });
    return this.#audited(audit, () => removeRecipient(this.connection, accountId, name));
  }

  async listRecipients(accountId?: string): Promise<RecipientRecord[]> {
    return this.connection.guarded(() => listRecipients(this.connection, accountId));
  }

  async findRecipient(accountId: string, name: string): Promise<RecipientRecord | null> {
    return this.connection.guarded(() => findRecipient(this.connection, accountId, name));
  }

  async addApiKey(
    record: NewApiKey,
    keyHash: Uint8Array,
    audit: AuditRecord | null = null,
  ): Promise<boolean> {
    return this.#audited(audit, () => addApiKey(this.connection, record, keyHash));
  }

  async listApiKeys(accountId?: string): Promise<ApiKeyRecord[]> {
    return this.connection.guarded(() => listApiKeys(this.connection, accountId));
  }

  async findApiKey(keyHash: Uint8Array): Promise<ApiKeyRecord | null> {
    return this.connection.guarded(() => findApiKey(this.connection, keyHash));
  }

  async findApiKeyById(apiKeyId: string): Promise<ApiKeyRecord | null> {
    return this.connection.guarded(() => findApiKeyById(this.connection, apiKeyId));
  }

  async hasOwnApiKeys(): Promise<boolean> {
    return this.connection.guarded(() => hasOwnApiKeys(this.connection));
  }

  async revokeApiKey(
    apiKeyId: string,
    atMs: number,
    audit: AuditRecord | null = null,
  ): Promise<boolean> {
    return this.#audited(
      audit,
      () => revokeApiKey(this.connection, apiKeyId, atMs),
      () => this.#has('api_keys WHERE api_key_id = ? AND revoked_ms IS NULL', apiKeyId),
    );
  }

  async rotateApiKey(
    rotation: Rotation,
    audit: AuditRecord | null = null,
  ): Promise<RotationOutcome> {
    const isRotated = this.#audited(audit, () => rotateApiKey(this.connection, rotation));
    return isRotated ? 'rotated' : 'unusable';
  }

  async noteApiKeyUses(apiKeyIds: readonly string[], hour: number): Promise<void> {
    this.connection.guarded(() =>
      this.connection.transact(() => noteApiKeyUses(this.connection, apiKeyIds, hour)),
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
   * the row has a new value, which `isNew` tells beforehand. Without a new value a page is written all the same: a
   * caller may repeat a change whose commit failed.
   */
  #audited(
    audit: AuditRecord | null,
    change: () => boolean,
    isNew: () => boolean = () => true,
  ): boolean {
    return this.connection.guarded(() =>
      this.connection.transact(() => {
        const isChange = isNew();
        const changed = change();
        if (!isChange) this.connection.writeUnchanged();
        if (changed && isChange && audit) insertAudit(this.connection, audit);
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
