/** SHA-256 of the module built from kernel/, written by `npm run digests`. */
export const KERNEL_DIGEST = 'e6d18a2ce32a12b7f680be460e6b538ed256873446e6699c870c776f8a524904';
