/** The shape of the configuration: what the JSON says, before any other file is read. */
import { isIP } from 'node:net';
import { KEY_SIZES, type KeySize } from '../source/key-boxes.ts';
import { MAX_DIRECTORY_BYTES } from '../store/lock.ts';
import { type Faults, Members } from './members.ts';

export interface Shape {
  readonly name: string;
  readonly recipient: string;
  readonly privateKeyFile: string;
  readonly stateDirectory: string;
  readonly systems: readonly string[];
  /** One, or two. */
  readonly services: readonly ServiceShape[];
  readonly peers: readonly PeerShape[];
  readonly access: readonly AccessShape[];
  readonly listeners: readonly ListenerShape[];
  readonly metrics: Place | null;
  readonly pools: PoolShape;
}

export interface ServiceShape {
  readonly url: string;
  readonly apiKeyFile: string | undefined;
  readonly apiKeyVariable: string | undefined;
  readonly policyFile: string;
  readonly origin: string | undefined;
}

interface PeerShape {
  readonly name: string;
  readonly recipient: string;
  readonly thumbprint: string;
  readonly systems: readonly string[];
}

export interface AccessShape {
  readonly master: string;
  readonly slaves: readonly string[];
}

export interface Place {
  readonly host: string;
  readonly port: number;
}

const INTERFACES = ['etsi-014', 'skip'] as const;

export interface ListenerShape extends Place {
  readonly interface: (typeof INTERFACES)[number];
  readonly tls: TlsShape | null;
  readonly psk: readonly PskShape[] | null;
  readonly caller: string | undefined;
}

interface PskShape {
  readonly system: string;
  readonly file: string;
}

interface TlsShape {
  readonly certificateFile: string;
  readonly keyFile: string;
  readonly clientAuthorityFile: string;
}

export interface PoolShape {
  readonly size: KeySize;
  readonly seconds: number;
  readonly least: number;
  readonly most: number;
  readonly lifeMs: number;
}

const NAME = /^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]{1,200}$/u;
const A_NAME = 'a name of 1 to 200 visible characters';
const THUMBPRINT = /^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$/;

/** Systems of one agent, and agents: each is in memory with its pools. */
const MOST = 100;

/** A key is sealed to eight recipients at most: those of a master and of seven slaves. */
const MOST_SLAVES = 7;

/** Members without which an agent serves no systems. */
const SERVING = ['systems', 'access', 'listeners'] as const;

const MINUTE_MS = 60_000;
const LIFE_MS: readonly [number, number] = [20 * MINUTE_MS, 7 * 1440 * MINUTE_MS];

/** Reads the whole configuration. If it adds a fault, the result has gaps and MUST NOT be used. */
export function readShape(value: unknown, faults: Faults): Shape {
  const all = new Members(faults, '', value, [
    'name',
    'recipient',
    'private_key_file',
    'state_dir',
    'systems',
    'services',
    'peers',
    'access',
    'listeners',
    'metrics',
    'pools',
  ]);
  // One without any of these is for `psk`, which serves no systems.
  const least = SERVING.some((name) => all.has(name)) ? 1 : 0;
  return {
    name: all.text('name', A_NAME, NAME) ?? '',
    recipient: all.text('recipient', A_NAME, NAME) ?? '',
    privateKeyFile: all.file('private_key_file') ?? '',
    stateDirectory: readDirectory(all),
    systems: all.texts('systems', A_NAME, NAME, [least, MOST]),
    services: readServices(all),
    peers: all
      .objects('peers', ['name', 'recipient', 'thumbprint', 'systems'], [0, MOST])
      .map((peer) => readPeer(peer, least)),
    access: all.objects('access', ['master', 'slaves'], [least, MOST * MOST]).map(readAccess),
    listeners: all
      .objects('listeners', ['interface', 'host', 'port', 'tls', 'psk', 'caller'], [least, 16])
      .map(readListener),
    metrics: all.has('metrics') ? readMetrics(all.object('metrics', ['host', 'port'])) : null,
    pools: readPools(all),
  };
}

function readDirectory(all: Members): string {
  const path = all.file('state_dir') ?? '';
  if (Buffer.byteLength(path) > MAX_DIRECTORY_BYTES) {
    all.fault(
      'state_dir',
      `expected at most ${MAX_DIRECTORY_BYTES} bytes, for the name of the lock`,
    );
  }
  return path;
}

/** With two services, no single one knows a key. */
function readServices(all: Members): ServiceShape[] {
  const names = ['url', 'api_key_file', 'api_key_env', 'policy_file', 'origin'];
  return all.objects('services', names, [1, 2]).map(readService);
}

function readService(service: Members): ServiceShape {
  if (service.has('api_key_file') === service.has('api_key_env')) {
    service.fault('api_key_file', 'expected either api_key_file or api_key_env');
  }
  return {
    url: readUrl(service),
    apiKeyFile: service.has('api_key_file') ? service.file('api_key_file') : undefined,
    apiKeyVariable: service.optionalText(
      'api_key_env',
      'the name of an environment variable',
      /^[A-Za-z_]\w*$/,
    ),
    policyFile: service.file('policy_file') ?? '',
    origin: service.optionalText('origin', 'the name of a log in the policy', NAME),
  };
}

