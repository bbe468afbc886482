/** `--import` of a program: its `phm-client` is the sources in sdk/, whatever is built of them or not. */
import { registerHooks } from 'node:module';

const CLIENT = new URL('../../sdk/src/index.ts', import.meta.url).href;

registerHooks({
  resolve: (specifier, context, next) =>
    next(specifier === 'phm-client' ? CLIENT : specifier, context),
});
