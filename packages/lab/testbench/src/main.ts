/** The page: a file is dropped, recognised, tested by workers and reported. */
import { grouped } from '../../../sp800-22/src/index.ts';
import { FORMS } from '../../src/input/readers/table.ts';
import { readHead } from './decode/head.ts';
import { HEAD_BYTES, isGzip, recognise } from './decode/recognise.ts';
import { startTask, type Task } from './engine/client.ts';
import type {
  EntropyProgress,
  EntropyRequest,
  EntropyResult,
  RunProgress,
  RunRequest,
  RunResult,
} from './engine/messages.ts';
import { byId, pairs } from './view/dom.ts';
import { entropySection } from './view/entropy.ts';
import { showExamples } from './view/examples.ts';
import { withFieldNames } from './view/parameters.ts';
import { ProgressView } from './view/progress.ts';
import { showReport } from './view/report.ts';
import { type Opened, type Settings, showSettings } from './view/settings.ts';

/** A file on the page. Another file ends its tasks, and nothing of it may be shown from then on. */
class Session {
  readonly #tasks: Task<unknown>[] = [];
  hasEnded = false;
  /** The file whose tests run. */
  running: string | null = null;

  start<Result, Progress = never>(
    ...task: Parameters<typeof startTask<Result, Progress>>
  ): Task<Result> {
    const started = startTask<Result, Progress>(...task);
    this.#tasks.push(started);
    return started;
  }

  end(): void {
    this.hasEnded = true;
    for (const task of this.#tasks) task.end('another file was opened');
  }
}

let session = new Session();

/** Returns whether the file is still the one on the page. */
async function open(file: File): Promise<boolean> {
  session.end();
  session = new Session();
  const own = session;
  byId('about').hidden = true;
  byId('results').replaceChildren();
  byId('settings').hidden = true;
  byId('run').hidden = true;
  try {
    const { result: sha256 } = own.start<string>('hash', file);
    const opened = await inspect(file);
    if (own.hasEnded) return false;
    showFacts(opened, 'being computed …');
    byId('recognised').textContent = recognisedText(opened);
    // An empty file has nothing to set.
    if (opened.head.length > 0) {
      showSettings(opened, (settings) => void run(opened, settings, own));
    }
    showFacts(opened, await sha256);
  } catch (error) {
    if (own.hasEnded) return false;
    byId('recognised').textContent = `The file cannot be read: ${(error as Error).message}`;
  }
  return true;
}

/** Opens the first of several files, and says which are not taken. Returns false if it was not opened. */
async function take(files: readonly File[]): Promise<boolean> {
  const [file, ...others] = files;
  if (!file || !mayOpen(file)) return false;
  const names = others.map(({ name }) => name).join(', ');
  byId('dropped').textContent =
    others.length === 0
      ? ''
      : `${files.length} files were dropped; this page tests one at a time: ${file.name}. Not taken: ${names}.`;
  return open(file);
}

/** Asks before a file ends the run of another. */
function mayOpen({ name }: File): boolean {
  const { running } = session;
  if (running === null) return true;
  return confirm(
    `The tests on ${running} are running. End them without a report, and open ${name}?`,
  );
}

function recognisedText({ gzip, recognised, head }: Opened): string {
  if (head.length === 0) return gzip ? 'The file is gzip of nothing.' : 'The file is empty.';
  const question = recognised.format === null ? ' Choose its format.' : '';
  const packed = gzip ? 'The file is gzip. What it holds: ' : '';
  return `${packed}${recognised.reason}${question}`;
}

async function inspect(file: File): Promise<Opened> {
  const first = await readHead(file, false, HEAD_BYTES);
  const gzip = isGzip(first);
  const head = gzip ? await readHead(file, true, HEAD_BYTES) : first;
  return { file, gzip, recognised: recognise(head), head };
}

function showFacts({ file }: Opened, sha256: string): void {
  const facts = byId('facts');
  facts.replaceChildren(
    ...pairs([
      ['File', file.name],
      ['Size', `${grouped(file.size)} ${file.size === 1 ? 'byte' : 'bytes'}`],
      ['SHA-256', sha256],
    ]),
  );
  facts.hidden = false;
}

async function run(opened: Opened, settings: Settings, own: Session): Promise<void> {
  const { file } = opened;
  const start = byId<HTMLButtonElement>('start');
  const results = byId('results');
  start.disabled = true;
  own.running = file.name;
  results.replaceChildren();
  const cancelling = new AbortController();
  const view = new ProgressView(settings.bits ?? 0, () => cancelling.abort());
  let estimating: Task<EntropyResult> | null = null;
  try {
    const { samples, width, ...options } = settings;
    const request: RunRequest = { file, options };
    const suite = own.start<RunResult, RunProgress>('run', request, (state) => view.update(state));
    if (samples !== null) {
      const { format, offset, report } = options;
      estimating = estimate({ file, format, offset, samples, width, report }, view, own);
    }
    cancelling.signal.onabort = () => {
      suite.send('cancel');
      estimating?.end('cancelled.');
    };
    const result = await suite.result;
    view.endTests();
    await showReport(results, result, file.name, () => own.hasEnded);
    if (own.hasEnded) return;
    // The report is there: another file ends only the estimate.
    own.running = null;
    byId('files').querySelector('h2')?.focus();
    if (estimating) await showEstimate(results, estimating, view, opened, own);
  } catch (error) {
    view.fail(withFieldNames((error as Error).message));
  } finally {
    own.running = null;
    estimating?.end('the tests failed');
    view.end();
    start.disabled = false;
  }
}

function estimate(request: EntropyRequest, view: ProgressView, own: Session): Task<EntropyResult> {
  return own.start<EntropyResult, EntropyProgress>(
    'entropy',
    request,
    ({ finished, total, estimator }) =>
      view.sayOnEntropy(
        `SP 800-90B: estimator ${finished + 1} of ${total}, ${estimator.replaceAll('_', ' ')}`,
      ),
  );
}

/** Shows the estimates, or the reason why there are none. */
async function showEstimate(
  results: HTMLElement,
  estimating: Task<EntropyResult>,
  view: ProgressView,
  { file }: Opened,
  own: Session,
): Promise<void> {
  const outcome = await estimating.result.catch((error: Error) => error.message);
  if (own.hasEnded) return;
  view.sayOnEntropy(typeof outcome === 'string' ? '' : 'SP 800-90B: finished');
  results.append(entropySection(outcome, file.name));
}

function listen(): void {
  const input = byId<HTMLInputElement>('file');
  input.onchange = () => {
    void take([...(input.files ?? [])]);
    // The same file can be chosen again, and a file that was not opened is not shown as if it were.
    input.value = '';
  };
  const drop = document.querySelector('.drop');
  addEventListener('dragover', (event) => {
    event.preventDefault();
    drop?.classList.add('over');
  });
  addEventListener('dragleave', () => drop?.classList.remove('over'));
  addEventListener('drop', (event) => {
    event.preventDefault();
    drop?.classList.remove('over');
    void take([...(event.dataTransfer?.files ?? [])]);
  });
}

const forms = FORMS.filter(({ name }) => name !== 'gzip').map(({ label }) => label);
byId('forms').textContent = `Reads ${forms.join('; ')}. Each also in gzip`;
showExamples((file) => take([file]));
listen();
