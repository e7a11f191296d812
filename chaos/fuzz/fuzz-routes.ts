import type { OpenApiDocument } from '#test/documented.ts';
import { requireErrorShape } from '#test/sane-answer.ts';
import { sendRequest } from '#test/send-request.ts';
import { callerKey } from '#test/start-service.ts';
import type { Scenario } from '../scenario.ts';
import { requireSettled, startWatched } from '../support/watched-node.ts';
import { framed } from '../upstreams/fault.ts';
import { createUpstream, goodReply, vectorsReply } from '../upstreams/good-replies.ts';
import { startHostileUpstream } from '../upstreams/hostile-upstream.ts';
import { RouteInputs } from './route-inputs.ts';
import { runInputs, toKind } from './run-inputs.ts';
import { Wire, type WireAnswer } from './wire.ts';

const maxMs = 15_000;

/** Generated requests to every operation of the description. */
export const fuzzRoutes: Scenario = {
  name: 'fuzz-routes',
  title: 'Requests from a grammar to all routes',
  weight: 4,
  async run(ground) {
    const vectors = { contentType: 'application/json', pieces: [Buffer.from(JSON.stringify(vectorsReply))], isStream: false };
    await using upstream = await startHostileUpstream(({ path, body }) =>
      path.endsWith('/embeddings')
        ? framed(vectors)
        : framed(goodReply(path.startsWith('/anthropic') ? 'anthropic' : 'openai', /"stream":\s*true/.test(body))),
    );
    await using node = await startWatched({ configuration: toConfiguration(upstream.url) });
    const described = await sendRequest(node.url, { method: 'GET', path: '/openapi.json' });
    const inputs = new RouteInputs(described.json as OpenApiDocument, { seed: ground.random.below(2 ** 20), key: callerKey });
    const wire = new Wire(node.url);
    for (let index = 0; index < 300; index += 1)
      await wire
        .send(inputs.at(10_000_000 + index).bytes, { isHead: inputs.at(10_000_000 + index).isHead, maxMs })
        .catch(() => undefined);
    const before = await node.collectAndRead();
    const send = async (index: number): Promise<string> => {
      const { title, isHead, bytes } = inputs.at(index);
      const answer = await wire.send(bytes, { isHead, maxMs }).catch((error: Error) => {
        throw new Error(`${title}: ${error.message}`);
      });
      requireSane(title, answer);
      return toKind(answer.status);
    };
    await runInputs(ground, node, { send, titleAt: (index) => inputs.at(index).title });
    wire.close();
    await requireSettled(node, before, ground.tally);
  },
};

/** Throws unless a response is a success or an error in the documented format. */
export function requireSane(title: string, { status, headers, body }: WireAnswer): void {
  if (status === 500 || status === 0) throw new Error(`${title}: ${status} ${body.slice(0, 300)}`);
  if (status < 400 || body === '') return;
  if (/content-type: *application\/scim\+json/i.test(headers)) return requireScimError(title, { status, body });
  if (!/content-type: *application\/json/i.test(headers))
    throw new Error(`${title}: ${status} is not JSON: ${body.slice(0, 200)}`);
  // JSON-RPC errors have their own format.
  if (body.includes('"jsonrpc"')) return;
  requireErrorShape(body);
}

/** Throws unless the body is an error of RFC 7644, section 3.12. */
function requireScimError(title: string, { status, body }: { status: number; body: string }): void {
  const { schemas, status: reported, detail } = JSON.parse(body) as Record<string, unknown>;
  const isError = Array.isArray(schemas) && schemas.includes('urn:ietf:params:scim:api:messages:2.0:Error');
  if (!isError || reported !== String(status) || typeof detail !== 'string')
    throw new Error(`${title}: ${status} is not a SCIM error: ${body.slice(0, 200)}`);
}

/** Returns a configuration with all deployments that the examples of the description name. */
export function toConfiguration(url: string): object {
  const { upstream } = createUpstream('openai', url);
  const once = { maxRetryAttempts: 1 };
  const properties = { temperature: 0, instructions: 'Be kind.', model: 'demo' };
  const quickApp = {
    applicationTypeSchemaId: 'https://x.test/custom_application_schemas/quickapps',
    applicationProperties: properties,
  };
  return {
    models: {
      demo: { upstreams: [upstream], ...once },
      claude: { upstreams: [createUpstream('anthropic', `${url}/anthropic`).upstream], ...once },
      'demo-embeddings': { type: 'embedding', upstreams: [upstream], ...once },
    },
    applications: {
      sample: quickApp,
      'sample-with-consent': { ...quickApp, features: { consentRequired: true }, dependencies: ['demo'] },
      app: { endpoint: `${url}/app`, dependencies: ['demo'] },
    },
    keys: { [callerKey]: { project: 'local', roles: ['admin', 'scim'] } },
    tools: { connectMs: 300, timeoutMs: 500 },
  };
}
