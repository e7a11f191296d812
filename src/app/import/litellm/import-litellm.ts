import { ForeignObject } from '../foreign-object.ts';
import { type Source, SourceFault } from '../read-source.ts';
import type { ImportTools } from '../tools.ts';
import { importAccess } from './access.ts';
import { addFallbacks } from './fallbacks.ts';
import type { LitellmTools } from './litellm-tools.ts';
import { lostRouter, lostSettings, lostTop } from './lost-keys.ts';
import { type Group, readModelList } from './model-list.ts';

/** The configuration of a LiteLLM proxy as one of Parley. */
export function importLitellm(sources: readonly Source[], imported: ImportTools): void {
  const [source] = sources;
  if (source === undefined) return;
  requireSections(source);
  const root = new ForeignObject(source.value, [], { notes: imported.notes, isSnake: true });
  const settings = root.object('litellmSettings');
  const router = root.object('routerSettings');
  const holders = [settings, router].filter((holder) => holder !== undefined);
  const credentials = root.items('credentialList').flatMap((credential) => {
    const values = credential.object('credentialValues');
    return values === undefined ? [] : [[credential.text('credentialName') ?? '', values] as const];
  });
  const tools: LitellmTools = {
    ...imported,
    credentials: new Map(credentials),
    timeoutSeconds: settings?.number('requestTimeout'),
  };
  const groups = new Map(readModelList(root, tools));
  addFallbacks(holders, groups, tools);
  if (router !== undefined) addAliases(router, groups, tools);
  const retries = router?.number('numRetries') ?? settings?.number('numRetries');
  for (const [name, { path, type, upstreams, fields }] of groups) {
    const entry = {
      ...(type === 'embedding' && { type }),
      upstreams,
      ...fields,
      ...(retries !== undefined && { maxRetryAttempts: retries + 1 }),
    };
    tools.result.put('models', name, tools.result.from(path, entry));
  }
  importAccess(root, tools);
  tellStrategy(router, tools);
  settings?.value('numRetries');
  settings?.leave(lostSettings, 'litellm_settings');
  router?.leave(lostRouter, 'router_settings');
  root.leave(lostTop, 'LiteLLM');
}

/** An alias is a model of its own with the same upstreams. */
function addAliases(router: ForeignObject, groups: Map<string, Group>, { notes }: LitellmTools): void {
  const aliases = router.object('modelGroupAlias');
  for (const alias of aliases?.keys() ?? []) {
    const written = aliases?.value(alias);
    const nested = typeof written === 'object' ? aliases?.object(alias) : undefined;
    const target = nested?.text('model') ?? (typeof written === 'string' ? written : undefined);
    const path = aliases?.at(alias) ?? [];
    const group = target === undefined ? undefined : groups.get(target);
    if (group === undefined) notes.lose(path, 'is not carried: what it stands for is not in the result');
    else if (groups.has(alias)) notes.lose(path, 'is not carried: a model has the name');
    else groups.set(alias, group);
    if (nested?.flag('hidden'))
      notes.lose(nested.at('hidden'), 'is not carried: the model is listed', 'name roles in its `userRoles`');
  }
}

function tellStrategy(router: ForeignObject | undefined, { notes }: LitellmTools): void {
  const strategy = router?.text('routingStrategy');
  if (router !== undefined && strategy !== undefined && strategy !== 'simple-shuffle')
    notes.lose(router.at('routingStrategy'), 'is not carried: upstreams take turns by `weight`, those of a lower `tier` first');
}

function requireSections({ file, value, lineOf }: Source): void {
  const list = value.model_list;
  if (list === undefined || list === null)
    throw new SourceFault({ file, path: '', message: 'is no configuration of LiteLLM: it has no model_list' });
  if (!Array.isArray(list))
    throw new SourceFault({ file: `${file}:${lineOf(['model_list']).line}`, path: 'model_list', message: 'must be a list' });
}
