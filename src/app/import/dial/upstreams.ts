import type { JsonObject } from '#base/json.ts';
import type { ForeignObject } from '../foreign-object.ts';
import type { ImportTools } from '../tools.ts';

interface ModelParts {
  readonly type: 'chat' | 'embedding';
  readonly tools: ImportTools;
}

const operation = /\/(chat\/completions|embeddings)\/?(?=\?|$)/;
const deployment = /\/openai\/deployments\/([^/?]+)(?=\?|$)/;

/** Adapters want one named; DIAL hands on that of the caller. */
const apiVersion = '2024-10-21';

/**
 * The upstreams of a model. A plain server of OpenAI's API is called as one. An adapter is called as DIAL calls it: at its own address,
 * with the upstream that is chosen in `X-UPSTREAM-*` header fields.
 */
export function toUpstreams(id: string, model: ForeignObject, { type, tools }: ModelParts): readonly JsonObject[] {
  const address = toAddress(id, model, { type, tools });
  if (address === undefined) return [];
  if (!operation.test(address)) {
    tools.notes.lose(model.path, 'is left out: its address does not end in chat/completions or embeddings');
    return [];
  }
  const endpoint = address.replace(operation, '');
  const [, named] = deployment.exec(endpoint) ?? [];
  const name = model.text('overrideName') ?? named ?? id;
  const base = {
    ...(named !== undefined && { protocol: 'azure', apiVersion }),
    endpoint,
    model: tools.variables.environment(name),
  };
  const entries = model.items('upstreams');
  if (named !== undefined && type === 'chat')
    tools.notes.lose(
      model.at('endpoint'),
      'is an adapter or an application of DIAL: attachments, stages and state do not pass it as they do there',
      'where it is an application, move the entry to `applications`',
    );
  if (entries.length === 0) return [tools.result.from(model.path, base)];
  return entries.map((entry) => toUpstream(entry, base, { id, tools }));
}

function toUpstream(
  entry: ForeignObject,
  base: JsonObject,
  { id, tools }: { readonly id: string; readonly tools: ImportTools },
): JsonObject {
  const { variables, result, notes } = tools;
  const headers: JsonObject = {};
  const endpoint = entry.text('endpoint');
  const key = entry.text('key');
  const extra = entry.value('extraData');
  if (endpoint !== undefined && endpoint !== '')
    headers['X-UPSTREAM-ENDPOINT'] = variables.address(endpoint, entry.at('endpoint'), `${id}_upstream`);
  if (key !== undefined && key !== '') headers['X-UPSTREAM-KEY'] = variables.reference(key, entry.at('key'), `${id}_key`);
  if (extra !== undefined)
    headers['X-UPSTREAM-EXTRA-DATA'] = variables.reference(
      typeof extra === 'string' ? extra : JSON.stringify(extra),
      entry.at('extraData'),
      `${id}_extra_data`,
    );
  const weight = entry.number('weight');
  const tier = entry.number('tier');
  entry.leave(
    {
      id: null,
      responsesEndpoint: 'the Responses API is not served',
      interfaces: 'an upstream has one `endpoint` here',
      baseUrl: 'an upstream has one `endpoint` here',
    },
    'an upstream',
  );
  if (entry.value('authType') !== undefined)
    notes.lose(entry.at('authType'), 'is not carried: the adapter is told the key as it is');
  return result.from(entry.path, {
    ...base,
    ...(Object.keys(headers).length > 0 && { headers }),
    ...(weight !== undefined && weight !== 1 && { weight: Math.max(0, weight) }),
    ...(tier !== undefined && tier !== 0 && { tier }),
  });
}

/** Where the model is called: its `endpoint`, or what its `interfaces` come to. */
function toAddress(id: string, model: ForeignObject, { type, tools }: ModelParts): string | undefined {
  const { notes, variables } = tools;
  const interfaces = model.object('interfaces');
  const [name, path] = type === 'chat' ? ['openaiChatCompletions', 'chat/completions'] : ['openaiEmbeddings', 'embeddings'];
  const base = interfaces?.object(name)?.text('baseUrl');
  interfaces?.leave(
    {
      anthropicMessages: 'one interface is carried, that of the type of the model',
      openaiResponses: 'the Responses API is not served',
    },
    'the interfaces of a model',
  );
  const endpoint = model.text('endpoint');
  const address =
    base === undefined ? endpoint : `${base.replace(/\/+$/, '')}/openai/deployments/${encodeURIComponent(id)}/${path}`;
  if (address !== undefined && address !== '')
    return variables.address(address, model.at(base === undefined ? 'endpoint' : 'interfaces'), id);
  notes.lose(model.path, 'is left out: it has no endpoint that Parley could call');
  return undefined;
}
