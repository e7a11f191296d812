import { isJsonObject, type JsonObject, toObject } from '#base/json/json.ts';
import { formatPath } from '#contract/configuration/issue.ts';
import { formKeywords } from '../builder/editors/shape.ts';
import { toReadableName } from '../forms/field.ts';
import type { FieldStrings } from '../locales/en/fields.ts';

/** Fields that are visible at first, in this order, by the path of their object. The other fields are folded. */
const commonFields: Readonly<Record<string, readonly string[]>> = {
  models: ['displayName', 'upstreams', 'description', 'type', 'userRoles', 'pricing'],
  'models.upstreams': ['protocol', 'endpoint', 'key', 'model'],
  'models.pricing': ['prompt', 'completion'],
  applications: ['displayName', 'description', 'endpoint', 'applicationTypeSchemaId', 'applicationProperties', 'userRoles'],
  addons: ['url', 'displayName', 'description', 'authorization'],
  prompts: ['content', 'userRoles'],
  roles: ['costLimit', 'limits', 'selfService'],
  projects: ['costLimit', 'totals', 'limits', 'owners'],
  users: ['costLimit', 'totals', 'limits'],
  keys: ['name', 'project', 'roles', 'expiresAt', 'deployments', 'allowedIps'],
  'identity-providers': ['issuer', 'audience', 'rolesClaim', 'userIdClaim', 'signIn'],
  'identity-providers.signIn': ['clientId', 'displayName', 'scopes'],
};

/** Fields that the form never shows, because an action of the page sets them. */
const managedFields: Readonly<Record<string, readonly string[]>> = { keys: ['key', 'sha256', 'previous', 'disabled'] };

/** Fields whose items are deployments, and fields whose items are roles. */
const deploymentFields = ['deployments', 'dependencies'];
const roleFields = ['roles', 'userRoles'];

/** Context of a form: the kind of the entry, texts, and the IDs that the form suggests. */
export interface FormContext {
  readonly kind: string;
  readonly strings: FieldStrings;
  readonly deployments: readonly string[];
  readonly roles: readonly string[];
}

/** Returns the schema of a kind with the labels, the order, and the suggestions of its form. */
export function toFormSchema(schema: JsonObject, context: FormContext): JsonObject {
  return describeNode(schema, [context.kind], context);
}

function describeNode(node: JsonObject, path: readonly string[], context: FormContext): JsonObject {
  const name = path.at(-1) ?? '';
  const result: Record<string, unknown> = { ...node, [formKeywords.addLabel]: context.strings.additions[name] };
  if (Array.isArray(node.anyOf)) result.anyOf = node.anyOf.map((branch) => describeVariant(branch, path, context));
  if (isJsonObject(node.items)) result.items = describeItem(node.items, path, context);
  if (isJsonObject(node.additionalProperties))
    result.additionalProperties = describeNode(node.additionalProperties, path, context);
  if (isJsonObject(node.propertyNames)) {
    const names = { ...node.propertyNames, title: context.strings.names[name] };
    result.propertyNames = name === 'limits' ? withSuggestions(names, ['*', ...context.deployments]) : names;
  }
  if (isJsonObject(node.properties)) {
    result.properties = describeProperties(node.properties, path, context);
    // The form shows only known keys. The value keeps other keys, and the JSON view shows them.
    if (node.additionalProperties === undefined) result.additionalProperties = false;
  }
  const labels = context.strings.options[name];
  if (Array.isArray(node.enum) && labels !== undefined) result[formKeywords.optionLabels] = labels;
  if (path.join('.') === 'keys.expiresAt') result.format = 'date-time';
  return result;
}

