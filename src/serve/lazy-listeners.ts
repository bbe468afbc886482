/** Loads the HTTP layer and opens the listeners when the server needs them. */
import type { BuiltApp, Listeners } from './listeners.ts';
import type { ServerParts } from './parts.ts';
import type { Supervisor } from './supervisor.ts';

/** Opens the listeners once: when the key service has started, or when startup must wait. */
export class LazyListeners {
  readonly #parts: ServerParts;
  readonly #supervisor: Supervisor;
  #built: Promise<BuiltApp> | undefined;
  #listeners: Promise<Listeners> | undefined;

  constructor(parts: ServerParts, supervisor: Supervisor) {
    this.#parts = parts;
    this.#supervisor = supervisor;
  }

  /** Loads and builds the application, while the threads start. `open` reports a failure. */
  prepare(): void {
    this.#build().catch(() => {});
  }

  open(): Promise<Listeners> {
    this.#listeners ??= this.#open();
    return this.#listeners;
  }

  /** Closes open listeners after a failed start. */
  async close(): Promise<void> {
    const listeners = await this.#listeners?.catch(() => undefined);
    await Promise.all([listeners?.app.close(), listeners?.metricsServer?.close()]);
  }

  #build(): Promise<BuiltApp> {
    this.#built ??= import('./listeners.ts').then(({ buildListeners }) =>
      buildListeners(this.#parts),
    );
    return this.#built;
  }

  async #open(): Promise<Listeners> {
    const { starting } = this.#parts;
    const { openListeners } = await import('./listeners.ts');
    const listeners = await openListeners(await this.#build(), this.#parts);
    this.#supervisor.ready(`listening on ${listeners.address}`, () => starting.ping());
    return listeners;
  }
}
