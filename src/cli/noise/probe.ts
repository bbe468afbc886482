/** Tries the entropy sources, for `phm sources` and `phm doctor`. */
import { NoiseTests, START_UP_SAMPLES } from '#sp800-90b';
import { wipe } from '../../bytes.ts';
import { type Config, missingSettings } from '../../config/index.ts';
import { collectSamples, isRemote, openRawReader, type SourceName } from '../../entropy/index.ts';

/** Runs the startup tests of a local source. Remote sources may cost money and are not contacted. */
export async function probeSource(
  name: SourceName,
  config: Config,
  signal: AbortSignal,
): Promise<string> {
  if (missingSettings(name, config.sourceSettings)) return 'not set up';
  if (isRemote(name)) return 'set up, not contacted';
  const reader = await openRawReader(name, config.sourceSettings);
  try {
    const samples = await collectSamples(reader, START_UP_SAMPLES, signal);
    const verdict = new NoiseTests(reader).check(samples);
    wipe(samples);
    return verdict.level === 'passed' ? 'ok' : `failed: the ${verdict.test} test`;
  } catch (error) {
    signal.throwIfAborted();
    return `failed: ${(error as Error).message}`;
  } finally {
    await reader.close();
  }
}
