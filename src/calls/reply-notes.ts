import type { ReplyHeaders } from '#base/http/client.ts';

/** What Parley says itself, what proxies ahead of Parley would act upon, and what the other side is told of its own callers. */
const withheld =
  /^x-(?:request-id$|parley-|ratelimit-|upstream-|dial-application-|forwarded-|accel-|sendfile|lighttpd-|real-ip$|reproxy-)/;
/** As many as anybody reads. */
const mostIgnored = 1000;

/** What callers are told of how an answer was made: how many upstreams were asked, what a program declares, and what of the request did not reach a model. */
export class ReplyNotes {
  /** Fields of the caller's request that did not reach a model. */
  readonly ignored = new Set<string>();
  readonly #asked: object;
  #attempts = 0;
  #declared: Readonly<Record<string, string>> = {};

  /** `asked` is the request as the caller sent it: defaults of the deployment are not reported. */
  constructor(asked: object) {
    this.#asked = asked;
  }

  /** Another upstream is asked: what the one before declared, or was not sent, is forgotten. */
  tried(): void {
    this.#attempts += 1;
    this.#declared = {};
    if (this.ignored.size > 0) this.ignored.clear();
  }

  /** Keeps what a program declares by `X-`. */
  declare(headers: ReplyHeaders): void {
    const declared = Object.entries(headers).filter(([name]) => name.startsWith('x-') && !withheld.test(name));
    this.#declared = Object.fromEntries(declared);
  }

  /** Notes fields such as `seed`, or fields inside them, such as `messages.reasoning_content`. */
  ignore(fields: readonly string[]): void {
    for (const field of fields) {
      const [root = field] = field.split('.', 1);
      if (this.ignored.size < mostIgnored && Object.hasOwn(this.#asked, root)) this.ignored.add(field);
    }
  }

  /** Header fields of the answer; names in lower case. */
  get headers(): Readonly<Record<string, string>> {
    return this.#attempts === 0 ? {} : { ...this.#declared, 'x-upstream-attempts': String(this.#attempts) };
  }
}
