/** The page: a file is dropped, recognised, tested by workers and reported. */
import { grouped } from '../../../packages/sp800-22/src/grouped.ts';
import { HEAD_BYTES, isGzip, recognise } from './decode/recognise.ts';
import { PROGRAM, startTask, type Task } from './engine/client.ts';
import type {
  EntropyProgress,
  EntropyRequest,
  EntropyResult,
  RunProgress,
  RunRequest,
  RunResult,
} from './engine/messages.ts';
import { readHead } from './engine/source.ts';
import { byId, pairs } from './view/dom.ts';
import { entropySection } from './view/entropy.ts';
import { ProgressView } from './view/progress.ts';
import { showReport } from './view/report.ts';
import { type Opened, type Settings, showSettings } from './view/settings.ts';

/** What the page does with the present file, so that another file can end it. */
const tasks: Task<unknown>[] = [];

function endTasks(): void {
  for (const { worker } of tasks.splice(0)) worker.terminate();
}

async function open(file: File): Promise<void> {
  endTasks();
  byId('results').replaceChildren();
  byId('settings').hidden = true;
  byId('run').hidden = true;
  const hash = startTask<string>('hash', file);
  tasks.push(hash);
  try {
    const opened = await inspect(file);
    showFacts(opened, 'being computed …');
    const { gzip, recognised } = opened;
    const question = recognised.encoding === null ? ' Choose its format.' : '';
    const packed = gzip ? 'The file is gzip. What it holds: ' : '';
    byId('recognised').textContent = `${packed}${recognised.reason}${question}`;
    showSettings(opened, (settings) => void run(opened, settings, hash.result));
    showFacts(opened, await hash.result);
  } catch (error) {
    byId('recognised').textContent = `The file cannot be read: ${(error as Error).message}`;
  }
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
      ['Size', `${grouped(file.size)} bytes`],
      ['SHA-256', sha256],
    ]),
  );
  facts.hidden = false;
}

async function run(opened: Opened, settings: Settings, sha256: Promise<string>): Promise<void> {
  const { file } = opened;
  const start = byId<HTMLButtonElement>('start');
  const results = byId('results');
  start.disabled = true;
  results.replaceChildren();
  let cancel = (): void => {};
  const view = new ProgressView(settings.bits ?? 0, () => cancel());
  try {
    const { bitsPerSymbol, ...options } = settings;
    const request: RunRequest = { file, options, sha256: await sha256, program: PROGRAM };
    const suite = startTask<RunResult, RunProgress>('run', request, (state) => view.update(state));
    tasks.push(suite);
    cancel = () => suite.worker.postMessage('cancel');
    const entropy = bitsPerSymbol === null ? null : estimate(opened, settings, view);
    const result = await suite.result;
    view.end();
    view.hideRows();
    await showReport(results, result, file.name);
    byId('files').querySelector('h2')?.focus();
    if (entropy) results.append(await entropy);
  } catch (error) {
    view.fail((error as Error).message);
  } finally {
    start.disabled = false;
  }
}

/** Returns the section with the estimates, or with the reason why there are none. */
async function estimate(
  { file }: Opened,
  { recipe, bitsPerSymbol }: Settings,
  view: ProgressView,
): Promise<HTMLElement> {
  const request: EntropyRequest = { file, recipe, bitsPerSymbol: bitsPerSymbol ?? 8 };
  const task = startTask<EntropyResult, EntropyProgress>(
    'entropy',
    request,
    ({ finished, total, estimator }) =>
      view.updateEntropy(
        `SP 800-90B: estimator ${finished + 1} of ${total}, ${estimator.replaceAll('_', ' ')}`,
      ),
  );
  tasks.push(task);
  try {
    const result = await task.result;
    view.updateEntropy('SP 800-90B: finished');
    return entropySection(result, file.name);
  } catch (error) {
    view.updateEntropy('');
    return entropySection((error as Error).message, file.name);
  }
}

function listen(): void {
  const input = byId<HTMLInputElement>('file');
  input.onchange = () => {
    const [file] = input.files ?? [];
    if (file) void open(file);
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
    const [file] = event.dataTransfer?.files ?? [];
    if (file) void open(file);
  });
}

listen();
