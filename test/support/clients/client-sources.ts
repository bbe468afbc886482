/** Loaded into a program by `--import`: makes its `phm-client` the sources in sdk/, built or not. */
import { registerHooks } from 'node:module';

const CLIENT = new URL('../../../sdk/src/index.ts', import.meta.url).href;

registerHooks({
  resolve: (specifier, context, next) =>
    next(specifier === 'phm-client' ? CLIENT : specifier, context),
});
