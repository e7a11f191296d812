import type { ConsentForm } from '#contract/consent.ts';
import { plainCompletion } from '#test/chunks.ts';
import { type Answering, type Received, type ScriptedUpstream, startScriptedUpstream } from '#test/scripted-upstream.ts';
import { sendRequest, type TestResponse } from '#test/send-request.ts';
import { callerKey, chatPath, type ServiceOptions, startService, type TestService, withKey } from '#test/start-service.ts';

/** A path of the consent surface; the id stands in it as it is. */
export function consentPath(id: string): string {
  return `/v1/consent/${id}`;
}

type Service = Pick<TestService, 'sendRequest'>;

export function getConsent(service: Service, id: string, key = callerKey): Promise<TestResponse> {
  return service.sendRequest({ method: 'GET', path: consentPath(id), headers: { 'api-key': key } });
}

export function postConsent(service: Service, id: string, body: unknown, key = callerKey): Promise<TestResponse> {
  return service.sendRequest({ path: consentPath(id), headers: withKey(key), body });
}

export function deleteConsent(service: Service, id: string, key = callerKey): Promise<TestResponse> {
  return service.sendRequest({ method: 'DELETE', path: consentPath(id), headers: { 'api-key': key } });
}

/** The form that is to be accepted today. */
export async function formOf(service: Service, id: string, key = callerKey): Promise<ConsentForm> {
  const { consent } = (await getConsent(service, id, key)).json as { consent?: ConsentForm };
  if (consent === undefined) throw new Error(`there is no form of ${id} to accept`);
  return consent;
}

/** Accepts the form of today. */
export async function accept(service: Service, id: string, key = callerKey): Promise<void> {
  const { status, text } = await postConsent(service, id, { consent: await formOf(service, id, key) }, key);
  if (status !== 200) throw new Error(text);
}

/** Whether the user has accepted the form of today. */
export async function isAccepted(service: Service, id: string, key = callerKey): Promise<boolean> {
  return ((await getConsent(service, id, key)).json as { accepted: boolean }).accepted;
}

export function required(consentRequired: boolean): { consentRequired: boolean } {
  return { consentRequired };
}

/** What an application does beside its own call on: runs before it, with the key of the request. */
type Aside = (key: string) => Promise<void>;

/** A service and a server where its applications and models live. */
export interface Landscape extends AsyncDisposable {
  readonly service: TestService;
  readonly host: ScriptedUpstream;
  /** Calls the first on behalf of the user; each application calls the next through its own key. */
  callThrough(via: readonly string[], key?: string): Promise<string>;
  /** What applications do before they go on, by the id in their address. */
  readonly asides: Map<string, Aside>;
  /** The same as the first configuration, with these applications in place of the first ones. */
  reload(applications: Applications): void;
}

/** By id: what it depends on, and whether it requires consent. */
export type Applications = Readonly<Record<string, { dependencies?: readonly string[]; requires?: boolean; closed?: boolean }>>;

/**
 * Applications that call one another as they are told, and beside them the models `model`, `guarded` and the embedding
 * model `vectors`, of which the last two require consent.
 */
export async function startLandscape(
  applications: Applications,
  { more = {}, ...options }: ServiceOptions & { more?: object } = {},
): Promise<Landscape> {
  const asides = new Map<string, Aside>();
  const host = await startScriptedUpstream((answering) => answerAsTold(answering, { url: () => service.url, asides }));
  const toConfiguration = (current: Applications): object => ({
    models: {
      model: { upstreams: [{ endpoint: host.endpoint }] },
      guarded: { upstreams: [{ endpoint: host.endpoint }], features: required(true) },
      vectors: { type: 'embedding', upstreams: [{ endpoint: host.endpoint }], features: required(true) },
    },
    applications: Object.fromEntries(Object.entries(current).map(([id, entry]) => [id, toEntry(host.url, id, entry)])),
    keys: { [callerKey]: { project: 'test' }, other: { project: 'other' }, same: { project: 'test' } },
    ...more,
  });
  const service = await startService(toConfiguration(applications), options);
  return {
    service,
    host,
    asides,
    async callThrough([first = '', ...rest], key = callerKey) {
      return toSaid(
        await sendRequest(service.url, { path: chatPath(encodeURIComponent(first)), headers: withKey(key), body: toBody(rest) }),
      );
    },
    reload: (next) => service.reload(toConfiguration(next)),
    [Symbol.asyncDispose]: async () => {
      await service.close();
      await host.close();
    },
  };
}

function toEntry(url: string, id: string, { dependencies = [], requires = false, closed = false }: Applications[string]): object {
  const endpoint = `${url}/app/${encodeURIComponent(id)}`;
  return { endpoint, dependencies, features: required(requires), ...(closed && { userRoles: ['staff'] }) };
}

interface Told {
  readonly url: () => string;
  readonly asides: ReadonlyMap<string, Aside>;
}

/** A model says `done`; an application calls the first of the ids in its message and says what came of it. */
async function answerAsTold({ received, response }: Answering, { url, asides }: Told): Promise<void> {
  response.setHeader('content-type', 'application/json');
  if (received.path.endsWith('/embeddings')) {
    response.end(JSON.stringify({ object: 'list', data: [], usage: { prompt_tokens: 1, total_tokens: 1 } }));
    return;
  }
  const said = received.path.startsWith('/app/') ? await goOn(received, { url, asides }) : 'done';
  response.end(JSON.stringify(plainCompletion(said)));
}

async function goOn(received: Received, { url, asides }: Told): Promise<string> {
  const key = String(received.headers['api-key']);
  await asides.get(decodeURIComponent(received.path.slice('/app/'.length)))?.(key);
  const [{ content }] = received.body.messages as [{ content: string }];
  const [next, ...rest] = JSON.parse(content) as string[];
  if (next === undefined) return 'done';
  const path = next === 'vectors' ? '/openai/deployments/vectors/embeddings' : chatPath(encodeURIComponent(next));
  const body = next === 'vectors' ? { input: 'x' } : toBody(rest);
  return toSaid(await sendRequest(url(), { path, headers: withKey(key), body }));
}

function toBody(via: readonly string[]): object {
  return { messages: [{ role: 'user', content: JSON.stringify(via) }] };
}

/** What the end of the chain said: `done`, or status and code of the refusal and its message. */
function toSaid({ status, error, completion }: TestResponse): string {
  if (status !== 200) return `${status} ${error.code}: ${error.message}`;
  return completion.object === 'chat.completion' ? String(completion.choices[0]?.message.content) : 'done';
}
