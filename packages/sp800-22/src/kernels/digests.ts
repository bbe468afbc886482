/** SHA-256 of the modules built from kernels/, written by `npm run digests`. */
export const KERNEL_DIGESTS = {
  'relaxed-simd': '03692df1dadbbe2bee8b6dd7d67562d0642564147dc5ec5b5e9ef2f7a7bda744',
  simd: '7dcbc9ac8236c0d471f676b12018ea1c30dcd27b1071ecf83f7420ab9facbd3e',
} as const;