function describeProperties(properties: JsonObject, path: readonly string[], context: FormContext): JsonObject {
  const { kind, strings } = context;
  const commonNames = commonFields[path.join('.')];
  const managedNames = path.length === 1 ? (managedFields[kind] ?? []) : [];
  const entries = Object.entries(properties).filter(([name]) => !managedNames.includes(name));
  return Object.fromEntries(
    entries.map(([name, schema]) => {
      const fieldPath = [...path, name];
      const order = commonNames?.indexOf(name) ?? 0;
      const property = describeNode(toObject(schema), fieldPath, context);
      const label = findText(strings.labels, fieldPath);
      const hint = label === undefined ? property.description : findText(strings.hints, fieldPath);
      const described = { ...property, title: label ?? toReadableName(name), description: hint ?? '' };
      return [
        name,
        { ...described, [formKeywords.order]: order < 0 ? 1000 : order, ...(order < 0 && { [formKeywords.collapsed]: true }) },
      ];
    }),
  );
}

function describeItem(item: JsonObject, path: readonly string[], context: FormContext): JsonObject {
  const name = path.at(-1) ?? '';
  const describedItem = { ...describeNode(item, path, context), title: context.strings.items[name] };
  if (deploymentFields.includes(name)) return withSuggestions(describedItem, context.deployments);
  return roleFields.includes(name) ? withSuggestions(describedItem, context.roles) : describedItem;
}

function describeVariant(branch: unknown, path: readonly string[], context: FormContext): unknown {
  if (!isJsonObject(branch)) return branch;
  const describedBranch = describeNode(branch, path, context);
  const type = isJsonObject(branch.properties) && isJsonObject(branch.properties.type) ? branch.properties.type.const : undefined;
  const label = typeof type === 'string' ? context.strings.variants[type] : undefined;
  return label === undefined ? describedBranch : { ...describedBranch, description: label };
}

function withSuggestions(schema: JsonObject, values: readonly string[]): JsonObject {
  return { ...schema, [formKeywords.suggestions]: values };
}

/** Returns the text for the longest suffix of a path that has one. */
function findText(texts: Readonly<Record<string, string>>, path: readonly string[]): string | undefined {
  for (let start = 0; start < path.length; start += 1) {
    const key = path.slice(start).join('.');
    if (Object.hasOwn(texts, key)) return texts[key];
  }
  return undefined;
}

// Pattern bound: runs in the user's own tab, on one path of a setting.
const pathPart = /\["(?:[^"\\]|\\.)*"\]|\[\d+\]|[^.[\]]+/g;

/** Returns the label of a path in the configuration. It omits the section and the ID, such as `models.gpt`. */
export function toPathLabel(
  path: string,
  { kind, id, section }: { kind: string; id: string; section: string },
  strings: FieldStrings,
): string {
  const entryPath = [`${section}.${id}`, `${section}[${JSON.stringify(id)}]`].find((prefix) => path.startsWith(prefix));
  const parts = path.slice(entryPath?.length ?? 0).match(pathPart) ?? [];
  const names: string[] = [kind];
  const labels = parts.map((part) => {
    const index = /^\[(\d+)\]$/.exec(part)?.[1];
    if (index !== undefined) return String(Number(index) + 1);
    const name = part.startsWith('[') ? part.slice(2, -2) : part;
    names.push(name);
    return findText(strings.labels, names) ?? name;
  });
  return labels.join(' › ');
}

interface PathDifference {
  readonly path: string;
  readonly before: unknown;
  readonly after: unknown;
}

/** Returns one difference for each value of an object or a list of objects that was added or removed. */
export function expandDifference({ path, before, after }: PathDifference): readonly PathDifference[] {
  const parts = before === undefined ? after : after === undefined ? before : undefined;
  const isList = Array.isArray(parts) && parts.some(isJsonObject);
  if (!isList && !(isJsonObject(parts) && Object.keys(parts).length > 0)) return [{ path, before, after }];
  return Object.entries(parts).flatMap(([name, part]) => {
    const step = formatPath([isList ? Number(name) : name]);
    const partPath = `${path}${step.startsWith('[') ? '' : '.'}${step}`;
    return expandDifference({ path: partPath, ...(before === undefined ? { before, after: part } : { before: part, after }) });
  });
}
