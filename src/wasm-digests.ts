/** SHA-256 of what kernels/ is built to, written by `npm run digests`. */
export const KERNEL_DIGESTS = {
  modulation: 'e6d18a2ce32a12b7f680be460e6b538ed256873446e6699c870c776f8a524904',
  'relaxed-simd': 'c70ca26dfc355e5ba09b1dd30ad9295b9fd503b4a746249b8bf5c1388c7ee30c',
  simd: '8526bc12a6ad34c3b52c053134bca854d82040028942c89fe1646e116a1310a3',
} as const;

export type KernelName = keyof typeof KERNEL_DIGESTS;
