import type { LookupAddress } from 'node:dns';
import https from 'node:https';
import { LRUCache } from 'lru-cache';

const IDLE_MS = 10_000;
const SOCKETS_OF_ONE = 8;
const MAX_AGENTS = 500;

export interface KeptConnections {
  /** An agent for `callOutside`. Its connections are used only for this owner and only for the addresses just checked. */
  agentFor(owner: string): (addresses: readonly LookupAddress[]) => https.Agent;
  close(): void;
}

/** Keeps connections to receivers open for some seconds. */
export function openKeptConnections(): KeptConnections {
  const agents = new LRUCache<string, https.Agent>({ max: MAX_AGENTS, dispose: (agent) => agent.destroy() });
  return {
    agentFor: (owner) => (addresses) => {
      const key = [owner, ...addresses.map(({ address }) => address).sort()].join(' ');
      const agent =
        agents.get(key) ?? new https.Agent({ keepAlive: true, maxSockets: SOCKETS_OF_ONE, timeout: IDLE_MS });
      agents.set(key, agent);
      return agent;
    },
    close: () => agents.clear(),
  };
}
