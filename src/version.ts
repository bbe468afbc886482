/** The project's version, from its package file. */
import packageFile from '../package.json' with { type: 'json' };

export const PROJECT_VERSION: string = packageFile.version;
