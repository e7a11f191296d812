import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { createNetworkMatcher, resolveClientAddress, toPeer } from '#base/http/client-address.ts';
import { urlBelow } from '#base/http/url-path.ts';
import type { Configuration } from '#contract/configuration/configuration.ts';
import type { ConfigSnapshot } from '#domain/deployments/config-snapshot.ts';
import { setFields } from '../http/replies/header-fields.ts';
import { callerKey, isPassedDown, isWithheld, ownUpstreamFields, toGatewayVary } from './forwarded-fields.ts';
import { ownAnswer, sendOwn } from './own-answer.ts';
import { type AddinRules, corsFields, judge, toRules, type Verdict } from './rules.ts';

/** The gateway as it is mounted in the service at this moment. */
interface Mounted {
  /** Path before `/msgapi/v1/…`, such as `/addin`. */
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
 * The gateway for browser add-ins within the service: what comes below its prefix is rewritten before it is routed, and the response is
 * rewritten as its head is written, so that all rules of the gateway (docs/wire.md, Add-in) hold without a second connection.
 */
export class AddinMount {
  readonly #mounted: () => Mounted | undefined;
  readonly #entries = new WeakMap<IncomingMessage, Entry>();

  /** `mounted` gives undefined while it is switched off. */
  constructor(mounted: () => Mounted | undefined) {
    this.#mounted = mounted;
  }

  /** Whether a request is for the gateway. */
  readonly accepts = ({ url = '' }: IncomingMessage): boolean => this.#mountedAt(url) !== undefined;

  /** For `rewriteUrl` of a Fastify application. */
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

  /** Answers what is not for the service, and puts the responses to the rest under the rules. To be called before any other hook. */
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

  /** The gateway for a URL, with the URL as it stands below the prefix. */
  #mountedAt(url: string): (Mounted & { readonly target: string }) | undefined {
    const mounted = this.#mounted();
    const target = mounted && urlBelow(mounted.prefix, url);
    return mounted === undefined || target === undefined ? undefined : { ...mounted, target };
  }
}

/** Gives a request the fields that the gateway would send up, and leaves none as it came. */
function rewriteFields(request: IncomingMessage, isTrustedProxy: (address: string) => boolean): void {
  const { headers, socket } = request;
  const ownFields = ownUpstreamFields(callerKey(headers), resolveClientAddress(toPeer(socket), headers, isTrustedProxy));
  for (const name in headers) if (isWithheld(name)) delete headers[name];
  for (let at = 0; at + 1 < ownFields.length; at += 2) headers[(ownFields[at] ?? '').toLowerCase()] = ownFields[at + 1] ?? '';
  request.rawHeaders = Object.entries(headers).flatMap(([name, value]) => [name, String(value)]);
}

/** Puts the fields of a response under the rules, whoever writes its head, and however. */
function rewriteHead(response: ServerResponse, cors: readonly string[]): void {
  const writeHead = response.writeHead;
  response.writeHead = (status: number, ...rest: unknown[]): ServerResponse => {
    setFields(response, rest.at(-1));
    const vary = response.getHeader('vary');
    for (const name of response.getHeaderNames()) if (!isPassedDown(name)) response.removeHeader(name);
    for (let at = 0; at + 1 < cors.length; at += 2) response.setHeader(cors[at] ?? '', cors[at + 1] ?? '');
    response.setHeader('Vary', toGatewayVary(vary?.toString()));
    return writeHead.call(response, status);
  };
}

/** The add-in gateway as the configuration in force has it, made anew when that changes; undefined while it is switched off. */
export function mountedAddin(snapshot: () => ConfigSnapshot): () => Mounted | undefined {
  let lastConfiguration: Configuration | undefined;
  let mounted: Mounted | undefined;
  return () => {
    const { configuration } = snapshot();
    if (configuration !== lastConfiguration) {
      lastConfiguration = configuration;
      mounted = configuration.addin.enabled ? toMounted(configuration) : undefined;
    }
    return mounted;
  };
}

function toMounted({ addin, security }: Configuration): Mounted {
  return {
    prefix: addin.prefix,
    rules: toRules(addin.models, addin.allowedOrigins),
    isTrustedProxy: createNetworkMatcher(security.trustedProxies),
  };
}
