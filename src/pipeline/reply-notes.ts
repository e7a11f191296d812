import type { ReplyHeaders } from '#base/http/client.ts';
import { isInFamily } from '#base/http/header-fields.ts';

/**
 * Names with `X-` that programs may not set: Parley's own fields, and fields that browsers, proxies, and servers act on. A program of the configuration
 * may set all other names that begin with `X-`, and nothing else. Programs that users saved may set none.
 */
const reserved: ReadonlySet<string> = new Set([
  'x-content-type-options',
  'x-dns-prefetch-control',
  'x-download-options',
  'x-frame-options',
  'x-http-method',
  'x-method-override',
  'x-pingback',
  'x-powered-by',
  'x-real-ip',
  'x-request-id',
  'x-robots-tag',
  'x-sourcemap',
  'x-ua-compatible',
  'x-xss-protection',
]);

/** Families of such names (`isInFamily`). */
const reservedFamilies: ReadonlySet<string> = new Set([
  // Parley and the family.
  'x-parley-',
  'x-ratelimit-',
  'x-upstream-',
  'x-dial-application-',
  // Browsers.
  'x-content-security-policy-',
  'x-permitted-cross-domain-policies-',
  'x-webkit-csp-',
  // Servers and proxies: nginx, Apache, lighttpd, LiteSpeed, IIS, Perlbal, Envoy, Next.js, clouds.
  'x-accel-',
  'x-sendfile-',
  'x-lighttpd-',
  'x-litespeed-',
  'x-lscache-',
  'x-reproxy-',
  'x-forwarded-',
  'x-original-',
  'x-rewrite-',
  'x-http-method-override-',
  'x-cache-',
  'x-envoy-',
  'x-middleware-',
  'x-nextjs-',
  'x-vercel-',
  'x-amz-',
  'x-amzn-',
  'x-goog-',
  'x-azure-',
  'x-ms-',
]);

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

  /** Keeps the fields with `X-` that a program of the configuration may set. */
  declare(headers: ReplyHeaders): void {
    const declared = Object.entries(headers).filter(([name]) => mayDeclare(name));
    this.#declared = Object.fromEntries(declared);
  }

  /** Notes fields such as `seed`, or fields inside them, such as `messages.reasoning_content`. */
  ignore(fields: readonly string[]): void {
    for (const field of fields) {
      const [root = field] = field.split('.', 1);
      if (this.ignored.size < mostIgnored && Object.hasOwn(this.#asked, root)) this.ignored.add(field);
    }
  }

  /** Notes fields that the client sent in its own dialect. */
  ignoreNative(fields: readonly string[]): void {
    for (const field of fields) this.ignored.add(field);
  }

  /** Header fields of the answer; names in lower case. */
  get headers(): Readonly<Record<string, string>> {
    return this.#attempts === 0 ? {} : { ...this.#declared, 'x-upstream-attempts': String(this.#attempts) };
  }
}

function mayDeclare(name: string): boolean {
  return name.startsWith('x-') && !reserved.has(name) && !isInFamily(name, reservedFamilies);
}
