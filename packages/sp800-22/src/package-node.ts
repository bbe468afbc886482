/** All that the package exports, on Node's platform. */
import './node.ts';

export * from './package.ts';
