import { isJsonObject, type JsonObject } from '#base/json.ts';
import { trimEndSlashes } from '#base/url-path.ts';
import type { ForeignObject } from '../foreign-object.ts';
import type { ImportTools } from '../tools.ts';
import { isKnown } from './common.ts';

interface ModelParts {
  readonly id: string;
  readonly type: 'chat' | 'embedding';
  readonly tools: ImportTools;
}

/** How a model is served: its upstreams, and its adapter if there is one. */
type Service = JsonObject & { readonly upstreams: readonly JsonObject[] };

const operation = /\/(chat\/completions|embeddings)\/?(?=\?|$)/;
const deployment = /\/openai\/deployments\/([^/?]+)(?=\?|$)/;
/** Adapters want one named. */
const apiVersion = '2024-10-21';

/** A plain server of OpenAI's API is called as one; an adapter is called as DIAL calls it. Undefined, and told, if nothing can be called. */
export function toService(model: ForeignObject, parts: ModelParts): Service | undefined {
  const { id, tools } = parts;
  const address = toAddress(model, parts);
  if (address === undefined) return undefined;
  const base = address.replace(operation, '');
  const [, named] = deployment.exec(base) ?? [];
  const override = model.text('overrideName');
  const entries = model.items('upstreams');
  const name = tools.variables.environment(override ?? named ?? id);
  if (entries.length === 0 && named === undefined && base !== address)
    return { upstreams: [tools.result.from(model.path, { endpoint: base, model: name })] };
  const upstreams = entries.map((entry) => toUpstream(entry, parts));
  if (upstreams.length === 0) upstreams.push(tools.result.from(model.path, {}));
  if (isKnown('models', 'protocol')) {
    if (override !== undefined)
      tools.notes.lose(
        model.at('overrideName'),
        'is not carried: the adapter is sent the `model` of the request',
        'name it in the address if the adapter goes by that',
      );
    return { protocol: 'dial', endpoint: address, upstreams };
  }
  return asAzure(model, upstreams, { base, name, tools });
}

/** An adapter speaks as Azure does, and is told of its upstream in header fields. */
function asAzure(
  model: ForeignObject,
  upstreams: readonly JsonObject[],
  { base, name, tools }: { readonly base: string; readonly name: string; readonly tools: ImportTools },
): Service {
  tools.notes.lose(
    model.at('endpoint'),
    'is called as Azure is: attachments, stages and state do not pass it as they do in DIAL',
    'if it is an application, move the entry to `applications`',
  );
  for (const upstream of upstreams) {
    const { endpoint, key, extraData } = upstream;
    const headers = {
      ...(endpoint !== undefined && { 'X-UPSTREAM-ENDPOINT': endpoint }),
      ...(key !== undefined && { 'X-UPSTREAM-KEY': key }),
      ...(extraData !== undefined && {
        'X-UPSTREAM-EXTRA-DATA': isJsonObject(extraData) ? JSON.stringify(extraData) : extraData,
      }),
    };
    delete upstream.key;
    delete upstream.extraData;
    Object.assign(upstream, { protocol: 'azure', apiVersion, endpoint: base, model: name });
    if (Object.keys(headers).length > 0) upstream.headers = headers;
  }
  return { upstreams };
}

const fates = {
  id: null,
  responsesEndpoint: 'the Responses API is not served',
  interfaces: 'an upstream has one `endpoint` here',
  baseUrl: 'an upstream has one `endpoint` here',
  authType: 'the adapter is told the key as it is',
};

function toUpstream(entry: ForeignObject, { id, tools }: ModelParts): JsonObject {
  const { variables, result } = tools;
  const endpoint = entry.text('endpoint') || undefined;
  const key = entry.text('key') || undefined;
  const extra = entry.value('extraData');
  const weight = entry.number('weight');
  const tier = entry.number('tier');
  entry.leave(fates, 'an upstream of DIAL');
  const toExtra = (path = entry.at('extraData')): unknown =>
    typeof extra === 'string' ? variables.reference(extra, path, `${id}_extra_data`) : variables.value(extra, path, id);
  return result.from(entry.path, {
    ...(endpoint !== undefined && { endpoint: variables.address(endpoint, entry.at('endpoint'), `${id}_upstream`) }),
    ...(key !== undefined && { key: variables.reference(key, entry.at('key'), `${id}_key`) }),
    ...(extra !== undefined && { extraData: toExtra() }),
    ...(weight !== undefined && weight !== 1 && { weight: Math.max(0, weight) }),
    ...(tier !== undefined && tier !== 0 && { tier }),
  });
}

/** Where the model is called: its `endpoint`, or what its `interfaces` come to. */
function toAddress(model: ForeignObject, { id, type, tools }: ModelParts): string | undefined {
  const { notes, variables } = tools;
  const [name, path] = type === 'chat' ? ['openaiChatCompletions', 'chat/completions'] : ['openaiEmbeddings', 'embeddings'];
  const interfaces = model.object('interfaces');
  const base = interfaces?.object(name)?.text('baseUrl');
  interfaces?.leave(
    {
      anthropicMessages: 'one interface is carried, that of the type of the model',
      openaiResponses: 'the Responses API is not served',
    },
    'the interfaces of a model',
  );
  const endpoint = model.text('endpoint');
  const address = base === undefined ? endpoint : `${trimEndSlashes(base)}/openai/deployments/${encodeURIComponent(id)}/${path}`;
  if (address !== undefined && (isKnown('models', 'protocol') || operation.test(address)) && address !== '')
    return variables.address(address, model.at(base === undefined ? 'endpoint' : 'interfaces'), id);
  notes.lose(model.path, 'is left out: it has no endpoint that Parley could call', model.whatIsMeant('endpoint'));
  return undefined;
}
