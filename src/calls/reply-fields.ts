import type { ReplyHeaders } from '#base/http/client.ts';

/** What Parley says itself, what proxies ahead of Parley would act upon, and what the other side is told of its own callers. */
const kept =
  /^x-(?:request-id$|parley-|ratelimit-|upstream-|dial-application-|forwarded-|accel-|sendfile|lighttpd-|real-ip$|reproxy-)/;

/** Header fields of the answer that come of how it was made: how many upstreams were asked, and what a program declares. */
export class ReplyFields {
  #attempts = 0;
  #declared: Readonly<Record<string, string>> = {};

  /** Another upstream is asked: what the one before declared is forgotten. */
  tried(): void {
    this.#attempts += 1;
    this.#declared = {};
  }

  /** Keeps what a program declares by `X-`. */
  declare(headers: ReplyHeaders): void {
    const declared = Object.entries(headers).filter(([name]) => name.startsWith('x-') && !kept.test(name));
    this.#declared = Object.fromEntries(declared);
  }

  /** Names in lower case. */
  get all(): Readonly<Record<string, string>> {
    return this.#attempts === 0 ? {} : { ...this.#declared, 'x-upstream-attempts': String(this.#attempts) };
  }
}
