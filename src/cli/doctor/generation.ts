/** Checks what generates keys: the entropy sources and the kernels. */
import { isRemote, isSourceName } from '../../entropy/index.ts';
import { runSelfTests, sealSelfTest, suiteSelfTest } from '../../keys/index.ts';
import { probeSource } from '../noise/probe.ts';
import { type Finding, failed, ok, skipped, warning } from './finding.ts';
import type { Site } from './site.ts';

/** Runs the startup tests of the local sources in use. Remote sources may cost money and are not contacted. */
export async function checkSources({ config }: Site, signal: AbortSignal): Promise<Finding[]> {
  const names = ['os', ...config.entropySources, ...config.entropyMix].filter(isSourceName);
  const found: Finding[] = [];
  const working: string[] = [];
  for (const name of new Set(names)) {
    const status = isRemote(name) ? 'remote' : await probeSource(name, config, signal);
    if (status === 'ok') working.push(name);
    else if (status === 'remote') found.push(skipped(`${name} is remote and was not contacted`));
    else if (name === 'os' || name === config.entropySource) {
      found.push(failed(`${name} ${status}`, 'repair the source: no server is ready without it'));
    } else {
      found.push(warning(`${name} ${status}`, 'repair the source, or take it off the list'));
    }
  }
  return working.length > 0 ? [ok(working.join(', ')), ...found] : found;
}

/**
 * Loading compares the kernels with the digests of this release, and the tests compare them with known answers. A key is sealed
 * and opened, too.
 */
export async function checkKernels(): Promise<Finding[]> {
  const sealing = (await sealSelfTest()).filter(({ skipped }) => !skipped);
  const results = [...runSelfTests(), suiteSelfTest(1), ...sealing];
  const wrong = results.filter(({ passed }) => !passed).map(({ name }) => name);
  if (wrong.length === 0) return [ok(`${results.length} self-tests passed`)];
  return [
    failed(
      `self-tests failed: ${wrong.join(', ')}`,
      'install the service again; if that does not help, test the memory of this machine',
    ),
  ];
}
