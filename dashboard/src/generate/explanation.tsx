/** Explains how the service generates a key, until the reader has generated one. */
export function Explanation() {
  return (
    <section class="panel plain" aria-labelledby="how-title">
      <h2 id="how-title">How it works</h2>
      <ol class="steps">
        <li>
          For each reseed (two for a 384-bit key), the service reads 48 bytes from the operating
          system’s generator, and adds a further source if you name one or the server is set to use
          one.
        </li>
        <li>These bytes reseed a CTR_DRBG (AES-256, SP 800-90A).</li>
        <li>
          If you ask for validation, the 15 tests of SP 800-22 judge 2²⁰ bits of its output before
          modulation.
        </li>
        <li>
          The service modulates the output, cuts the key from the bits that follow, and commits a
          record without the key.
        </li>
        <li>
          This page shows the key once. Each key counts as one request against the monthly quota.
        </li>
      </ol>
    </section>
  );
}
