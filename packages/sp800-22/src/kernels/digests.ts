/** SHA-256 of the modules built from kernels/, written by `npm run digests`. */
export const KERNEL_DIGESTS = {
  'relaxed-simd': '133259325c7f0dacbeab9193cda56de14fb2d27245322fe355ce0b7f712ab854',
  simd: 'da69679f8dc1b44d2e18f354fcca997a2705795f635b32ac44ec0155edc20342',
} as const;
