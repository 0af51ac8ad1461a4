import { type Command, Redis, type RedisOptions } from 'ioredis';

/**
 * Rejects a command when its response is late. The `commandTimeout` of ioredis also rejects responses that are already
 * in the socket after the process was blocked, because timers run before sockets are read. Here the sockets are read
 * once more first.
 */
function boundCommand(command: Command, timeoutMs: number): void {
  let immediate: NodeJS.Immediate | undefined;
  const timer = setTimeout(() => {
    immediate = setImmediate(() => command.reject(new Error('Command timed out')));
  }, timeoutMs);
  const end = () => {
    clearTimeout(timer);
    if (immediate) clearImmediate(immediate);
  };
  command.promise.then(end, end);
}

export class PatientClient extends Redis {
  readonly #timeoutMs: number;

  constructor(url: string, timeoutMs: number, options: Omit<RedisOptions, 'replyMapping'>) {
    super(url, options);
    this.#timeoutMs = timeoutMs;
  }

  override sendCommand(command: Command, stream?: Parameters<Redis['sendCommand']>[1]): unknown {
    const answer = super.sendCommand(command, stream);
    boundCommand(command, this.#timeoutMs);
    return answer;
  }
}
