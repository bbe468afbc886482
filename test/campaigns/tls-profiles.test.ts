/**
 * Each TLS profile accepts what its row of this file lists, and nothing else: every number of the registries is offered by
 * hand-made messages, everything that the installed OpenSSL knows by `openssl s_client`, and what is accepted also makes a
 * connection.
 */
import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type ConnectionOptions, connect } from 'node:tls';
import type { FastifyInstance } from 'fastify';
import { loadTls } from '../../src/config/tls.ts';
import { everyGroup, TLS_PROFILE_NAMES } from '../../src/config/tls-profiles.ts';
import { SetupError } from '../../src/errors.ts';
import {
  acceptedNumbers,
  acceptedUnnamed,
  type Offer,
  offer,
  shareFor,
} from '../support/clients/client-hello.ts';
import { buildTestApp, standInService } from '../support/servers/app.ts';
import {
  CERTIFICATE_KEYS,
  type CertificateKey,
  makeCertificate,
} from '../support/servers/certificate.ts';
import { makeDataDir, removeDataDir } from '../support/servers/server.ts';

/** Numbers of IANA's registries "TLS Cipher Suites", "TLS Supported Groups" and "TLS SignatureScheme". */
const SUITES = { TLS_AES_256_GCM_SHA384: 0x1302, TLS_CHACHA20_POLY1305_SHA256: 0x1303 };
const GROUPS = {
  'P-256': 0x0017,
  'P-384': 0x0018,
  'P-521': 0x0019,
  X25519: 0x001d,
  brainpoolP256r1tls13: 0x001f,
  brainpoolP384r1tls13: 0x0020,
  brainpoolP512r1tls13: 0x0021,
  MLKEM1024: 0x0202,
  SecP256r1MLKEM768: 0x11eb,
  X25519MLKEM768: 0x11ec,
  SecP384r1MLKEM1024: 0x11ed,
};
const SIGNATURES = {
  ecdsa_secp256r1_sha256: 0x0403,
  ecdsa_secp384r1_sha384: 0x0503,
  ecdsa_secp521r1_sha512: 0x0603,
  rsa_pss_rsae_sha256: 0x0804,
  rsa_pss_rsae_sha384: 0x0805,
  rsa_pss_rsae_sha512: 0x0806,
  ed25519: 0x0807,
  ed448: 0x0808,
  rsa_pss_pss_sha256: 0x0809,
  mldsa44: 0x0904,
  mldsa65: 0x0905,
  mldsa87: 0x0906,
};
const TLS_1_3 = 0x0304;

/** Groups for which `shareFor` makes public keys. Each profile has one. */
const SHARES: readonly number[] = [0x0018, 0x001d, 0x0202, 0x11ec];

type GroupName = keyof typeof GROUPS;
type SignatureName = keyof typeof SIGNATURES;

interface Expected {
  readonly suites: readonly (keyof typeof SUITES)[];
  readonly groups: readonly GroupName[];
  /** The signature algorithms by the key of the certificate; other keys are refused at the start. */
  readonly signatures: Partial<Record<CertificateKey, readonly SignatureName[]>>;
}

const NIST = {
  'P-256': ['ecdsa_secp256r1_sha256'],
  'P-384': ['ecdsa_secp384r1_sha384'],
  'P-521': ['ecdsa_secp521r1_sha512'],
} as const;
const RSAE = ['rsa_pss_rsae_sha256', 'rsa_pss_rsae_sha384', 'rsa_pss_rsae_sha512'] as const;
const RSA = { 'RSA 3072': RSAE, 'RSA-PSS 3072': ['rsa_pss_pss_sha256'] } as const;
const ANY_KEY = {
  ...NIST,
  ...RSA,
  'RSA 2048': RSAE,
  Ed25519: ['ed25519'],
  Ed448: ['ed448'],
  'ML-DSA-44': ['mldsa44'],
  'ML-DSA-65': ['mldsa65'],
  'ML-DSA-87': ['mldsa87'],
} as const;
const AES = ['TLS_AES_256_GCM_SHA384'] as const;
const AES_OR_CHACHA = ['TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256'] as const;
const HYBRIDS = ['SecP256r1MLKEM768', 'X25519MLKEM768', 'SecP384r1MLKEM1024'] as const;

