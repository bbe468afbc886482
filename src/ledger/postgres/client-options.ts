/** The driver's options for a connection to one host of an address. */

import type pg from 'pg';
import { readTextFile } from '#platform/files';
import type {
  PostgresAddress,
  PostgresHost,
  TlsParameters,
} from '../../config/postgres-address.ts';

/** Returns the options. TLS verifies the name of this host. Throws if a certificate file cannot be read. */
export function clientOptions(
  { user, password, database, tls, connectTimeoutMs }: PostgresAddress,
  { host, port }: PostgresHost,
): pg.ClientConfig {
  return {
    host,
    port,
    user,
    password,
    database,
    ...tlsOptions(tls),
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
    application_name: 'phm',
  };
}

/** Every mode but `disable` and `no-verify` verifies the certificate and its name, more than libpq does. */
function tlsOptions({
  sslmode,
  sslrootcert,
  sslcert,
  sslkey,
}: TlsParameters): Pick<pg.ClientConfig, 'ssl'> {
  if (sslmode === 'disable') return { ssl: false };
  if (!sslmode && !sslrootcert && !sslcert && !sslkey) return {};
  return {
    ssl: {
      ...(sslrootcert && { ca: readTextFile(sslrootcert) }),
      ...(sslcert && { cert: readTextFile(sslcert) }),
      ...(sslkey && { key: readTextFile(sslkey) }),
      ...(sslmode === 'no-verify' && { rejectUnauthorized: false }),
    },
  };
}
