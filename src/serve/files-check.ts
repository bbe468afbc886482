/** Compares the program's own files with the release before anything else starts. */
import type { Logger } from 'pino';
import type { Config } from '../config/index.ts';
import { SetupError } from '../errors.ts';
import { checkIntegrity, describeChanges } from '../process/integrity.ts';

/** Throws `SetupError` if a file differs, unless the operator has decided to start with it. */
export function requireFiles(integrity: Config['integrity'], logger: Logger): void {
  const found = checkIntegrity();
  if (found.kind === 'unchecked') return;
  if (found.kind === 'intact') {
    logger.info({ files: found.files }, 'the files are those of the release');
    return;
  }
  const changes = describeChanges(found).join('; ');
  if (integrity === 'refuse') {
    throw new SetupError(`files differ from the release: ${changes}. Install the release again`, {
      otherwise: 'PHM_INTEGRITY=report starts a server with them',
    });
  }
  logger.error({ changes }, 'files differ from the release');
}
