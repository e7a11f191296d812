import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { createNetworkMatcher, resolveClientAddress, toPeer } from '#base/http/client-address.ts';
import { stripUrlPrefix } from '#base/http/url-path.ts';
import type { Configuration } from '#contract/configuration/configuration.ts';
import type { ConfigSnapshot } from '#domain/deployments/config-snapshot.ts';
import { setFields } from '../http/replies/header-fields.ts';
import { findClientKey, getGatewayFields, isForwardedToClient, isWithheld, toGatewayVary } from './forwarded-fields.ts';
import { ownAnswer, sendOwn } from './own-answer.ts';
import { type AddinRules, corsFields, judge, toRules, type Verdict } from './rules.ts';

/** Settings of the mounted gateway. */
interface MountOptions {
  /** Path prefix before `/msgapi/v1/…`, such as `/addin`. */
  readonly prefix: string;
  readonly rules: AddinRules;
  readonly isTrustedProxy: (address: string) => boolean;
}

interface Entry {
  readonly verdict: Verdict;
  readonly rules: AddinRules;
  readonly cors: readonly string[];
}

/**
 * Gateway for browser add-ins inside the service. Rewrites requests below its prefix before routing, and rewrites the response
 * headers. This way, all gateway rules (docs/addin.md) apply without a second connection.
 */
export class AddinMount {
  readonly #mounted: () => MountOptions | undefined;
  readonly #entries = new WeakMap<IncomingMessage, Entry>();

  /** `mounted` returns undefined while the gateway is disabled. */
  constructor(mounted: () => MountOptions | undefined) {
    this.#mounted = mounted;
  }

  /** Returns whether a request is for the gateway. */
  readonly accepts = ({ url = '' }: IncomingMessage): boolean => this.#mountedAt(url) !== undefined;

  /** Value for `rewriteUrl` of a Fastify application. */
  readonly rewriteUrl = (request: IncomingMessage): string => {
    const { headers, method, url = '' } = request;
    const mounted = this.#mountedAt(url);
    if (mounted === undefined) return url;
    const { rules, isTrustedProxy, target } = mounted;
    const verdict = judge(method, target, headers.origin, rules);
    this.#entries.set(request, { verdict, rules, cors: corsFields(headers, rules) });
    if (verdict !== 'forward') return '/';
    rewriteFields(request, isTrustedProxy);
    return target;
  };

  /**
   * Answers requests that are not forwarded to the service, and rewrites the responses of forwarded requests. Must be called
   * before any other hook.
   */
  guard(app: FastifyInstance): void {
    app.addHook('onRequest', (request, reply, done) => {
      const entry = this.#entries.get(request.raw);
      if (entry === undefined) return done();
      const { cors, rules, verdict } = entry;
      if (verdict === 'forward') {
        rewriteHead(reply.raw, cors);
        return done();
      }
      reply.hijack();
      sendOwn(reply.raw, ownAnswer(verdict, rules), cors);
    });
  }

  /** Returns the gateway for a URL, together with the URL without the prefix. Undefined if the URL is not below the prefix. */
  #mountedAt(url: string): (MountOptions & { readonly target: string }) | undefined {
    const mounted = this.#mounted();
    const target = mounted && stripUrlPrefix(mounted.prefix, url);
    return mounted === undefined || target === undefined ? undefined : { ...mounted, target };
  }
}

/** Replaces the request headers by those that a standalone gateway would send. */
function rewriteFields(request: IncomingMessage, isTrustedProxy: (address: string) => boolean): void {
  const { headers, socket } = request;
  const ownFields = getGatewayFields(findClientKey(headers), resolveClientAddress(toPeer(socket), headers, isTrustedProxy));
  for (const name in headers) if (isWithheld(name)) delete headers[name];
  for (let index = 0; index + 1 < ownFields.length; index += 2)
    headers[(ownFields[index] ?? '').toLowerCase()] = ownFields[index + 1] ?? '';
  request.rawHeaders = Object.entries(headers).flatMap(([name, value]) => [name, String(value)]);
}

/** Rewrites the response headers when they are written, regardless of how they were set. */
function rewriteHead(response: ServerResponse, cors: readonly string[]): void {
  const writeHead = response.writeHead;
  response.writeHead = (status: number, ...args: unknown[]): ServerResponse => {
    setFields(response, args.at(-1));
    const vary = response.getHeader('vary');
    for (const name of response.getHeaderNames()) if (!isForwardedToClient(name)) response.removeHeader(name);
    for (let index = 0; index + 1 < cors.length; index += 2) response.setHeader(cors[index] ?? '', cors[index + 1] ?? '');
    response.setHeader('Vary', toGatewayVary(vary?.toString()));
    return writeHead.call(response, status);
  };
}

/**
 * Returns a function that returns the settings of the mounted gateway. Recomputes them when the configuration changes. Undefined
 * while the gateway is disabled.
 */
export function mountedAddin(snapshot: () => ConfigSnapshot): () => MountOptions | undefined {
  let lastConfiguration: Configuration | undefined;
  let mounted: MountOptions | undefined;
  return () => {
    const { configuration } = snapshot();
    if (configuration !== lastConfiguration) {
      lastConfiguration = configuration;
      mounted = configuration.addin.enabled ? toMounted(configuration) : undefined;
    }
    return mounted;
  };
}

function toMounted({ addin, security }: Configuration): MountOptions {
  return {
    prefix: addin.prefix,
    rules: toRules(addin.models, addin.allowedOrigins),
    isTrustedProxy: createNetworkMatcher(security.trustedProxies),
  };
}
