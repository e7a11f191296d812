import { type Command, Redis, type RedisOptions } from 'ioredis';

const timedOut = 'Command timed out';

export interface TimedRedisOptions extends Omit<RedisOptions, 'commandTimeout' | 'replyMapping'> {
  /** How long an answer may take. */
  readonly answerTimeoutMs: number;
}

/**
 * A connection that gives an answer its time, and this process too: while the event loop is busy, answers lie in the socket,
 * and the time is over before they are read. So they are read once more before a command is given up.
 */
export class TimedRedis extends Redis {
  readonly #answerTimeoutMs: number;

  constructor({ answerTimeoutMs, ...options }: TimedRedisOptions) {
    super(options);
    this.#answerTimeoutMs = answerTimeoutMs;
  }

  override sendCommand(...sent: Parameters<Redis['sendCommand']>): unknown {
    const answer = super.sendCommand(...sent);
    this.#watch(sent[0]);
    return answer;
  }

  #watch(command: Command): void {
    if (command.isSettled) return;
    // What is set here runs after the sockets were read.
    const giveUp = (): void => void setImmediate(() => command.isSettled || command.reject(new Error(timedOut)));
    const timer = setTimeout(giveUp, this.#answerTimeoutMs);
    const stop = (): void => clearTimeout(timer);
    command.promise.then(stop, stop);
  }
}

/** Whether a command failed because its answer took too long. */
export function hasTimedOut({ message }: Error): boolean {
  return message === timedOut;
}
