/** Compares the program's own files with the release before the ledger or a port is opened. */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Logger } from 'pino';
import type { Config } from '../config/index.ts';
import { SetupError } from '../errors.ts';
import { checkIntegrity, describeChanges } from '../process/integrity.ts';

const CLONE = fileURLToPath(new URL('../../.git', import.meta.url));

/** Throws `SetupError` if a file differs, unless the operator has decided to start with it. */
export function requireFiles(
  integrity: Config['integrity'],
  logger: Pick<Logger, 'info' | 'warn' | 'error'>,
  found: ReturnType<typeof checkIntegrity> = checkIntegrity(),
): void {
  switch (found.kind) {
    case 'unchecked':
      // An upgrade by hand may have lost it.
      if (!existsSync(CLONE)) logger.warn('the files were not compared: there is no manifest');
      return;
    case 'intact':
      logger.info({ files: found.files }, 'the files are those of the release');
      return;
    case 'changed':
      refuse(describeChanges(found).join('; '), integrity, logger);
  }
}

function refuse(
  changes: string,
  integrity: Config['integrity'],
  logger: Pick<Logger, 'error'>,
): void {
  if (integrity === 'refuse') {
    throw new SetupError(`files differ from the release: ${changes}. Install the release again`, {
      otherwise: 'PHM_INTEGRITY=report starts a server with them',
    });
  }
  logger.error({ changes }, 'files differ from the release');
}
