import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import type { Fault } from '../configuration/fault.ts';
import { withoutNullFields } from '../configuration/without-null-fields.ts';
import { QuickAppForm } from './form.ts';
import { completeQuickApp, quickAppFaults } from './quick-app-faults.ts';
import { keepSecrets } from './secrets.ts';

/** A toolset as somebody wrote it, alone in the settings of a quick app, with all that is wrong with it. */
export interface ReadToolset {
  /** With its secrets; to be used only if there are no faults. */
  readonly form: QuickAppForm;
  /** Their paths begin at the toolset. */
  readonly faults: readonly Fault[];
}

/** `mcp_toolset[0]`, of which a path from the toolset on knows nothing. */
const depth = 2;

/** Reads an entry of `mcp_toolset` or `web_api_toolset`, or which documents are searched and how; takes any value. Secrets of the settings as stored stand for those that come back hidden. */
export function readToolset(written: unknown, stored: JsonObject | undefined): ReadToolset {
  if (isJsonObject(written) && written.type === 'documents') return readDocuments(written);
  const isMcp = isJsonObject(written) && written.type === 'mcp';
  const list = isMcp ? 'mcp_toolset' : 'web_api_toolset';
  const around = { instructions: '', model: 'none', temperature: 0, [list]: [written] };
  const properties = withoutNullFields(QuickAppForm, around) as JsonObject;
  const faults = quickAppFaults(properties);
  const kept =
    faults.length > 0 ? { properties, faults } : keepSecrets(properties, stored && { [list]: storedIn(stored, isMcp) });
  return {
    form: completeQuickApp(kept.properties),
    faults: kept.faults.map((fault) => ({ ...fault, path: fault.path.slice(depth) })),
  };
}

/** The settings of a quick app for its documents, as they stand there. */
function readDocuments({ type: _type, ...written }: JsonObject): ReadToolset {
  const around = { ...written, instructions: '', model: 'none', temperature: 0 };
  const properties = withoutNullFields(QuickAppForm, around) as JsonObject;
  const isNone = [properties.document_relative_url ?? []].flat().length === 0;
  const none = { path: ['document_relative_url'], message: 'must name a stored file' };
  return { form: completeQuickApp(properties), faults: [...quickAppFaults(properties), ...(isNone ? [none] : [])] };
}

/** Web APIs stand in two lists. */
function storedIn(stored: JsonObject, isMcp: boolean): readonly unknown[] {
  const lists = isMcp ? [stored.mcp_toolset] : [stored.web_api_toolset, stored.web_api_toolset_alternative];
  return lists.flatMap((list: unknown) => (Array.isArray(list) ? list : []));
}
