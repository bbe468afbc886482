/** SHA-256 of the modules built from kernels/, written by `npm run digests`. */
export const KERNEL_DIGESTS = {
  'relaxed-simd': 'f9f631555451e99584394c806485f2303e702e5aa72d3afd35a4606c35a29cf6',
  simd: '6306b20d503369ad668da898700079dc59edcabf6edb3e6ea0fa6ad40ccae31c',
} as const;
