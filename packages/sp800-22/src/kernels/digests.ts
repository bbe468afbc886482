/** SHA-256 of the modules built from kernels/, written by `npm run digests`. */
export const KERNEL_DIGESTS = {
  'relaxed-simd': '01e73c190e27b9bd6e310d5c4114d957574b34dc8f30d8007849983b98478191',
  simd: '551982bb00211128a2439c9f25183219537840729ae6b43570931965ae7d800f',
} as const;
