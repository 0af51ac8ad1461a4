import { type Command, Redis, type RedisOptions } from 'ioredis';

/**
 * Gives a command up when its answer has not come in time. ioredis' own `commandTimeout` also gives up answers that lie in
 * the socket already, when the process stood still for longer than that: timers come before sockets are read. Here they
 * are read once more first.
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