const EXPECTED: Record<(typeof TLS_PROFILE_NAMES)[number], Expected> = {
  default: {
    suites: AES_OR_CHACHA,
    groups: ['P-256', 'P-384', 'X25519', ...HYBRIDS],
    signatures: ANY_KEY,
  },
  'post-quantum': { suites: AES_OR_CHACHA, groups: HYBRIDS, signatures: ANY_KEY },
  bsi: {
    suites: AES,
    groups: [
      ...['P-256', 'P-384', 'P-521'],
      ...['brainpoolP256r1tls13', 'brainpoolP384r1tls13', 'brainpoolP512r1tls13'],
      ...['SecP256r1MLKEM768', 'SecP384r1MLKEM1024'],
    ] as GroupName[],
    signatures: { ...NIST, ...RSA },
  },
  cnsa: {
    suites: AES,
    groups: ['P-384', 'MLKEM1024', 'SecP384r1MLKEM1024'],
    signatures: {
      'P-384': ['ecdsa_secp384r1_sha384'],
      'RSA 3072': ['rsa_pss_rsae_sha384'],
      'ML-DSA-87': ['mldsa87'],
    },
  },
  'cnsa-2': { suites: AES, groups: ['MLKEM1024'], signatures: { 'ML-DSA-87': ['mldsa87'] } },
};

const folder = makeDataDir();
const filesOf = (key: CertificateKey) => ({
  certFile: join(folder, `${key}.pem`),
  keyFile: join(folder, `${key}.key`),
});
for (const key of CERTIFICATE_KEYS) {
  const { certFile, keyFile } = filesOf(key);
  makeCertificate(certFile, keyFile, undefined, 'both', key);
}
after(() => removeDataDir(folder));

/** Offers that every profile accepts, but for what a test replaces. */
const ANY = {
  versions: [TLS_1_3],
  suites: Object.values(SUITES),
  groups: Object.values(GROUPS),
  signatures: Object.values(SIGNATURES),
};

const portOf = (app: FastifyInstance) => (app.server.address() as AddressInfo).port;

async function listen(profile: keyof typeof EXPECTED, key: CertificateKey) {
  const tls = loadTls({ ...filesOf(key), profile });
  const app = await buildTestApp({ service: standInService('research'), tls });
  await app.listen({ host: '127.0.0.1', port: 0 });
  return app;
}

/** Connects with Node's own OpenSSL. Resolves with the protocol and cipher suite, or with the reason of the failure. */
async function connectTo(port: number, key: CertificateKey, more: ConnectionOptions) {
  const ca = readFileSync(filesOf(key).certFile);
  const client = connect({ host: '127.0.0.1', port, servername: 'localhost', ca, ...more });
  try {
    await once(client, 'secureConnect');
    return `${client.getProtocol()} ${client.getCipher().standardName}`;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code;
  } finally {
    client.destroy();
  }
}

const numbersOf = <Name extends string>(table: Record<Name, number>, names: readonly Name[]) =>
  names.map((name) => table[name]).sort((a, b) => a - b);

