/** The former name of `compile-cache.mjs`, for commands that still use it. */
export { COMPILE_CACHE } from './compile-cache.mjs';
