/** `phm generate --count N --output-dir DIR`: the options of a run, its calls and its messages. */
import { CommandError, untilInterrupted } from '#platform/commands';
import type { CliContext } from '../../context.ts';
import { formatDuration } from '../../parse-duration.ts';
import type { Connection } from '../connection.ts';
import type { GenerateFlags } from '../generate-flags.ts';
import { DEFAULT_VARIABLE } from '../key-formats.ts';
import { labelsText } from '../labels.ts';
import type { SealTargets } from '../seal-to.ts';
import { callsOf } from './calls.ts';
import { KeyDirectory } from './directory.ts';
import { BatchProgress } from './progress.ts';
import { BatchRun, type BatchWork } from './run.ts';
import {
  type BatchOptions,
  type BatchState,
  difference,
  isBlank,
  newState,
  STATE_FILE,
} from './state.ts';

type BatchFlags = GenerateFlags & { readonly count: number; readonly outputDir: string };

export async function generateBatch(
  context: CliContext,
  connection: Connection,
  flags: BatchFlags,
  targets: SealTargets | null,
): Promise<void> {
  const directory = KeyDirectory.open(flags.outputDir, targets ? '.sealed' : '.key');
  try {
    const state = startingState(context, directory, connection, flags, targets);
    if (state.completedMs !== null) {
      directory.requireAll(flags.count);
      tellComplete(context, directory, state, flags);
      return;
    }
    const { expiresAt: _, ...others } = flags;
    // All keys of a run expire at once, however often it is continued.
    const fixed = state.expiresMs === null ? others : { ...others, expiresAt: state.expiresMs };
    await fill(context, connection, { directory, state, flags: fixed, targets });
  } finally {
    directory.close();
  }
}

/** Returns what makes two commands the same run. File names of recipients do not: their keys do. */
function optionsOf(
  { address }: Connection,
  flags: BatchFlags,
  targets: SealTargets | null,
): BatchOptions {
  const { count, level, validate, source, modulation, include, format, envName, json } = flags;
  const { label, expiresIn, expiresAt } = flags;
  return {
    '--url': address,
    '--count': count,
    '--level': level ?? 256,
    ...(modulation && { '--modulation': modulation }),
    ...(validate && { '--validate': true }),
    ...(source && { '--source': source }),
    ...(include && { '--include': [...new Set(include)].sort() }),
    ...(label && { '--label': labelsText(label) }),
    ...(expiresIn !== undefined
      ? { '--expires-in': formatDuration(expiresIn) }
      : expiresAt !== undefined && { '--expires-at': new Date(expiresAt).toISOString() }),
    ...recipientsOf(targets, flags),
    ...(targets === null && (json ? { '--json': true } : { '--format': format })),
    ...(format === 'env' && { '--env-name': envName ?? DEFAULT_VARIABLE }),
  };
}

function recipientsOf(targets: SealTargets | null, { recipient = [] }: BatchFlags): BatchOptions {
  const thumbprints = (targets ?? []).flatMap(({ thumbprint }) => thumbprint ?? []);
  return {
    ...(thumbprints.length > 0 && { '--seal-to': thumbprints.join(' ') }),
    ...(recipient.length > 0 && { '--recipient': recipient.join(' ') }),
  };
}

function startingState(
  { err }: CliContext,
  directory: KeyDirectory,
  connection: Connection,
  flags: BatchFlags,
  targets: SealTargets | null,
): BatchState {
  const { apiKeyFingerprint } = connection;
  const options = optionsOf(connection, flags, targets);
  const state = directory.readState();
  if (state === null) {
    directory.removeList();
    return newState(options, apiKeyFingerprint, flags.expiresAt ?? null);
  }
  const other = difference(state.options, options);
  if (other !== null) {
    throw new CommandError(
      `${directory.path} has keys of another command: ${other}. Repeat that command, or name another directory`,
      1,
    );
  }
  if (state.completedMs !== null && state.apiKey !== apiKeyFingerprint) {
    throw new CommandError(
      `the keys of ${directory.path} were got with another API key: use that one, or name another directory`,
      1,
    );
  }
  if (isOver(state)) {
    throw new CommandError(
      `the keys of ${directory.path} expire at ${new Date(state.expiresMs ?? 0).toISOString()}, which is past, and ` +
        `${state.made} of ${flags.count} were generated: name another directory for further keys`,
      1,
    );
  }
  if (state.call && state.call.keyIds === null && state.apiKey !== apiKeyFingerprint) {
    err(
      'note: the API key is not the one of the interrupted run. If it belongs to another account, ' +
        `up to ${state.call.count} keys of the last call may have been generated for the first one and lost.\n`,
    );
  }
  return { ...state, apiKey: apiKeyFingerprint };
}

