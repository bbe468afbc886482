/** All that the package exports, in browsers. */
export * from './assess/index.ts';
export * from './index.ts';
