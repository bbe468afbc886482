/** Two servers on one data directory, on a small disk if mounting works. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { querySqlite } from '../../ledgers/books.ts';
import { mountDisk, noMount } from '../disk.ts';
import { Site, type SiteOptions } from './site.ts';

const SERVERS = 2;
const DISK = '240m';

export class SqliteSite extends Site {
  readonly dataDir: string;
  readonly #unmount: () => void;

  private constructor(options: SiteOptions, dataDir: string, unmount: () => void) {
    super(options);
    this.dataDir = dataDir;
    this.#unmount = unmount;
  }

  static async start(checkout: string, folder: string, seed: number): Promise<SqliteSite> {
    const dataDir = join(folder, 'data');
    mkdirSync(dataDir, { recursive: true });
    const unmount = noMount ? () => {} : mountDisk(dataDir, DISK);
    const env = () => ({ PHM_DATA_DIR: dataDir });
    const query = querySqlite(dataDir);
    const options = { checkout, folder, seed, replicas: SERVERS, env, query };
    const site = new SqliteSite(options, dataDir, unmount);
    try {
      await site.open();
      return site;
    } catch (error) {
      await site.close();
      throw error;
    }
  }

  get database(): string {
    return join(this.dataDir, 'phm.db');
  }

  override async close(): Promise<void> {
    await super.close();
    this.#unmount();
  }
}
