/** Loaded into a server by `--import`: records every module that it resolves, one per line. */
import { appendFileSync } from 'node:fs';
import { registerHooks } from 'node:module';

const target = new URL(import.meta.url).searchParams.get('to');

registerHooks({
  resolve(specifier, context, next) {
    const resolved = next(specifier, context);
    if (target) appendFileSync(target, `${resolved.url}\n`);
    return resolved;
  },
});
