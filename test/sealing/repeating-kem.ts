/** A KEM without randomness, for tests. */
import type { KEMFactory } from 'hpke';

/** Returns a KEM that gives its first encapsulation again and again, as two copies of a virtual machine would. */
export function repeating(factory: KEMFactory): KEMFactory {
  return () => {
    const kem = factory();
    let first: ReturnType<typeof kem.Encap> | undefined;
    return new Proxy(kem, {
      get: (target, name) => {
        const member = Reflect.get(target, name);
        if (typeof member !== 'function') return member;
        if (name !== 'Encap') return member.bind(target);
        return (publicKey: Parameters<typeof kem.Encap>[0]) => {
          first ??= kem.Encap(publicKey);
          return first.then(({ shared_secret, enc }) => ({
            shared_secret: shared_secret.slice(),
            enc,
          }));
        };
      },
    });
  };
}
