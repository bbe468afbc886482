/** The main thread's end of the log. */
import type { Worker } from 'node:worker_threads';
import type { KeyServiceOptions } from '../options.ts';
import { ServiceLog } from './service-log.ts';
import type { LogSetup } from './setup.ts';

export function openServiceLog(
  worker: Worker,
  setup: LogSetup,
  options: Pick<KeyServiceOptions, 'observer' | 'onLogNotice'>,
): ServiceLog {
  const { observer, onLogNotice = () => {} } = options;
  const { policy, binding, witnessNames, halt } = setup;
  return new ServiceLog(worker, {
    origin: binding.origin,
    policy,
    witnesses: witnessNames,
    halt,
    observer,
    onNotice: onLogNotice,
  });
}
