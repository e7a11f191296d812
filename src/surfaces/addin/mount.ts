import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { createNetworkMatcher, resolveClientAddress, toPeer } from '#base/http/client-address.ts';
import { stripUrlPrefix } from '#base/http/url-path.ts';
import type { Configuration } from '#contract/configuration/configuration.ts';
import type { ConfigSnapshot } from '#domain/deployments/config-snapshot.ts';
import { rewriteHead, setFields } from '../http/replies/header-fields.ts';
import { findClientKey, getGatewayFields, isForwardedToClient, isWithheld, toGatewayVary } from './forwarded-fields.ts';
import { type AddinRules, findLocalReply, getCorsFields, type LocalReply, sendLocalReply, toRules } from './rules.ts';

/** Settings of the mounted gateway. */
interface MountOptions {
  /** Path prefix before `/msgapi/v1/…`, such as `/addin`. */
  readonly prefix: string;
  readonly rules: AddinRules;
  readonly isTrustedProxy: (address: string) => boolean;
}

interface MountedRequest {
  /** Undefined for a request that is forwarded to the service. */
  readonly localReply: LocalReply | undefined;
  readonly cors: readonly string[];
}

/**
 * Gateway for browser add-ins inside the service. Rewrites requests below its prefix before routing, and rewrites the response
 * headers. This way, all gateway rules (docs/addin.md) apply without a second connection.
 */
export class AddinMount {
  readonly #snapshot: () => ConfigSnapshot;
  readonly #requests = new WeakMap<IncomingMessage, MountedRequest>();
  #configuration: Configuration | undefined;
  #options: MountOptions | undefined;

  /** The gateway is disabled unless the configuration enables it. */
  constructor(snapshot: () => ConfigSnapshot) {
    this.#snapshot = snapshot;
  }

  /** Returns whether a request is for the gateway. */
  readonly accepts = ({ url = '' }: IncomingMessage): boolean => this.#findMount(url) !== undefined;

  /** Value for `rewriteUrl` of a Fastify application. */
  readonly rewriteUrl = (request: IncomingMessage): string => {
    const { headers, method, url = '' } = request;
    const mount = this.#findMount(url);
    if (mount === undefined) return url;
    const { rules, isTrustedProxy, target } = mount;
    const localReply = findLocalReply(method, target, headers.origin, rules);
    this.#requests.set(request, { localReply, cors: getCorsFields(headers, rules) });
    if (localReply !== undefined) return '/';
    rewriteRequestFields(request, isTrustedProxy);
    return target;
  };

  /**
   * Answers requests that are not forwarded to the service, and rewrites the responses of forwarded requests. Must be called
   * before other hooks are added.
   */
  addHooks(app: FastifyInstance): void {
    app.addHook('onRequest', (request, reply, done) => {
      const mounted = this.#requests.get(request.raw);
      if (mounted === undefined) return done();
      const { localReply, cors } = mounted;
      if (localReply === undefined) {
        rewriteResponseFields(reply.raw, cors);
        return done();
      }
      reply.hijack();
      sendLocalReply(reply.raw, localReply, cors);
    });
  }

  /** Returns the settings for a URL, together with the URL without the prefix. Undefined if the URL is not below the prefix. */
  #findMount(url: string): (MountOptions & { readonly target: string }) | undefined {
    const { configuration } = this.#snapshot();
    if (configuration !== this.#configuration) {
      this.#configuration = configuration;
      this.#options = configuration.addin.enabled ? toMountOptions(configuration) : undefined;
    }
    const target = this.#options && stripUrlPrefix(this.#options.prefix, url);
    return this.#options === undefined || target === undefined ? undefined : { ...this.#options, target };
  }
}

/** Replaces the request headers with those that a standalone gateway would send. */
function rewriteRequestFields(request: IncomingMessage, isTrustedProxy: (address: string) => boolean): void {
  const { headers, socket } = request;
  const ownFields = getGatewayFields(findClientKey(headers), resolveClientAddress(toPeer(socket), headers, isTrustedProxy));
  for (const name in headers) if (isWithheld(name)) delete headers[name];
  for (let index = 0; index + 1 < ownFields.length; index += 2)
    headers[(ownFields[index] ?? '').toLowerCase()] = ownFields[index + 1] ?? '';
  request.rawHeaders = Object.entries(headers).flatMap(([name, value]) => [name, String(value)]);
}

/** Replaces the CORS headers of the service with the headers of the gateway, and removes cookies. */
function rewriteResponseFields(response: ServerResponse, cors: readonly string[]): void {
  rewriteHead(response, () => {
    const vary = response.getHeader('vary');
    for (const name of response.getHeaderNames()) if (!isForwardedToClient(name)) response.removeHeader(name);
    setFields(response, cors);
    response.setHeader('Vary', toGatewayVary(vary?.toString()));
  });
}

function toMountOptions({ addin, security }: Configuration): MountOptions {
  return {
    prefix: addin.prefix,
    rules: toRules(addin.models, addin.allowedOrigins),
    isTrustedProxy: createNetworkMatcher(security.trustedProxies),
  };
}
