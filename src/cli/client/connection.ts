/** The connection of the client commands to a service, and their error messages. */

import { createHash } from 'node:crypto';
import type { Command } from 'commander';
import { CommandError, untilInterrupted } from '#platform/commands';
import { readFailure, readTextFile } from '#platform/files';
import {
  PhmApiError,
  PhmClient,
  PhmConnectionError,
  PhmError,
  type RetryEvent,
} from '../../../sdk/src/index.ts';
import { DEMO_ACCOUNTS, isWellFormedApiKey } from '../../accounts/index.ts';
import {
  CLIENT_ENVIRONMENT,
  type ClientConfig,
  cleartextProxyProblem,
  readClientConfig,
  readConfig,
} from '../../config/index.ts';
import { SOURCE_NAMES } from '../../entropy/index.ts';
import type { CliContext } from '../context.ts';
import { localAddress } from '../server-address.ts';
import { offerEveryGroup } from '../tls-groups.ts';

export interface ConnectionFlags {
  readonly url?: string;
}

const OTHERS = {
  PHM_ALLOW_CLEARTEXT: 'on: allow http: to other machines, if something else encrypts',
  NODE_EXTRA_CA_CERTS: 'file of additional certificate authorities to trust',
};

/** Adds the option and the help that all client commands share; `help` comes before the shared help. */
export function addConnectionOptions(command: Command, help: string): Command {
  const rows = Object.entries(CLIENT_ENVIRONMENT).map(
    ([name, { default: value, help: meaning }]) => [
      name,
      value === '' ? meaning : `${meaning} (${value})`,
    ],
  );
  const table = [...rows, ...Object.entries(OTHERS)]
    .map(([name = '', meaning]) => `  ${name.padEnd(20)} ${meaning}\n`)
    .join('');
  return command
    .option('--url <address>', 'address of the service, with its base path; overrides PHM_URL')
    .addHelpText(
      'after',
      `${help}
Environment:
${table}There is no option for the API key: every user of the machine could read it in the process list.
`,
    );
}

interface ApiKey {
  readonly text: string;
  readonly origin: string;
}

const DEMO_ORIGIN = 'the demo key';

const NO_API_KEY = { text: undefined, origin: 'none' };

/** One service with one API key, or without one. */
export class Connection {
  readonly #phm: PhmClient;
  readonly #isCleartext: boolean;
  readonly #origin: string;
  /** Address of the service, without a slash at its end. */
  readonly address: string;
  /** Tells API keys apart and reveals nothing about them: 64 bits of a hash of a random text. */
  readonly apiKeyFingerprint: string;
  #lostAnswers = 0;

