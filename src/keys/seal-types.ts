/** Types of sealed keys until `#sealing` has them. */
export type SealSuiteName = 'MLKEM768-X25519' | 'ML-KEM-1024';

export interface SealedKey {
  readonly suite: SealSuiteName;
  readonly kem_id: number;
  readonly kdf_id: number;
  readonly aead_id: number;
  readonly enc: string;
  readonly ciphertext: string;
  readonly header: string;
}
