/** A source by the name a user wrote. */
import { missingSettings } from '../../config/index.ts';
import {
  givesRawNoise,
  isSourceName,
  type NoiseReader,
  openRawReader,
  SOURCE_NAMES,
  type SourceName,
} from '../../entropy/index.ts';
import { CommandError } from '../command-error.ts';
import { type CliContext, requireConfig } from '../context.ts';

export interface OpenedSource {
  readonly name: SourceName;
  readonly reader: NoiseReader;
}

/**
 * Opens a source for its raw samples, with a warning when it has none. Rejects with
 * `CommandError` on a name that is not known and on a source that is not set up.
 */
export async function openByName(context: CliContext, name: string): Promise<OpenedSource> {
  if (!isSourceName(name)) {
    throw new CommandError(
      `there is no source "${name}": use one of ${SOURCE_NAMES.join(', ')}`,
      2,
    );
  }
  const { sourceSettings } = requireConfig(context);
  const missing = missingSettings(name, sourceSettings);
  if (missing) throw new CommandError(`the source "${name}" is not set up: set ${missing}`, 2);
  if (!givesRawNoise(name)) {
    context.err(
      `warning: "${name}" has no raw noise to show. This is the output of a generator, which looks ` +
        'perfect whatever is behind it.\n',
    );
  }
  return { name, reader: await openRawReader(name, sourceSettings) };
}
