/**
 * Drives the machine's Firefox by WebDriver BiDi (https://www.w3.org/TR/webdriver-bidi/), which needs no patched browser
 * and no driver.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { until } from '../run/until.ts';
import { FIREFOX } from './browser.ts';

/** Reason to skip, for `describe`; false if there is a Firefox. */
export const NO_FIREFOX: string | false = FIREFOX
  ? false
  : 'no Firefox on this machine: install one (firefox-esr)';

/** The longest wait for the end of the browser. */
const EXIT_MS = 60_000;

/** A value of a script, as BiDi writes it. */
interface RemoteValue {
  readonly type: string;
  readonly value?: unknown;
  readonly sharedId?: string;
}

interface Message {
  readonly id?: number;
  readonly type: 'success' | 'error' | 'event';
  readonly method?: string;
  readonly params?: { readonly request?: { readonly url: string } };
  readonly result?: Record<string, unknown>;
  readonly error?: string;
  readonly message?: string;
}

export class FirefoxPage {
  readonly #process: ChildProcess;
  readonly #socket: WebSocket;
  readonly #downloads: string;
  readonly #answers = new Map<number, (message: Message) => void>();
  #lastId = 0;
  #context = '';
  /** Addresses of all requests of the page, in order. */
  readonly requests: string[] = [];

  private constructor(process: ChildProcess, socket: WebSocket, downloads: string) {
    this.#process = process;
    this.#socket = socket;
    this.#downloads = downloads;
    socket.addEventListener('message', ({ data }) => this.#receive(JSON.parse(String(data))));
    socket.addEventListener('close', () => this.#fail());
  }

  /** Starts Firefox. Its profile is below `folder`, and it saves downloads in `folder`/downloads. */
  static async open(folder: string): Promise<FirefoxPage> {
    const profile = mkdtempSync(join(folder, 'profile-'));
    const downloads = join(folder, 'downloads');
    mkdirSync(downloads, { recursive: true });
    writeFileSync(join(profile, 'user.js'), settings(downloads));
    const child = spawn(
      FIREFOX ?? '',
      ['--headless', '--no-remote', '--remote-debugging-port', '0', '--profile', profile],
      // Firefox refuses to run as root in the home of another user.
      { stdio: ['ignore', 'ignore', 'pipe'], env: { ...process.env, HOME: folder } },
    );
    try {
      const socket = new WebSocket(`${await addressOf(child)}/session`);
      await once(socket, 'open');
      const page = new FirefoxPage(child, socket, downloads);
      await page.#prepare();
      return page;
    } catch (error) {
      child.kill('SIGKILL');
      throw error;
    }
  }

  async goto(url: string): Promise<void> {
    await this.#send('browsingContext.navigate', { context: this.#context, url, wait: 'complete' });
  }

  /** Returns the value of an expression, a text, a number or a boolean. */
  async evaluate(expression: string): Promise<unknown> {
    return (await this.#value(expression)).value;
  }

  /** Waits for an expression to become true. */
  wait(expression: string): Promise<void> {
    return until(expression, async () => (await this.evaluate(`Boolean(${expression})`)) === true);
  }

  /** Waits for a download and returns its text. */
  async readDownload(name: string): Promise<string> {
    const path = join(this.#downloads, name);
    // Firefox first writes an empty file of this name, and the bytes to a part beside it.
    const isFinished = (): boolean =>
      existsSync(path) &&
      statSync(path).size > 0 &&
      !readdirSync(this.#downloads).some((file) => file.endsWith('.part'));
    await until(`download of ${name}`, isFinished);
    return readFileSync(path, 'utf8');
  }

  async setFile(selector: string, path: string): Promise<void> {
    const { sharedId } = await this.#value(`document.querySelector(${JSON.stringify(selector)})`);
    await this.#send('input.setFiles', {
      context: this.#context,
      element: { sharedId },
      files: [path],
    });
  }

  /** Ends Firefox, and kills it if it does not end. */
  async close(): Promise<void> {
    const exit = once(this.#process, 'exit');
    const timer = setTimeout(() => this.#process.kill('SIGKILL'), EXIT_MS);
    // The connection may end before the answer.
    await this.#send('browser.close', {}).catch(() => {});
    if (this.#process.exitCode === null && this.#process.signalCode === null) await exit;
    clearTimeout(timer);
  }

  async #prepare(): Promise<void> {
    await this.#send('session.new', { capabilities: {} });
    const { contexts } = await this.#send('browsingContext.getTree', {});
    this.#context = (contexts as readonly { context: string }[])[0].context;
    await this.#send('session.subscribe', { events: ['network.beforeRequestSent'] });
  }

  async #value(expression: string): Promise<RemoteValue> {
    const answer = await this.#send('script.evaluate', {
      expression,
      target: { context: this.#context },
      awaitPromise: true,
    });
    if (answer.type !== 'success') throw new Error(JSON.stringify(answer.exceptionDetails));
    return answer.result as RemoteValue;
  }

  #send(method: string, params: object): Promise<Record<string, unknown>> {
    if (this.#socket.readyState !== WebSocket.OPEN) {
      return Promise.reject(new Error(`${method}: Firefox has ended`));
    }
    const id = ++this.#lastId;
    this.#socket.send(JSON.stringify({ id, method, params }));
    return new Promise((resolve, reject) => {
      this.#answers.set(id, ({ result, error, message }) => {
        if (result) resolve(result);
        else reject(new Error(`${method}: ${error}: ${message}`));
      });
    });
  }

  #receive(message: Message): void {
    if (message.method === 'network.beforeRequestSent') {
      this.requests.push(message.params?.request?.url ?? '');
    }
    if (message.id === undefined) return;
    this.#answers.get(message.id)?.(message);
    this.#answers.delete(message.id);
  }

  #fail(): void {
    for (const [id, answer] of this.#answers) {
      answer({ id, type: 'error', error: 'closed', message: 'Firefox has ended' });
    }
    this.#answers.clear();
  }
}

/** Returns the settings of a profile. */
function settings(downloads: string): string {
  const values = {
    'browser.download.folderList': 2,
    'browser.download.dir': downloads,
    'browser.download.useDownloadDir': true,
    'browser.download.always_ask_before_handling_new_types': false,
    'datareporting.policy.dataSubmissionEnabled': false,
  };
  return Object.entries(values)
    .map(([name, value]) => `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});\n`)
    .join('');
}

/** Returns the address that Firefox writes to its standard error. Rejects if Firefox ends before. */
function addressOf(child: ChildProcess): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let text = '';
  child.stderr?.on('data', (chunk) => {
    text += chunk;
    const [, address] = /WebDriver BiDi listening on (\S+)/.exec(text) ?? [];
    if (address) resolve(address);
  });
  child.once('error', reject);
  child.once('exit', (code) => reject(new Error(`Firefox ended with code ${code}: ${text}`)));
  return promise;
}
