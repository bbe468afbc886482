/** The laboratory on Node's platform. */
import './node.ts';

export * from './index.ts';