for (const profile of TLS_PROFILE_NAMES) {
  const { suites, groups, signatures } = EXPECTED[profile];
  const allowed = CERTIFICATE_KEYS.filter((key) => signatures[key]);
  const key: CertificateKey = signatures['P-384'] ? 'P-384' : 'ML-DSA-87';

  describe(`profile ${profile}`, () => {
    let app: FastifyInstance;
    let port: number;
    before(async () => {
      app = await listen(profile, key);
      port = portOf(app);
    });
    after(() => app.close());

    const ask = async (what: Partial<Offer>) => offer(port, { ...ANY, ...what });

    it('accepts TLS 1.3 alone, of all versions', async () => {
      // Suites of earlier versions too, so that nothing but the version is refused.
      const old = [0xc02b, 0xc02c, 0xc02f, 0xc030, 0xc009, 0xc00a, 0x009d, 0x0035, 0x002f, 0x000a];
      const every = [...ANY.suites, ...old];
      const found = await acceptedNumbers(127, async (versions) => {
        const hello = await ask({ versions, suites: every });
        return hello?.version ?? null;
      });
      assert.deepEqual(found, [TLS_1_3]);
      for (let legacyVersion = 0x0300; legacyVersion <= 0x0305; legacyVersion++) {
        const { versions, ...rest } = ANY;
        assert.equal(await offer(port, { ...rest, suites: every, legacyVersion }), null);
      }
    });

    it(`accepts ${suites.join(' and ')}, of all cipher suites`, async () => {
      const found = await acceptedNumbers(1_000, async (numbers) => {
        const hello = await ask({ suites: numbers });
        return hello?.suite ?? null;
      });
      assert.deepEqual(found, numbersOf(SUITES, suites));
    });

    it('accepts its groups, of all groups', async () => {
      const found = await acceptedNumbers(1_000, async (numbers) => {
        const hello = await ask({ groups: numbers });
        return hello?.group ?? null;
      });
      assert.deepEqual(found, numbersOf(GROUPS, groups));
    });

    it('connects by each of its groups and cipher suites', async () => {
      for (const ecdhCurve of groups) {
        assert.match(String(await connectTo(port, key, { ecdhCurve })), /^TLSv1\.3 TLS_AES_256/);
      }
      for (const ciphers of suites) {
        const ecdhCurve = everyGroup();
        assert.equal(await connectTo(port, key, { ecdhCurve, ciphers }), `TLSv1.3 ${ciphers}`);
      }
    });

    it('refuses the keys of certificates that it does not allow, and says which it does', () => {
      for (const one of CERTIFICATE_KEYS) {
        const load = () => loadTls({ ...filesOf(one), profile });
        if (allowed.includes(one)) assert.doesNotThrow(load);
        else {
          const expected = new RegExp(
            `^PHM_TLS_PROFILE is ${profile}, .* the key of the certificate in PHM_TLS_CERT_FILE, .*: get a certificate with `,
          );
          assert.throws(
            load,
            (error) => error instanceof SetupError && expected.test(error.message),
          );
        }
      }
    });
  });

  describe(`profile ${profile} with a certificate`, () => {
    for (const one of allowed) {
      it(`of ${one} signs with ${signatures[one]}, and nothing else`, async () => {
        const app = await listen(profile, one);
        const port = portOf(app);
        const group = numbersOf(GROUPS, groups).find((number) => SHARES.includes(number)) ?? 0;
        const share = { group, key: shareFor(group) };
        const found = await acceptedUnnamed(1_000, async (numbers) => {
          const hello = await offer(port, { ...ANY, groups: [group], share, signatures: numbers });
          return hello !== null;
        });
        assert.deepEqual(found, numbersOf(SIGNATURES, [...(signatures[one] ?? [])]));
        const connected = await connectTo(port, one, { ecdhCurve: everyGroup() });
        assert.match(String(connected), /^TLSv1\.3 /);
        await app.close();
      });
    }
  });
}

/** Runs a program. Resolves with all that it prints, whatever its exit code. */
function run(program: string, args: readonly string[]): Promise<string> {
  return new Promise((done) => {
    const child = execFile(program, args, { timeout: 60_000 }, (_error, stdout, stderr) =>
      done(stdout + stderr),
    );
    child.stdin?.end();
  });
}

const linesOf = (...args: string[]) =>
  spawnSync('openssl', args, { encoding: 'utf8' }).stdout.split('\n').filter(Boolean);

interface Offers {
  /** Options of s_client, without the hyphen. */
  readonly versions: readonly string[];
  /** Cipher suites of versions before TLS 1.3. */
  readonly old: readonly string[];
  readonly suites: readonly string[];
  readonly groups: readonly string[];
}

const NO_OFFERS: Offers = { versions: [], old: [], suites: [], groups: [] };

