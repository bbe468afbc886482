/**
 * The address of PostgreSQL, in the form of libpq's connection URIs (PostgreSQL documentation, 34.1.1.2), also with
 * several hosts (34.1.1.3). `test/ledger/postgres-address.test.ts` compares the parser with libpq.
 *
 * The driver's own parser knows one host only, and decodes some parts differently.
 */

export interface PostgresHost {
  /** A name, an IPv4 or IPv6 address without brackets, or the absolute path of a folder of Unix sockets. */
  readonly host: string;
  readonly port: number;
}

/** What a session must allow: writing by default, a server that is no standby, or nothing. */
export type SessionTarget = 'read-write' | 'primary' | 'any';

export interface PostgresAddress {
  readonly user: string;
  /** Empty if the address has none. Never in a message. */
  readonly password: string;
  readonly database: string;
  /** At least one. */
  readonly hosts: readonly PostgresHost[];
  readonly target: SessionTarget;
  /** Limit of each attempt to connect to one host. */
  readonly connectTimeoutMs: number;
  readonly tls: TlsParameters;
}

type TlsParameter = 'sslmode' | 'sslrootcert' | 'sslcert' | 'sslkey';
export type TlsParameters = Readonly<Partial<Record<TlsParameter, string>>>;

/** The address is not usable. Its message quotes no part that may be secret. */
export class AddressError extends Error {
  override readonly name = 'AddressError';
}

const DEFAULT_PORT = 5432;

const DEFAULT_CONNECT_SECONDS = 5;
const MAX_CONNECT_SECONDS = 30;

/** libpq takes 1 second for 2. */
const MIN_CONNECT_SECONDS = 2;

const TARGETS: readonly string[] = ['read-write', 'primary', 'any'] satisfies SessionTarget[];

/** Targets of libpq that no ledger can use. */
const READING_TARGETS = ['read-only', 'standby', 'prefer-standby'];

/** Parameters and their allowed values; null: checked where they are read. */
const PARAMETERS: Readonly<Record<string, readonly string[] | null>> = {
  host: null,
  port: null,
  target_session_attrs: null,
  connect_timeout: null,
  load_balance_hosts: null,
  sslmode: ['disable', 'prefer', 'require', 'verify-ca', 'verify-full', 'no-verify'],
  sslrootcert: null,
  sslcert: null,
  sslkey: null,
};

/** The parts of a URI, decoded, before lists are split. */
interface Parts {
  readonly user: string;
  readonly password: string;
  readonly hosts: string;
  readonly ports: string;
  readonly database: string;
  readonly parameters: ReadonlyMap<string, string>;
}

/**
 * Parses an address. User, host and database are required, because the driver would take missing ones from
 * variables that worker threads do not see. Throws `AddressError`.
 */
export function parsePostgresAddress(text: string): PostgresAddress {
  const parts = splitUri(text);
  const { user, password, database, parameters } = parts;
  const hosts = readHosts(parts);
  if (user === '' || database === '') throw notAnAddress();
  refuseBalancing(parameters.get('load_balance_hosts'));
  return {
    user,
    password,
    database,
    hosts,
    target: readTarget(parameters.get('target_session_attrs'), hosts.length),
    connectTimeoutMs: readConnectSeconds(parameters.get('connect_timeout')) * 1000,
    tls: readTls(parameters),
  };
}

/** Returns hosts and database for messages: `db1:5432,db2:5432/phm`. */
export function describeAddress({ hosts, database }: PostgresAddress): string {
  return `${describeHosts(hosts)}/${database}`;
}

export function describeHosts(hosts: readonly PostgresHost[]): string {
  return hosts.map(describeHost).join(',');
}

export function describeHost({ host, port }: PostgresHost): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

function notAnAddress(): AddressError {
  return new AddressError(
    'is not the address of a PostgreSQL database: write postgres://user:password@host:5432/database, or unset ' +
      'the variable for SQLite',
  );
}

/** User and password end at the first `@`, which must precede the first `/`. */
const AUTHORITY = /^(?:(?<user>[^:/@]*)(?::(?<password>[^@/]*))?@)?(?<hosts>[^/?]*)/;

function splitUri(text: string): Parts {
  const [scheme] = /^postgres(?:ql)?:\/\//.exec(text) ?? [];
  if (scheme === undefined) throw notAnAddress();
  const rest = text.slice(scheme.length);
  const found = AUTHORITY.exec(rest);
  const { user = '', password = '', hosts = '' } = found?.groups ?? {};
  if (hosts.includes('@')) {
    throw new AddressError('has an @ among its hosts: write an @ in a user or password as %40');
  }
  const [path = '', ...queries] = rest.slice(found?.[0].length ?? 0).split('?');
  const parameters = splitParameters(queries.join('?'));
  const listed = splitHostList(hosts);
  return {
    user: decode(user),
    password: decode(password),
    hosts: parameters.get('host') || decode(listed.hosts.join(',')),
    ports: parameters.get('port') || decode(listed.ports.join(',')),
    database: decode(path.slice(1)),
    parameters,
  };
}

