import type { ConsentForm } from '#contract/consent.ts';
import { plainCompletion } from '#test/chunks.ts';
import {
  type ReceivedRequest,
  type ScriptedUpstream,
  startScriptedUpstream,
  type UpstreamExchange,
} from '#test/scripted-upstream.ts';
import { sendRequest, type TestResponse } from '#test/send-request.ts';
import { callerKey, getChatPath, type ServiceOptions, startService, type TestService, withKey } from '#test/start-service.ts';

/** Returns a path of the consent API. The ID is inserted without encoding. */
export function getConsentPath(id: string): string {
  return `/v1/consent/${id}`;
}

type Service = Pick<TestService, 'sendRequest'>;

export function getConsent(service: Service, id: string, key = callerKey): Promise<TestResponse> {
  return service.sendRequest({ method: 'GET', path: getConsentPath(id), headers: { 'api-key': key } });
}

export function postConsent(service: Service, id: string, body: unknown, key = callerKey): Promise<TestResponse> {
  return service.sendRequest({ path: getConsentPath(id), headers: withKey(key), body });
}

export function deleteConsent(service: Service, id: string, key = callerKey): Promise<TestResponse> {
  return service.sendRequest({ method: 'DELETE', path: getConsentPath(id), headers: { 'api-key': key } });
}

/** Returns the form that is currently to be accepted. Throws if the deployment has no form. */
export async function getForm(service: Service, id: string, key = callerKey): Promise<ConsentForm> {
  const { consent } = (await getConsent(service, id, key)).json as { consent?: ConsentForm };
  if (consent === undefined) throw new Error(`there is no form of ${id} to accept`);
  return consent;
}

/** Accepts the current form. */
export async function accept(service: Service, id: string, key = callerKey): Promise<void> {
  const { status, text } = await postConsent(service, id, { consent: await getForm(service, id, key) }, key);
  if (status !== 200) throw new Error(text);
}

/** Returns whether the user has accepted the current form. */
export async function isAccepted(service: Service, id: string, key = callerKey): Promise<boolean> {
  return ((await getConsent(service, id, key)).json as { accepted: boolean }).accepted;
}

export function createForm(consentRequired: boolean): { consentRequired: boolean } {
  return { consentRequired };
}

/** Runs in an application before its own call, with the per-request key that it received. */
type SideEffect = (key: string) => Promise<void>;

/** A service, and a server that hosts its applications and models. */
export interface Landscape extends AsyncDisposable {
  readonly service: TestService;
  readonly host: ScriptedUpstream;
  /** Calls the first ID as the user. Each application calls the next ID with its per-request key. */
  callThrough(via: readonly string[], key?: string): Promise<string>;
  /** Side effects of applications, by application ID. */
  readonly sideEffects: Map<string, SideEffect>;
  /** Reloads the initial configuration with these applications instead. */
  reload(applications: Applications): void;
}

/** Dependencies of each application by ID, and whether it requires consent or is closed to the caller. */
export type Applications = Readonly<
  Record<string, { dependencies?: readonly string[]; requiresConsent?: boolean; closed?: boolean }>
>;

/**
 * Starts applications that call one another as their message lists, the model `model`, and two deployments
 * that require consent: the model `guarded` and the embedding model `vectors`.
 */
export async function startLandscape(
  applications: Applications,
  { more: otherSections = {}, ...options }: ServiceOptions & { more?: object } = {},
): Promise<Landscape> {
  const sideEffects = new Map<string, SideEffect>();
  const host = await startScriptedUpstream((exchange) => answerScripted(exchange, { url: () => service.url, sideEffects }));
  const toConfiguration = (current: Applications): object => ({
    models: {
      model: { upstreams: [{ endpoint: host.endpoint }] },
      guarded: { upstreams: [{ endpoint: host.endpoint }], features: createForm(true) },
      vectors: { type: 'embedding', upstreams: [{ endpoint: host.endpoint }], features: createForm(true) },
    },
    applications: Object.fromEntries(Object.entries(current).map(([id, entry]) => [id, toEntry(host.url, id, entry)])),
    keys: { [callerKey]: { project: 'test' }, other: { project: 'other' }, 'same-project': { project: 'test' } },
    ...otherSections,
  });
  const service = await startService(toConfiguration(applications), options);
  return {
    service,
    host,
    sideEffects,
    async callThrough([firstId = '', ...rest], key = callerKey) {
      return formatOutcome(
        await sendRequest(service.url, {
          path: getChatPath(encodeURIComponent(firstId)),
          headers: withKey(key),
          body: toBody(rest),
        }),
      );
    },
    reload: (next) => service.reload(toConfiguration(next)),
    [Symbol.asyncDispose]: async () => {
      await service.close();
      await host.close();
    },
  };
}

function toEntry(
  url: string,
  id: string,
  { dependencies = [], requiresConsent: requires = false, closed = false }: Applications[string],
): object {
  const endpoint = `${url}/app/${encodeURIComponent(id)}`;
  return { endpoint, dependencies, features: createForm(requires), ...(closed && { userRoles: ['staff'] }) };
}

interface AnswerOptions {
  readonly url: () => string;
  readonly sideEffects: ReadonlyMap<string, SideEffect>;
}

/** Replies `done` as a model. An application calls the first ID in its message and replies with the outcome. */
async function answerScripted({ received, response }: UpstreamExchange, { url, sideEffects }: AnswerOptions): Promise<void> {
  response.setHeader('content-type', 'application/json');
  if (received.path.endsWith('/embeddings')) {
    response.end(JSON.stringify({ object: 'list', data: [], usage: { prompt_tokens: 1, total_tokens: 1 } }));
    return;
  }
  const outcome = received.path.startsWith('/app/') ? await callNext(received, { url, sideEffects }) : 'done';
  response.end(JSON.stringify(plainCompletion(outcome)));
}

async function callNext(received: ReceivedRequest, { url, sideEffects }: AnswerOptions): Promise<string> {
  const key = String(received.headers['api-key']);
  await sideEffects.get(decodeURIComponent(received.path.slice('/app/'.length)))?.(key);
  const [{ content }] = received.body.messages as [{ content: string }];
  const [next, ...rest] = JSON.parse(content) as string[];
  if (next === undefined) return 'done';
  const path = next === 'vectors' ? '/openai/deployments/vectors/embeddings' : getChatPath(encodeURIComponent(next));
  const body = next === 'vectors' ? { input: 'x' } : toBody(rest);
  return formatOutcome(await sendRequest(url(), { path, headers: withKey(key), body }));
}

function toBody(via: readonly string[]): object {
  return { messages: [{ role: 'user', content: JSON.stringify(via) }] };
}

/** Returns `done`, or the status, code, and message of the rejection. */
function formatOutcome({ status, error, completion }: TestResponse): string {
  if (status !== 200) return `${status} ${error.code}: ${error.message}`;
  return completion.object === 'chat.completion' ? String(completion.choices[0]?.message.content) : 'done';
}
