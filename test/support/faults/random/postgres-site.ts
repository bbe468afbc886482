/** Three servers on PostgreSQL with a synchronous standby. */
import type { Dice } from './dice.ts';
import { PostgresPair } from './postgres-pair.ts';
import { hold, Site, type SiteOptions } from './site.ts';

const SERVERS = 3;

/** Index of the network path for commands. The servers use the lower ones. */
const COMMAND_WAY = SERVERS;

export class PostgresSite extends Site {
  readonly pair: PostgresPair;

  private constructor(options: SiteOptions, pair: PostgresPair) {
    super(options);
    this.pair = pair;
  }

  static async start(checkout: string, folder: string, seed: number): Promise<PostgresSite> {
    const pair = await PostgresPair.start(SERVERS + 1);
    const env = (replica = COMMAND_WAY) => ({ PHM_DATABASE_URL: pair.url(replica) });
    const query = (sql: string) => pair.admin(sql);
    const options = { checkout, folder, seed, replicas: SERVERS, env, query };
    const site = new PostgresSite(options, pair);
    try {
      await site.phmJson(['migrate']);
      await site.open();
      return site;
    } catch (error) {
      await site.close();
      throw error;
    }
  }

  override async close(): Promise<void> {
    await super.close();
    await this.pair.remove();
  }

  /** Holds locks, or anything else that belongs to a transaction, for a random time. */
  async holdTransaction(sql: string, dice: Dice, leastMs: number, mostMs: number): Promise<string> {
    const client = await this.pair.connect();
    try {
      await client.query('SET lock_timeout = 20000');
      await client.query('BEGIN');
      await client.query(sql);
      const held = await hold(dice, leastMs, mostMs);
      await client.query('ROLLBACK');
      return held;
    } finally {
      await client.end();
    }
  }
}
