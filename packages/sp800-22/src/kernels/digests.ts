/** SHA-256 of the modules built from kernels/, written by `npm run digests`. */
export const KERNEL_DIGESTS = {
  'relaxed-simd': 'c70ca26dfc355e5ba09b1dd30ad9295b9fd503b4a746249b8bf5c1388c7ee30c',
  simd: '8526bc12a6ad34c3b52c053134bca854d82040028942c89fe1646e116a1310a3',
} as const;
