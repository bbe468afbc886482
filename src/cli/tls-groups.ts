/** Key exchange that commands offer to a server. */
import tls from 'node:tls';
import { everyGroup } from '../config/tls-profiles.ts';

/** From now on, connections of this process offer the groups of every profile of the service, so that they fit each. */
export function offerEveryGroup(): void {
  tls.DEFAULT_ECDH_CURVE = everyGroup();
}