/** Returns what the installed OpenSSL can offer, as it says itself, and what it knows without saying so. */
function readOffers(): Offers {
  const ciphers = linesOf('ciphers', '-v', 'ALL:COMPLEMENTOFALL:@SECLEVEL=0').map((line) =>
    line.split(/\s+/),
  );
  const named = (test: (protocol: string) => boolean) =>
    ciphers.filter(([, protocol = '']) => test(protocol)).map(([name = '']) => name);
  const help = spawnSync('openssl', ['s_client', '-help'], { encoding: 'utf8' });
  const versions = `${help.stdout}${help.stderr}`.matchAll(/^ *-(ssl3|tls1(?:_\d)?)\s/gm);
  const curves = linesOf('ecparam', '-list_curves').flatMap(
    (line) => /^\s*([\w-]+)\s*:/.exec(line)?.[1] ?? [],
  );
  const unlisted = ['X25519', 'X448', ...[2, 3, 4, 6, 8].map((k) => `ffdhe${k * 1024}`)];
  const listed = linesOf('list', '-tls-groups').flatMap((line) => line.trim().split(':'));
  return {
    versions: [...versions].map(([, name = '']) => name),
    old: named((protocol) => protocol !== 'TLSv1.3'),
    suites: [
      ...named((protocol) => protocol === 'TLSv1.3'),
      'TLS_AES_128_CCM_SHA256',
      'TLS_AES_128_CCM_8_SHA256',
    ],
    groups: [...new Set([...curves, ...unlisted, ...listed])],
  };
}

const openssl = spawnSync('openssl', ['version'], { encoding: 'utf8' }).stdout?.trim();
const skip = !openssl && 'openssl is not installed here';

/** Names that s_client has for groups that Node and OpenSSL call otherwise. */
const ALIASES: Readonly<Record<string, string>> = {
  prime256v1: 'P-256',
  secp256r1: 'P-256',
  secp384r1: 'P-384',
  secp521r1: 'P-521',
};

describe('openssl s_client', { skip }, () => {
  const offers = skip ? NO_OFFERS : readOffers();

  it('has something to offer', () => {
    const { versions, old, suites, groups } = offers;
    assert.ok(versions.length >= 4 && old.length > 50 && suites.length >= 5 && groups.length > 50);
  });

  for (const profile of TLS_PROFILE_NAMES) {
    it(`gets from profile ${profile} what it allows of all that it knows`, async (t) => {
      const expected = EXPECTED[profile];
      const app = await listen(profile, expected.signatures['P-384'] ? 'P-384' : 'ML-DSA-87');
      const accepts = async (...args: string[]) =>
        /^New, (?:SSLv3|TLSv1[.\d]*), Cipher is (?!\(NONE)/m.test(
          await run('openssl', ['s_client', '-connect', `127.0.0.1:${portOf(app)}`, ...args]),
        );
      const accepted = async (option: string, names: readonly string[], ...more: string[]) => {
        const found: string[] = [];
        for (const name of names) {
          const args = option === '-' ? [`-${name}`] : [option, name];
          if (await accepts(...args, ...more)) found.push(name);
        }
        return found;
      };
      const nameOf = (name: string) => ALIASES[name] ?? name;
      const allowed = offers.groups.filter((name) =>
        (expected.groups as string[]).includes(nameOf(name)),
      );
      const by = allowed.length > 0 ? ['-groups', allowed.join(':')] : [];
      // An OpenSSL before 3.5 has neither the group nor the signatures of the last profile.
      const fits = allowed.length > 0 && (await accepts(...by));
      const every = 'ALL:COMPLEMENTOFALL:@SECLEVEL=0';
      const versions = await accepted('-', offers.versions, '-cipher', every, ...by);
      // A server that accepts one of them would accept them together.
      const old = await accepts('-no_tls1_3', '-cipher', `${offers.old.join(':')}:@SECLEVEL=0`);
      const suites = await accepted('-ciphersuites', offers.suites, ...by);
      const groups = await accepted('-groups', offers.groups);
      await app.close();
      t.diagnostic(`${openssl}: of ${offers.groups.length} groups ${groups.join(', ') || 'none'}`);
      assert.equal(old, false);
      assert.deepEqual(versions, fits ? ['tls1_3'] : []);
      assert.deepEqual(suites.sort(), fits ? [...expected.suites].sort() : []);
      assert.deepEqual(groups, fits ? allowed : []);
    });
  }
});
