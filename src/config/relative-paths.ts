/** Which settings of a server depend on its working directory. */
import { isAbsolute } from 'node:path';
import { ENVIRONMENT } from './environment.ts';
import type { Row } from './setting.ts';

/** Returns the variables whose path, given or by default, starts at the working directory. */
export function relativePaths(env: Readonly<Record<string, string | undefined>>): string[] {
  const rows = Object.entries<Row>(ENVIRONMENT);
  return rows.flatMap(([name, { kind, default: byDefault }]) => {
    const path = env[name]?.trim() || byDefault;
    return kind === 'path' && path !== '' && !isAbsolute(path) ? [name] : [];
  });
}
