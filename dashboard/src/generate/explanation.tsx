/** How the service makes a key, for a reader who has not made one yet. */
export function Explanation() {
  return (
    <section class="panel plain" aria-labelledby="how-title">
      <h2 id="how-title">What happens</h2>
      <ol class="steps">
        <li>
          For this key the service reads 48 bytes of the operating system’s generator, and adds the
          source that you choose.
        </li>
        <li>They reseed a CTR_DRBG (AES-256, SP 800-90A).</li>
        <li>
          If you ask for validation, the 15 tests of SP 800-22 judge 2²⁰ bits of its output before
          modulation.
        </li>
        <li>
          The service modulates the output, cuts the key from the bits that follow, and commits a
          record that does not contain the key.
        </li>
        <li>This page shows the key once. Each key counts as one request of the month’s quota.</li>
      </ol>
    </section>
  );
}
