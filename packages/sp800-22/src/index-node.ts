/** The suite on Node's platform, where kernels load at first use. */
import './node.ts';

export * from './index.ts';
