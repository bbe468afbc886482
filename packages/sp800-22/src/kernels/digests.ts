/** SHA-256 of the modules built from kernels/, written by `npm run digests`. */
export const KERNEL_DIGESTS = {
  'relaxed-simd': '194a8b7cde4444b7e7b49aa13e2b970c2eb323be531c2251fcdd3a64af67c8ef',
  simd: 'f446b77321efcf23b29ae864047e04e66d5dba0fc8a7871d5f92052566d9e828',
} as const;