  /** Throws `CommandError` if the environment has no usable address, or no API key although the command needs one. */
  constructor(context: CliContext, { url }: ConnectionFlags, needsApiKey = true) {
    const own = url === undefined ? ownServer(context) : undefined;
    const env = own === undefined ? context.env : { ...context.env, PHM_URL: own };
    const result = readClientConfig(env, url);
    if (!result.ok) throw new CommandError(result.problems, 2);
    const problem = cleartextProxyProblem(new URL(result.config.url), context.env);
    if (problem !== null) throw new CommandError(problem, 2);
    const { text, origin } = needsApiKey ? findApiKey(result.config, context) : NO_API_KEY;
    this.#origin = origin;
    this.address = result.config.url.replace(/\/+$/, '');
    this.apiKeyFingerprint = createHash('sha256')
      .update(text ?? '')
      .digest('hex')
      .slice(0, 16);
    this.#isCleartext = URL.parse(result.config.url)?.protocol === 'http:';
    this.#phm = makeClient(result.config.url, text, origin, ({ error }) => {
      if (error.outcomeUnknown) this.#lostAnswers++;
    });
  }

  /** Requests so far that the client has sent again although the service may have executed them. */
  get lostAnswers(): number {
    return this.#lostAnswers;
  }

  get client(): PhmClient {
    return this.#phm;
  }

  /**
   * Resolves with the result of `call`, which Ctrl-C aborts. Rejects with a `CommandError` that names the
   * problem and the fix, followed by `lost` if the service may have executed the request.
   */
  ask<T>(call: (phm: PhmClient, signal: AbortSignal) => Promise<T>, lost = ''): Promise<T> {
    return untilInterrupted(async (signal) => {
      const before = this.#lostAnswers;
      try {
        return await call(this.#phm, signal);
      } catch (error) {
        if (signal.aborted) throw new CommandError(withLoss([String(signal.reason)], lost), 1);
        throw this.explain(error, lost, this.#lostAnswers > before);
      }
    });
  }

  /**
   * Returns a `CommandError` for a failure of the client, with `lost` if the service may have executed its last request or,
   * with `isLost`, an earlier one. Returns any other error as it is.
   */
  explain(error: unknown, lost = '', isLost = false): unknown {
    if (!(error instanceof PhmError)) return error;
    const unknown = error.outcomeUnknown || isLost ? lost : '';
    return new CommandError(withLoss(this.#describe(error), unknown), 1);
  }

  #describe(error: PhmError): string[] {
    if (error instanceof PhmApiError) return this.#describeRefusal(error);
    if (error instanceof PhmConnectionError && !error.outcomeUnknown) {
      const fix = /\((?:\w*CERT|UNABLE_TO_VERIFY)/.test(error.message)
        ? 'This machine does not trust its certificate: set NODE_EXTRA_CA_CERTS to the file of its authority, or check the address.'
        : 'Set another address with --url or PHM_URL, or start the server: phm serve';
      return [error.message, fix];
    }
    // A cleartext request to a TLS listener ends this way.
    if (this.#isCleartext && /\((?:UND_ERR_SOCKET|ECONNRESET)\)/.test(error.message)) {
      return [
        error.message,
        'If the server has a certificate, set an https: address with --url or PHM_URL.',
      ];
    }
    return [inOwnWords(error.message)];
  }

  #describeRefusal(error: PhmApiError): string[] {
    const { code, title, detail, requestId, retryAfterSeconds } = error;
    const lines = [`${title} (${code})`];
    lines.push(detail);
    // The detail already names the first error.
    for (const { pointer, message } of error.errors.slice(1)) {
      lines.push(`  ${pointer.replace(/^(#\/|\?)/, '')} ${message}`);
    }
    if (code === 'invalid_api_key') {
      lines.push(
        this.#origin === DEMO_ORIGIN
          ? 'The command used the public demo key, which this server does not accept: set PHM_API_KEY or PHM_API_KEY_FILE.'
          : `The API key came from ${this.#origin}.`,
      );
    }
    const option = OPTION_FOR.get(code);
    if (option !== undefined) lines.push(option);
    if (retryAfterSeconds !== null && !/\btry again in \d/i.test(detail)) {
      lines.push(`Try again in ${duration(retryAfterSeconds)}.`);
    }
    if (requestId !== null) lines.push(`Request ID: ${requestId}`);
    return lines;
  }
}

/** What options do about a refusal whose detail names fields and paths, by its code. */
const OPTION_FOR: ReadonlyMap<string, string> = new Map([
  ['sealed_only', 'With this command: name the recipient with --seal-to FILE or --recipient NAME.'],
  [
    'recipient_not_registered',
    'With phm generate: use --recipient NAME instead of --seal-to. phm encrypt cannot encrypt for this account.',
  ],
]);

/** Replaces the option names in a message of the SDK with those of the command line. */
function inOwnWords(message: string): string {
  return message
    .replace(/\b(check|set) baseUrl\b/, '$1 --url or PHM_URL')
    .replace(/^apiKey\b/, 'the API key');
}

/** Variables that say where the server of this environment listens. */
const OWN_ADDRESS = ['PHM_PORT', 'PHM_HOST', 'PHM_BASE_PATH', 'PHM_TLS_CERT_FILE'];

/**
 * Returns the address of the server that this environment configures, and says so; undefined if `PHM_URL` names one, or if
 * the environment has the default address. Throws `CommandError` if the address cannot be known.
 */
function ownServer({ env, err }: CliContext): string | undefined {
  const set = OWN_ADDRESS.filter((name) => env[name]?.trim());
  if (env.PHM_URL?.trim() || set.length === 0) return undefined;
  const result = readConfig(env, { cores: 1, knownSources: SOURCE_NAMES, serves: false });
  if (!result.ok) throw new CommandError(result.problems, 2);
  const { config } = result;
  if (config.port === 0) {
    throw new CommandError(
      'PHM_PORT is 0, so the server took a free port: set PHM_URL to the address that it printed',
      2,
    );
  }
  const url = `${localAddress(config)}${config.basePath}`;
  if (url === CLIENT_ENVIRONMENT.PHM_URL.default) return undefined;
  err(`note: PHM_URL is not set: the server of ${set.join(' and ')} is asked, ${url}\n`);
  return url;
}

function withLoss(lines: readonly string[], lost: string): readonly string[] {
  return lost === '' ? lines : [...lines, lost];
}

function findApiKey({ apiKey, loopback }: ClientConfig, { err }: CliContext): ApiKey {
  if (apiKey && 'file' in apiKey) {
    const text = readKeyFile(apiKey.file);
    const origin = `PHM_API_KEY_FILE, ${apiKey.file}`;
    // The file may be the wrong one, such as the master secret.
    if (isWellFormedApiKey(text)) return { text, origin };
    throw new CommandError(`${origin}: the file holds no API key (phmsk_…); nothing was sent`, 2);
  }
  if (apiKey) return { text: apiKey.text, origin: 'PHM_API_KEY' };
  if (!loopback) {
    const message =
      'there is no API key: set PHM_API_KEY_FILE to a file that holds it, or PHM_API_KEY to the API key itself';
    throw new CommandError(`${message}. To issue one, as an operator: phm api-key issue`, 2);
  }
  const [demo] = DEMO_ACCOUNTS;
  err('note: PHM_API_KEY is not set: the public demo key of the Research plan is used\n');
  return { text: demo.apiKey, origin: DEMO_ORIGIN };
}

const UNREADABLE: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  ENOTDIR: 'there is no such file',
  EISDIR: 'it is a directory',
  EACCES: 'this user may not read it',
};

/** A file of another kind may be much longer. */
const MAX_KEY_FILE_BYTES = 65_536;

function readKeyFile(file: string): string {
  try {
    return readTextFile(file, MAX_KEY_FILE_BYTES).trim();
  } catch (error) {
    const reason = UNREADABLE[(error as NodeJS.ErrnoException).code ?? ''] ?? readFailure(error);
    throw new CommandError(`cannot read ${file}, which PHM_API_KEY_FILE names: ${reason}`, 2);
  }
}

function makeClient(
  baseUrl: string,
  apiKey: string | undefined,
  origin: string,
  onRetry: (event: RetryEvent) => void,
): PhmClient {
  offerEveryGroup();
  try {
    // A person waits: a server that does not run is no reason to try for a minute.
    return new PhmClient({ baseUrl, apiKey, maxRetries: 3, onRetry });
  } catch (error) {
    // The message quotes neither address nor API key.
    throw new CommandError(`${origin}: ${inOwnWords((error as Error).message)}`, 2);
  }
}

/** Formats seconds in the largest unit that fits twice, rounded up. */
export function duration(seconds: number): string {
  const units = [
    [86_400, 'days'],
    [3_600, 'hours'],
    [60, 'minutes'],
  ] as const;
  for (const [length, name] of units) {
    if (seconds >= 2 * length) return `${Math.ceil(seconds / length)} ${name}`;
  }
  return `${seconds} ${seconds === 1 ? 'second' : 'seconds'}`;
}
