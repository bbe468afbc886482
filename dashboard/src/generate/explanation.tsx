/** How the service makes a key, for a reader who has not made one yet. */
export function Explanation() {
  return (
    <section class="panel plain" aria-labelledby="how-title">
      <h2 id="how-title">What happens</h2>
      <ol class="steps">
        <li>
          The service draws 48 bytes from the operating system for this key, and adds the source
          that you choose.
        </li>
        <li>They reseed a CTR_DRBG (AES-256, SP 800-90A). Its output is modulated.</li>
        <li>
          If you ask for validation, the 15 tests of SP 800-22 run on 2²⁰ bits of this stream.
        </li>
        <li>
          The service cuts the key from the bits that follow, and commits a record that does not
          contain the key.
        </li>
        <li>This page shows the key once. Each key counts as one request of the month’s quota.</li>
      </ol>
    </section>
  );
}
