/** Node's warnings about parts of the Web Crypto API that it calls experimental. */

const ABOUT_WEB_CRYPTO = /\bWeb Crypto API (?:algorithm|method) is an experimental feature\b/;

/**
 * Drops these warnings in this thread, and no others. Node prints one for each algorithm and method that is used first,
 * such as ML-KEM. They say nothing to an operator: the vectors in test/vectors/sealing fail if Node changes the algorithms
 * (docs/dependencies.md).
 */
export function dropWebCryptoWarnings(): void {
  const emit = process.emitWarning;
  process.emitWarning = (...args: unknown[]): void => {
    const [warning, type] = args;
    if (type === 'ExperimentalWarning' && ABOUT_WEB_CRYPTO.test(String(warning))) return;
    Reflect.apply(emit, process, args);
  };
}