function readUrl(service: Members): string {
  const wanted = 'an address such as https://keys.example';
  const text = service.text('url', wanted, /^https?:\/\/[^\s@?#]+$/) ?? '';
  if (text === '') return '';
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null) service.fault('url', `expected ${wanted}`);
  else if (url.protocol === 'http:' && !isLoopback(url.hostname.replace(/^\[|\]$/g, ''))) {
    service.fault('url', 'expected https:, except on this machine');
  }
  return text;
}

function readPeer(peer: Members, leastSystems: 0 | 1): PeerShape {
  return {
    name: peer.text('name', A_NAME, NAME) ?? '',
    recipient: peer.text('recipient', A_NAME, NAME) ?? '',
    thumbprint:
      peer.text(
        'thumbprint',
        "base64 of the 32 bytes of its public key's thumbprint",
        THUMBPRINT,
      ) ?? '',
    systems: peer.texts('systems', A_NAME, NAME, [leastSystems, MOST]),
  };
}

function readAccess(access: Members): AccessShape {
  return {
    master: access.text('master', A_NAME, NAME) ?? '',
    slaves: access.texts('slaves', A_NAME, NAME, [1, MOST_SLAVES]),
  };
}

function readListener(listener: Members): ListenerShape {
  const place = readPlace(listener);
  const [hasTls, hasPsk, hasCaller] = ['tls', 'psk', 'caller'].map((one) => listener.has(one));
  if (Number(hasTls) + Number(hasPsk) + Number(hasCaller) !== 1) {
    listener.fault('tls', 'expected one of tls, psk, and caller for plain HTTP on this machine');
  }
  if (hasCaller && place.host !== '' && !isLoopback(place.host)) {
    listener.fault('host', 'expected a loopback address for plain HTTP');
  }
  return {
    ...place,
    interface: listener.choice('interface', 'etsi-014', INTERFACES),
    tls: hasTls ? readTls(listener) : null,
    psk: hasPsk ? readPsk(listener) : null,
    caller: listener.optionalText('caller', A_NAME, NAME),
  };
}

function readPsk(listener: Members): PskShape[] {
  return listener.objects('psk', ['system', 'file'], [1, MOST]).map((one) => ({
    system: one.text('system', A_NAME, NAME) ?? '',
    file: one.file('file') ?? '',
  }));
}

function readTls(listener: Members): TlsShape {
  const tls = listener.object('tls', ['certificate_file', 'key_file', 'client_ca_file']);
  return {
    certificateFile: tls.file('certificate_file') ?? '',
    keyFile: tls.file('key_file') ?? '',
    clientAuthorityFile: tls.file('client_ca_file') ?? '',
  };
}

function readMetrics(metrics: Members): Place {
  const place = readPlace(metrics);
  if (place.host !== '' && !isLoopback(place.host)) {
    metrics.fault('host', 'expected a loopback address: metrics have no TLS');
  }
  return place;
}

function readPlace(members: Members): Place {
  const host = members.text('host', 'an IP address', /^[0-9A-Fa-f.:]+$/) ?? '';
  if (host !== '' && isIP(host) === 0) members.fault('host', 'expected an IP address');
  if (!members.has('port')) members.fault('port', 'is missing: a port from 1 to 65535');
  return { host, port: members.number('port', 0, [0, 65_535]) };
}

function isLoopback(host: string): boolean {
  return host === '::1' || host === 'localhost' || (isIP(host) === 4 && host.startsWith('127.'));
}

function readPools(all: Members): PoolShape {
  const names = ['key_size', 'seconds', 'least', 'most', 'key_life'];
  const pools = all.has('pools') ? all.object('pools', names) : new Members(NO_FAULTS, '', {}, []);
  const least = pools.number('least', 32, [1, 1_000]);
  const most = pools.number('most', 1_000, [1, 5_000]);
  if (most < least) pools.fault('most', 'expected no less than "least"');
  return {
    size: pools.choice('key_size', 256, KEY_SIZES),
    seconds: pools.number('seconds', 60, [1, 3_600]),
    least,
    most,
    lifeMs: readLife(pools),
  };
}

const UNITS_MS: Readonly<Record<string, number>> = {
  m: MINUTE_MS,
  h: 60 * MINUTE_MS,
  d: 1440 * MINUTE_MS,
};

function readLife(pools: Members): number {
  const wanted = 'a time from 20m to 7d, such as 1h';
  const text = pools.optionalText('key_life', wanted, /^[1-9][0-9]{0,4}[mhd]$/) ?? '1h';
  const ms = Number(text.slice(0, -1)) * (UNITS_MS[text.slice(-1)] ?? 0);
  const [least, most] = LIFE_MS;
  if (ms < least || ms > most) pools.fault('key_life', `expected ${wanted}`);
  return ms;
}

const NO_FAULTS: Faults = { list: [], add: () => {} };
