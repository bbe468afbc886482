/** Opens a source by the name on the command line. */
import { CommandError } from '#platform/commands';
import { missingSettings } from '../../config/index.ts';
import {
  givesRawNoise,
  isSourceName,
  type NoiseReader,
  openRawReader,
  SOURCE_NAMES,
  type SourceName,
} from '../../entropy/index.ts';
import { type CliContext, requireConfig } from '../context.ts';

export interface OpenedSource {
  readonly name: SourceName;
  readonly reader: NoiseReader;
}

/**
 * Opens a source for its raw samples and warns if it has none. Rejects with `CommandError` if the name is
 * unknown or the source is not set up.
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
      `warning: "${name}" has no raw noise. These samples are the output of a generator, which looks ` +
        'perfect even if its seed is weak.\n',
    );
  }
  return { name, reader: await openRawReader(name, sourceSettings) };
}
