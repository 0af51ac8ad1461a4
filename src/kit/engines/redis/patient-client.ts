import { Cluster, type ClusterNode, type ClusterOptions, type Command, Redis, type RedisOptions } from 'ioredis';
import { ignoreFailure } from '../../values/errors.ts';
import { limit } from '../../values/within.ts';

const SLOTS = 16_384;

/**
 * Rejects a command when its response is late. The `commandTimeout` of ioredis also rejects responses that are already
 * in the socket after the process was blocked.
 */
function boundCommand(command: Command, timeoutMs: number): void {
  const end = limit(timeoutMs, () => command.reject(new Error('Command timed out')));
  command.promise.then(end, end);
}

export class PatientClient extends Redis {
  readonly #timeoutMs: number;

  constructor(url: string | undefined, timeoutMs: number, options: Omit<RedisOptions, 'replyMapping'>) {
    if (url === undefined) super(options);
    else super(url, options);
    this.#timeoutMs = timeoutMs;
  }

  override sendCommand(command: Command, stream?: Parameters<Redis['sendCommand']>[1]): unknown {
    const answer = super.sendCommand(command, stream);
    boundCommand(command, this.#timeoutMs);
    return answer;
  }
}

type ClusterOfServers = Omit<ClusterOptions, 'replyMapping' | 'redisOptions'> & {
  redisOptions: Omit<NonNullable<ClusterOptions['redisOptions']>, 'replyMapping'>;
};

export class PatientCluster extends Cluster {
  readonly #timeoutMs: number;

  constructor(nodes: ClusterNode[], timeoutMs: number, options: ClusterOfServers) {
    super(nodes, options);
    this.#timeoutMs = timeoutMs;
    // Otherwise the first command would connect, and those that come in the meantime would fail.
    this.on('+node', (node: Redis) => node.connect().catch(ignoreFailure('commands to it fail until it is up')));
  }

  override sendCommand(command: Command, stream?: Parameters<Cluster['sendCommand']>[1], node?: unknown): unknown {
    const answer = super.sendCommand(command, stream, node);
    boundCommand(command, this.#timeoutMs);
    return answer;
  }

  /** Throws unless every slot is served by a primary that answers. */
  async pingPrimaries(): Promise<void> {
    const primaries = new Set(Array.from({ length: SLOTS }, (_, slot) => this.slots[slot]?.[0]));
    const nodesByAddress = new Map(
      this.nodes('master').map((node) => [`${node.options.host}:${node.options.port}`, node]),
    );
    await Promise.all(
      [...primaries].map(async (name) => {
        const node = name === undefined ? undefined : nodesByAddress.get(name);
        if (!node) throw new Error(name === undefined ? 'Some slots have no primary.' : `${name} is down.`);
        await node.ping();
      }),
    );
  }
}
