/** SHA-256 of the modules built from kernels/, written by `npm run digests`. */
export const KERNEL_DIGESTS = {
  'relaxed-simd': 'a1ad4543140b9dadafdaf41ab587409d9f266c0a33e4832f0a1f7f16eaab9816',
  simd: 'c933c89ab563d5cfb8ca2a91da27c846e6b1b681f02724d5755c1b536394890f',
} as const;
