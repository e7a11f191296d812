import { getHopByHopFields, isInFamily } from '#base/http/header-fields.ts';
import type { CallOrigin } from '../calls/call.ts';
import type { Deployment } from '../deployments/deployment.ts';

/** Header fields of the client that reach applications with a user-provided address. Parley drops all other fields. */
const savedApplicationHeaders: ReadonlySet<string> = new Set(['accept-language', 'user-agent', 'x-conversation-id']);

/** The only query parameter that reaches these applications. */
const savedApplicationQuery = 'api-version';

/**
 * Header fields of the client that do not reach configured applications: credentials, message framing, and fields that Parley
 * sets. They also include fields with which proxies in front of Parley identify the user, or forward the user's address,
 * certificate, or token.
 */
export const withheldHeaders: ReadonlySet<string> = new Set([
  'host',
  'content-length',
  'content-type',
  'accept',
  'accept-encoding',
  'expect',
  'cookie',
  'authorization',
  'api-key',
  'x-api-key',
  'forwarded',
  'traceparent',
  'tracestate',
  'x-request-id',
  // DIAL applications identify their deployment by these.
  'x-dial-deployment-id',
  'x-dial-override-name',
  // Fields in which a browser describes the page that sent the request.
  'origin',
  'referer',
  'via',
  // Credentials of gateways, in addition to the credentials that Parley reads.
  'apikey',
  'authentication',
  'ocp-apim-subscription-key',
  'x-authorization',
  'x-csrftoken',
  'x-functions-key',
  'x-serverless-authorization',
  // Names and tokens of users.
  'x-access-token',
  'x-email',
  'x-groups',
  'x-id-token',
  'x-token',
  'x-user',
  'x-userinfo',
  'x-username',
  // Addresses and certificates of clients.
  'client-cert',
  'client-cert-chain',
  'client-ip',
  'do-connecting-ip',
  'fastly-client-ip',
  'incap-client-ip',
  'true-client-ip',
  'x-client-dn',
  'x-client-ip',
  'x-cluster-client-ip',
  'x-proxyuser-ip',
  'x-real-ip',
]);

/** Families of withheld names, as `isInFamily` defines them. */
export const withheldHeaderFamilies: ReadonlySet<string> = new Set([
  // Parley and DIAL.
  'x-upstream-',
  'x-dial-application-',
  'x-parley-',
  // Any proxy.
  'x-forwarded-',
  'x-original-',
  'x-rewrite-',
  'x-client-cert-',
  'x-client-ssl-',
  'x-client-verify-',
  'x-ssl-',
  'x-tls-',
  'ssl-client-',
  'x-jwt-',
  'x-oidc-',
  'x-saml-',
  'x-csrf-',
  'x-xsrf-',
  'sec-',
  // Forward authentication: oauth2-proxy, Authelia, authentik, Vouch, modules of Apache, Shibboleth.
  'x-auth-',
  'remote-',
  'x-remote-',
  'x-authelia-',
  'x-authentik-',
  'x-vouch-',
  'x-webauth-',
  'oidc-',
  'mellon-',
  'shib-',
  // Identity-aware proxies, access brokers, and API gateways: Pomerium, Tailscale, Teleport, Kong, Okta.
  'x-pomerium-',
  'tailscale-',
  'teleport-',
  'x-consumer-',
  'x-credential-',
  'x-anonymous-',
  'x-okta-',
  // Clouds and meshes: AWS, Cloudflare, Google, Azure, Vercel, Fly.io, Envoy.
  'x-amz-',
  'x-amzn-',
  'cf-',
  'x-goog-',
  'x-google-',
  'x-appengine-',
  'x-apigateway-',
  'x-endpoint-api-',
  'x-ms-client-principal-',
  'x-ms-token-',
  'x-arr-',
  'x-azure-',
  'x-appservice-',
  'x-vercel-',
  'fly-',
  'x-envoy-',
]);

/** Parts of a client's request that Parley forwards to the application that answers it. */
export interface ForwardedFields {
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Query string as received, without the question mark. Empty if there is no query. */
  readonly query: string;
}

const noFields: ForwardedFields = { headers: {}, query: '' };

/**
 * Returns the query and the header fields of the client that reach the application of a deployment
 * (docs/write-an-application.md, Header fields of applications). A saved application receives the fields of a short list. A
 * configured application receives all fields except hop-by-hop fields and those that `isWithheld` excludes.
 */
export function getForwardedFields(
  origin: CallOrigin | undefined,
  { ownership }: Pick<Deployment, 'ownership'>,
): ForwardedFields {
  if (origin === undefined) return noFields;
  const { url = '', rawHeaders } = origin;
  const fields = toFields(rawHeaders);
  const hopByHopHeaders = getHopByHopFields(fields.get('connection'));
  const mayPass = ownership === null ? (name: string) => !isWithheld(name) : (name: string) => savedApplicationHeaders.has(name);
  const headers = [...fields].filter(([name]) => !hopByHopHeaders.has(name) && mayPass(name));
  const queryStart = url.indexOf('?');
  const query = queryStart === -1 ? '' : url.slice(queryStart + 1);
  return { headers: Object.fromEntries(headers), query: ownership === null ? query : toVersionOnly(query) };
}

/** Returns the key or token that the client sent. */
export function findCredentials({ rawHeaders }: CallOrigin): string | undefined {
  const fields = toFields(rawHeaders);
  const [, bearer] = /^bearer +(\S.*)$/i.exec(fields.get('authorization')?.trim() ?? '') ?? [];
  return bearer ?? fields.get('api-key') ?? fields.get('x-api-key');
}

function isWithheld(name: string): boolean {
  return withheldHeaders.has(name.replaceAll('_', '-')) || isInFamily(name, withheldHeaderFamilies);
}

function toVersionOnly(query: string): string {
  const version = new URLSearchParams(query).get(savedApplicationQuery);
  return version === null ? '' : `${savedApplicationQuery}=${encodeURIComponent(version)}`;
}

/** Returns the fields by lower-case name. Joins the values of repeated fields (RFC 9110, 5.3). */
function toFields(rawHeaders: readonly string[]): ReadonlyMap<string, string> {
  const fields = new Map<string, string>();
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = (rawHeaders[index] as string).toLowerCase();
    const existing = fields.get(name);
    const value = rawHeaders[index + 1] as string;
    fields.set(name, existing === undefined ? value : `${existing}, ${value}`);
  }
  return fields;
}
