import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import { PatternError, withPatterns } from '#base/text/patterns.ts';
import { explain } from '../configuration/explain.ts';
import type { Issue } from '../configuration/issue.ts';
import { complete, withoutNullFields } from '../configuration/schema-node.ts';
import { compileShape } from '../schemas/compile-shape.ts';
import { conditionBounds, expressionLimits } from './condition-parts.ts';
import { QuickAppForm } from './form.ts';
import { restoreSecrets, toolsetDepth } from './secrets.ts';

const schema = compileShape(QuickAppForm);

/** Returns the schema errors of the settings of a quick app, or else the first invalid condition. */
export function findQuickAppIssues(properties: unknown): readonly Issue[] {
  const completed = complete(QuickAppForm, properties);
  return schema.Check(completed) ? findConditionIssues(completed) : explain(QuickAppForm, completed);
}

/** Counts and compiles the conditions of all entries within one time limit. */
function findConditionIssues({ applications_as_tools: entries = [] }: QuickAppForm): readonly Issue[] {
  const path: (string | number)[] = ['applications_as_tools'];
  const conditions = entries.flatMap((entry) => (typeof entry === 'string' ? [] : entry.conditions));
  if (conditions.length > conditionBounds.maxConditions)
    return [{ path, message: `must have at most ${conditionBounds.maxConditions} conditions in total` }];
  if (conditions.length === 0) return [];
  try {
    withPatterns(({ compile }) => {
      for (const [index, entry] of entries.entries()) {
        for (const [at, condition] of typeof entry === 'string' ? [] : entry.conditions.entries()) {
          if (condition.condition_type !== 'match') continue;
          path.splice(1, 4, index, 'conditions', at, 'expression');
          compile(condition.expression, expressionLimits);
        }
      }
    });
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    const message = 'must be a regular expression in the syntax of RE2, which has no look-around and no back-references';
    return [{ path, message: `${message}: ${error.message}` }];
  }
  return [];
}

/** Returns the settings of a quick app with all defaults. The settings must be valid. */
export function completeQuickApp(properties: unknown): QuickAppForm {
  return complete(QuickAppForm, properties) as QuickAppForm;
}

/** Result of parsing a single toolset. */
interface ParsedToolset {
  /** Settings that contain only the toolset and its secrets. Use them only if there are no errors. */
  readonly form: QuickAppForm;
  /** Errors with paths that start at the toolset. */
  readonly errors: readonly Issue[];
}

/**
 * Parses an entry of `mcp_toolset` or `web_api_toolset`, or search settings for documents. Accepts any value. Secrets of the
 * stored settings replace masked secrets in the input.
 */
export function readToolset(input: unknown, stored: JsonObject | undefined): ParsedToolset {
  if (isJsonObject(input) && input.type === 'documents') return readDocuments(input);
  const isMcp = isJsonObject(input) && input.type === 'mcp';
  const list = isMcp ? 'mcp_toolset' : 'web_api_toolset';
  const settings = { instructions: '', model: 'none', temperature: 0, [list]: [input] };
  const properties = withoutNullFields(QuickAppForm, settings) as JsonObject;
  const errors = findQuickAppIssues(properties);
  const merged =
    errors.length > 0
      ? { properties, errors }
      : restoreSecrets(properties, stored && { [list]: listStoredToolsets(stored, isMcp) });
  return {
    form: completeQuickApp(merged.properties),
    errors: merged.errors.map((issue) => ({ ...issue, path: issue.path.slice(toolsetDepth) })),
  };
}

/** Parses the document settings of a quick app. */
function readDocuments({ type: _type, ...fields }: JsonObject): ParsedToolset {
  const settings = { ...fields, instructions: '', model: 'none', temperature: 0 };
  const properties = withoutNullFields(QuickAppForm, settings) as JsonObject;
  const hasNoDocuments = [properties.document_relative_url ?? []].flat().length === 0;
  const missingFile = { path: ['document_relative_url'], message: 'must name a stored file' };
  return {
    form: completeQuickApp(properties),
    errors: [...findQuickAppIssues(properties), ...(hasNoDocuments ? [missingFile] : [])],
  };
}

/** Returns the stored toolsets of the same kind. Web APIs can be in two lists. */
function listStoredToolsets(stored: JsonObject, isMcp: boolean): readonly unknown[] {
  const lists = isMcp ? [stored.mcp_toolset] : [stored.web_api_toolset, stored.web_api_toolset_alternative];
  return lists.flatMap((list: unknown) => (Array.isArray(list) ? list : []));
}
