/** The driver's options for a connection to one host of an address. */
import { readFileSync } from 'node:fs';
import type pg from 'pg';
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
      ...(sslrootcert && { ca: readFileSync(sslrootcert, 'utf8') }),
      ...(sslcert && { cert: readFileSync(sslcert, 'utf8') }),
      ...(sslkey && { key: readFileSync(sslkey, 'utf8') }),
      ...(sslmode === 'no-verify' && { rejectUnauthorized: false }),
    },
  };
}
