/** Asks the server on the configured address, if one runs, whether it is ready. */
import { X509Certificate } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { get as getTls } from 'node:https';
import { TLSSocket } from 'node:tls';
import { formatTimestamp } from '../../clock.ts';
import { readCertificate } from '../../config/certificate.ts';
import type { Config } from '../../config/index.ts';
import { everyGroup } from '../../config/tls-profiles.ts';
import { get as getCleartext } from '../../node-http.ts';
import { describeOtherServer } from '../admin/other-server.ts';
import { localAddress } from '../server-address.ts';
import { type Finding, failed, ok, Skipped, warning } from './finding.ts';
import type { Site } from './site.ts';

const TIMEOUT_MS = 3_000;

/** Most characters of an answer that are read. */
const MAX_LENGTH = 65_536;

const PAGE = 'docs/incidents.md#renew-the-certificate';
const RENEW = `renew it, then restart the server, which reads it at startup only: ${PAGE}`;

const NOT_LISTENING = new Set([
  'ECONNREFUSED',
  'EADDRNOTAVAIL',
  'ENOTFOUND',
  'EHOSTUNREACH',
  'ENETUNREACH',
]);

interface Answer {
  readonly text: string;
  /** The certificate in use; null without TLS. */
  readonly certificate: X509Certificate | null;
}

export async function checkServer({ config }: Site): Promise<Finding[]> {
  if (config.port === 0) throw new Skipped('PHM_PORT is 0, so its address is unknown');
  const address = localAddress(config);
  const answer = await ask(`${address}/readyz`);
  if (answer === 'no_listener') throw new Skipped(`nothing listens on ${address}`);
  if (answer === 'silence') return [hangs(address)];
  if (answer === 'nonsense') return [isOther(config, address)];
  const found = [
    ...checkReadiness(address, answer.text),
    ...checkLoadedCertificate(config, answer),
    ...(await checkDirectory(config)),
  ];
  return found.length > 0 ? found : [ok(`${address} is ready`)];
}

function hangs(address: string): Finding {
  return failed(
    `the process on ${address} does not answer within ${TIMEOUT_MS / 1000} s`,
    'if it is the server, it hangs: docs/incidents.md#a-process-that-hangs',
  );
}

function isOther({ tls }: Config, address: string): Finding {
  return failed(
    `the process on ${address} does not speak ${tls ? 'TLS, or not this version' : 'HTTP without TLS'}`,
    'run this with the variables of that server; if it is another program, end it or set PHM_PORT',
  );
}

function checkReadiness(address: string, text: string): Finding[] {
  const { status, checks } = parse(text);
  if (checks === null) {
    const found = `what answers on ${address} is no server of this service`;
    return [failed(found, 'end that program, or set PHM_PORT')];
  }
  if (status === 'ok') return [];
  const bad = Object.entries(checks)
    .filter(([name, word]) => word !== (name === 'accepting' ? 'yes' : 'ok'))
    .map(([name, word]) => `${name} ${word}`);
  return [failed(`${address} is not ready: ${bad.join(', ')}`, 'look up each of these')];
}

/** Returns no checks for the answer of another program. */
function parse(text: string): { status: unknown; checks: Record<string, unknown> | null } {
  try {
    const { status, checks } = JSON.parse(text) as Record<string, unknown>;
    const isObject = typeof checks === 'object' && checks !== null;
    return { status, checks: isObject ? (checks as Record<string, unknown>) : null };
  } catch {
    return { status: null, checks: null };
  }
}

/** Readiness says nothing about the certificate: probes do not check it. */
function checkLoadedCertificate({ tls }: Config, { certificate }: Answer): Finding[] {
  if (tls === null || certificate === null) return [];
  const found: Finding[] = [];
  const endMs = certificate.validToDate.getTime();
  if (endMs <= Date.now()) {
    const expired = `the certificate of the running server expired at ${formatTimestamp(endMs)}, so clients refuse it`;
    found.push(failed(expired, RENEW));
  }
  const onDisk = new X509Certificate(readCertificate(tls).cert);
  if (onDisk.fingerprint256 !== certificate.fingerprint256) {
    const other = 'the running server uses another certificate than the one in PHM_TLS_CERT_FILE';
    found.push(warning(other, `restart the server, which reads it at startup only: ${PAGE}`));
  }
  return found;
}

async function checkDirectory(config: Config): Promise<Finding[]> {
  const other = config.databaseUrl === null ? await describeOtherServer(config) : null;
  return other === null ? [] : [warning(other, 'run this with the variables of that server')];
}

/** Returns the answer, or what came in its place. */
function ask(url: string): Promise<Answer | 'no_listener' | 'silence' | 'nonsense'> {
  return new Promise((done) => {
    const answered = (response: IncomingMessage) => {
      const { socket } = response;
      const peer = socket instanceof TLSSocket ? socket.getPeerX509Certificate() : undefined;
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (part: string) => {
        text += part;
        if (text.length > MAX_LENGTH) response.destroy();
      });
      response.on('error', ({ name }) => done(name === 'AbortError' ? 'silence' : 'nonsense'));
      response.on('close', () => done({ text, certificate: peer ?? null }));
    };
    // The request has no secret, and the certificate has a check of its own.
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const options = {
      rejectUnauthorized: false,
      agent: false as const,
      signal,
      ecdhCurve: everyGroup(),
    };
    const request = url.startsWith('https:')
      ? getTls(url, options, answered)
      : getCleartext(url, options, answered);
    request.on('error', ({ name, code }: NodeJS.ErrnoException) => {
      if (name === 'AbortError') done('silence');
      else done(code !== undefined && NOT_LISTENING.has(code) ? 'no_listener' : 'nonsense');
    });
  });
}
