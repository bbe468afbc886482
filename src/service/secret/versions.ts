/** Versions of the master secret: those that a thread holds, compared with those of the database. */
import { timingSafeEqual } from 'node:crypto';
import { wipe } from '../../bytes.ts';
import { AppError } from '../../errors.ts';
import type { Retirement, SecretCheck } from '../../ledger/index.ts';
import { Keyring, type MasterSecret } from '../../proof/index.ts';

/** Seconds after which a client should try another server. On this one an operator must correct the address. */
const FOREIGN_RETRY_SECONDS = 5;

/** Derives a worker's subkeys and wipes its copy of the secret. */
export function takeSecret({ versions, currentVersion }: MasterSecret): Keyring {
  const keyring = new Keyring(versions, currentVersion);
  wipe(...versions.map(({ secret }) => secret));
  return keyring;
}

/** Returns versions under which keys may have been generated and that the keyring lacks. */
export function lackedVersions(
  keyring: Keyring,
  registered: ReadonlyMap<number, SecretCheck>,
): number[] {
  return [...registered]
    .filter(([version, { activated }]) => activated && !keyring.versions.includes(version))
    .map(([version]) => version);
}

/** Returns the retired versions among the registered ones. */
export function retirementsOf(
  registered: ReadonlyMap<number, SecretCheck>,
): ReadonlyMap<number, Retirement> {
  return new Map(
    [...registered].flatMap(([version, { retirement }]) =>
      retirement === null ? [] : [[version, retirement]],
    ),
  );
}

/** Throws `AppError('foreign_ledger')` unless each version of the keyring is registered, as it was when this server started. */
export function requireOwnSecret(
  keyring: Keyring,
  registered: ReadonlyMap<number, SecretCheck>,
): void {
  for (const version of keyring.versions) {
    const { checkValue } = registered.get(version) ?? {};
    if (checkValue && timingSafeEqual(keyring.checkValue(version), checkValue)) continue;
    const problem = checkValue ? 'has another check value there' : 'is not registered there';
    throw new AppError('foreign_ledger', {
      cause: new Error(`version ${version} of the master secret ${problem}`),
      retryAfterSeconds: FOREIGN_RETRY_SECONDS,
    });
  }
}