/** Reports whether a run can get no more keys, because they would have expired. */
function isOver({ completedMs, call, expiresMs }: BatchState): boolean {
  return completedMs === null && call === null && expiresMs !== null && expiresMs <= Date.now();
}

interface Run {
  readonly directory: KeyDirectory;
  readonly state: BatchState;
  readonly flags: BatchFlags;
  readonly targets: SealTargets | null;
}

async function fill(
  context: CliContext,
  connection: Connection,
  { directory, state, flags, targets }: Run,
): Promise<void> {
  const { err, status } = context;
  const progress = new BatchProgress(status, flags.count, () => performance.now());
  const say = (text: string): void => {
    progress.clear();
    err(text);
  };
  if (state.made > 0 || state.call) err(`Continuing with ${state.made} of ${flags.count} keys.\n`);
  await untilInterrupted(async (signal) => {
    signal.addEventListener('abort', () =>
      say('Stopping after the call in progress. To stop at once, press Ctrl-C again.\n'),
    );
    const run = new BatchRun(directory, state, {
      count: flags.count,
      isReplayable: targets !== null,
      send: callsOf(connection, flags, targets),
      onProgress: (made) => progress.update(made),
      ...losses(say, directory),
      signal,
      now: () => Date.now(),
    });
    try {
      await run.finish();
    } catch (error) {
      progress.clear();
      const failure = error === signal.reason ? new CommandError(String(signal.reason), 1) : error;
      if (!isBlank(run.state)) throw withPlace(failure, run.state, directory, flags);
      // The user may correct the options.
      directory.removeState();
      throw failure;
    }
    progress.clear();
    tellDone(context, directory, run.state, flags);
  });
}

/** Adds to a failure how far the run got, and how to continue. */
function withPlace(
  error: unknown,
  { made, call }: BatchState,
  { path }: KeyDirectory,
  { count }: BatchFlags,
): unknown {
  if (!(error instanceof CommandError)) return error;
  const place = `${path} has ${made} of ${count} keys. To continue, run the same command again`;
  const how = call ? ': it finishes the last call first, so no key is generated unnoticed.' : '.';
  return new CommandError([...error.lines, `${place}${how}`], error.exitCode);
}

/** Most key IDs in a message. The state file has all. */
const MAX_NAMED = 10;

function losses(
  say: (text: string) => void,
  { statePath }: KeyDirectory,
): Pick<BatchWork, 'onLost' | 'onUnknown'> {
  return {
    onLost: (keyIds) => {
      const named = keyIds.slice(0, MAX_NAMED).join(' ');
      const rest = keyIds.length - MAX_NAMED;
      const more = rest > 0 ? ` and ${rest} more, which ${statePath} names` : '';
      const [are, others] =
        keyIds.length === 1
          ? ['key is lost, although it was', 'Another takes its place']
          : ['keys are lost, although they were', 'Others take their place'];
      say(`${keyIds.length} ${are} generated and counted: ${named}${more}. ${others}.\n`);
    },
    onUnknown: (count) =>
      say(
        `The answer to a call never came, and the service cannot tell any more whether there was one: up to ${count} keys may ` +
          'have been generated, counted and lost. Others take their place.\n',
      ),
  };
}

function tellDone(
  { err }: CliContext,
  { path }: KeyDirectory,
  { made, lostKeyIds, expiresMs }: BatchState,
  { level = 256 }: BatchFlags,
): void {
  const lost =
    lostKeyIds.length === 0 ? '' : `; ${STATE_FILE} there names ${lostKeyIds.length} lost keys`;
  err(`Wrote ${made} ${level}-bit ${made === 1 ? 'key' : 'keys'} to ${path}${lost}\n`);
  if (expiresMs !== null) err(`Expires: ${new Date(expiresMs).toISOString()}\n`);
}

function tellComplete(
  { err }: CliContext,
  { path, statePath }: KeyDirectory,
  { completedMs }: BatchState,
  { count }: BatchFlags,
): void {
  const at = new Date(completedMs ?? 0).toISOString();
  err(
    `${path} got all ${count} keys of this command by ${at}: nothing was generated. For more keys name another directory, or ` +
      `remove ${statePath}\n`,
  );
}