/** Splits `a:1,[::1]:2`. Each part becomes a host and a port, which may be empty. */
function splitHostList(text: string): { hosts: string[]; ports: string[] } {
  const hosts: string[] = [];
  const ports: string[] = [];
  for (const one of text.split(',')) {
    const found = /^(?:\[(?<literal>[^\]]+)\]|(?<name>[^:[]*))(?::(?<port>.*))?$/.exec(one);
    if (!found?.groups) {
      throw new AddressError('has a host that is not name:port, IPv4:port or [IPv6]:port');
    }
    const { literal, name, port } = found.groups;
    hosts.push(literal ?? name ?? '');
    ports.push(port ?? '');
  }
  return { hosts, ports };
}

function splitParameters(text: string): ReadonlyMap<string, string> {
  const parameters = new Map<string, string>();
  for (const pair of text === '' ? [] : text.split('&')) {
    const [name = '', value, ...more] = pair.split('=');
    const known = decode(name);
    const allowed = Object.hasOwn(PARAMETERS, known) ? PARAMETERS[known] : [];
    const read = value === undefined ? '' : decode(value);
    const isAllowed = allowed === null || allowed?.includes(read);
    if (value === undefined || more.length > 0 || !isAllowed) throw unknownParameter(known);
    parameters.set(known, read);
  }
  return parameters;
}

/** A misspelt `sslmode` would connect in the clear, so nothing unknown passes. */
function unknownParameter(name: string): AddressError {
  return new AddressError(
    `has an unknown parameter, or a parameter with an unknown value: ${name.replace(/[^\x20-\x7e]/g, '?').slice(0, 60)}. Use ` +
      `${Object.keys(PARAMETERS).join(', ')}; sslmode is one of ${PARAMETERS.sslmode?.join(', ')}`,
  );
}

/** Decodes `%xx` as libpq does: `+` stays. */
function decode(text: string): string {
  try {
    const decoded = decodeURIComponent(text);
    if (!decoded.includes('\0')) return decoded;
  } catch {
    // An incomplete %xx, or bytes that are no UTF-8.
  }
  throw new AddressError(
    'has a % that does not begin a character in the form %xx: write a % itself as %25',
  );
}

function readHosts({ hosts, ports }: Parts): PostgresHost[] {
  const names = hosts.split(',');
  const numbers = ports === '' ? [''] : ports.split(',');
  if (names.includes('')) {
    throw names.length === 1 ? notAnAddress() : new AddressError('has an empty host in its list');
  }
  if (numbers.length !== 1 && numbers.length !== names.length) {
    throw new AddressError(
      `has ${numbers.length} ports for ${names.length} hosts: give one for all, or one for each`,
    );
  }
  return names.map((host, i) => ({ host, port: readPort(numbers[i] ?? numbers[0] ?? '') }));
}

function readPort(text: string): number {
  const port = text === '' ? DEFAULT_PORT : /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (port < 1 || port > 65_535) {
    throw new AddressError('has a port that is not a number from 1 to 65535');
  }
  return port;
}

/** Several hosts are there so that one of them can write. A single one may be a standby, as for `phm export`. */
function readTarget(text: string | undefined, hosts: number): SessionTarget {
  if (text === undefined) return hosts > 1 ? 'read-write' : 'any';
  if (TARGETS.includes(text)) return text as SessionTarget;
  const reason = READING_TARGETS.includes(text)
    ? `asks for target_session_attrs=${text}, but a ledger needs a server that writes`
    : 'has an unknown target_session_attrs';
  throw new AddressError(`${reason}: use ${TARGETS.join(', ')}`);
}

function readConnectSeconds(text: string | undefined): number {
  if (text === undefined) return DEFAULT_CONNECT_SECONDS;
  const seconds = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (seconds >= 1 && seconds <= MAX_CONNECT_SECONDS) return Math.max(MIN_CONNECT_SECONDS, seconds);
  throw new AddressError(
    `has a connect_timeout that is not a number of seconds from 1 to ${MAX_CONNECT_SECONDS}`,
  );
}

function refuseBalancing(text = 'disable'): void {
  if (text === 'disable') return;
  throw new AddressError(
    'asks for load_balance_hosts, but all connections must lead to the one server that writes: leave it out',
  );
}

function readTls(parameters: ReadonlyMap<string, string>): TlsParameters {
  const names: readonly TlsParameter[] = ['sslmode', 'sslrootcert', 'sslcert', 'sslkey'];
  return Object.fromEntries(
    names.flatMap((name) => (parameters.has(name) ? [[name, parameters.get(name) ?? '']] : [])),
  );
}
