/** How a key is made, for who has not made one yet. */
export function Explanation() {
  return (
    <section class="panel plain" aria-labelledby="how-title">
      <h2 id="how-title">What happens</h2>
      <ol class="steps">
        <li>
          48 bytes are drawn from the operating system for this key, and from the source you name.
        </li>
        <li>They reseed a CTR_DRBG (AES-256, SP 800-90A), whose output is modulated.</li>
        <li>With validation, the 15 tests of SP 800-22 run on 2²⁰ bits of the very stream.</li>
        <li>The key is cut from the bits that follow. A record without the key becomes durable.</li>
        <li>Then the key is shown here, once. Each key is one request of the month’s quota.</li>
      </ol>
    </section>
  );
}
