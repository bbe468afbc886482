/** All that the package exports, in browsers. */
export * from './index.ts';
