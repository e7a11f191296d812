import { Configuration } from '#contract/configuration/configuration.ts';
import { findDiscriminator, readSchema, type SchemaNode } from '#contract/configuration/schema-node.ts';
import { QuickAppForm } from '#contract/quick-app/form.ts';

const opening = `# Configuration

<!-- Made by scripts/generate-docs.ts out of src/contract/configuration; change it there. -->

This page lists every configuration key. A configuration is JSON (\`.json\`, or \`.jsonc\` with comments and trailing commas) or YAML 1.2 (\`.yaml\`, \`.yml\`):

\`\`\`sh
bin/parley check parley.jsonc                # reports every error, and warns about probable mistakes
npm start -- --config parley.jsonc           # applies changes of the file without a restart
\`\`\`

- **Several files** are merged in order: objects key by key. Other values are replaced.
- **Environment**: \`\${NAME}\` in a string is replaced by the variable, also in the names of entries of \`keys\`. \`$\${\` is a literal \`\${\`. A string that consists of one \`\${NAME}\` can be a number, true, or false. \`\${file:/run/secrets/name}\` is replaced by the text of the file without its trailing line break.
- **Errors**: a missing variable, an unknown key, and an empty file are errors. Write an empty configuration as \`{}\`. Parley rejects a configuration with errors, and the last valid one stays in force.
- **Reload**: Parley reads a changed file automatically. SIGHUP (\`systemctl reload parley\`) reads all files again, including those of \`\${file:…}\`.
- **\`parley check --allow-missing-env\`** reports missing variables as warnings, and does not check their values. An entry whose name is the secret key is reported as \`keys["***#2"]\`: the second entry of \`keys\`.
- **Editors**: name [configuration.schema.json](configuration.schema.json) at the top of a file: \`"$schema": "…/docs/configuration.schema.json"\` in JSON, \`# yaml-language-server: $schema=…/docs/configuration.schema.json\` in YAML.
`;

/** Returns the configuration reference as Markdown: one table for each top-level key. */
export function configurationReference(): string {
  const sections = Object.entries(readSchema(Configuration).properties ?? {}).map(([key, node]) => {
    return [`## ${key}`, '', node.description ?? '', '', toTable(buildRows(key, node))].join('\n');
  });
  return [opening, ...sections].join('\n');
}

const quickAppOpening = `# Quick-app reference

<!-- Made by scripts/generate-docs.ts out of src/contract/quick-app; change it there. -->

This page lists every key of \`applicationProperties\` of a [quick app](quick-apps.md), which has an example. Unknown keys are rejected. Parley serves the JSON Schema at \`/custom_application_schemas/quickapps\`.

`;

/** Returns the reference of quick apps as Markdown. */
export function quickAppReference(): string {
  const { properties = {}, required = [] } = readSchema(QuickAppForm);
  const rows = Object.entries(properties).flatMap(([key, node]) => {
    // It has the same keys as `web_api_toolset`.
    const below = key === 'web_api_toolset_alternative' ? [] : buildRowsBelow(key, node);
    return [toRow(key, node, required.includes(key)), ...below];
  });
  return quickAppOpening + toTable(rows);
}

function toTable(rows: readonly Row[]): string {
  const lines = rows.map((row) => `| ${row.map(escapeCell).join(' | ')} |`);
  return ['| Key | Type | Default | Meaning |', '|---|---|---|---|', ...lines, ''].join('\n');
}

type Row = readonly [key: string, shape: string, byDefault: string, description: string];

/** Returns a row for each key at and below a path. A top-level object with keys has no row itself. */
function buildRows(key: string, node: SchemaNode, isRequired = false): readonly Row[] {
  const below = buildRowsBelow(key, node);
  return key.includes('.') || below.length === 0 ? [toRow(key, node, isRequired), ...below] : below;
}

function toRow(key: string, node: SchemaNode, isRequired: boolean): Row {
  return [`\`${key}\``, toType(node), isRequired ? 'required' : formatDefault(node), node.description ?? ''];
}

function buildRowsBelow(key: string, node: SchemaNode): readonly Row[] {
  if (node.anyOf !== undefined) return buildFormRows(key, listForms(node));
  if (node.items !== undefined) return buildRowsBelow(`${key}[]`, node.items);
  if (node.additionalProperties)
    return buildRowsBelow(`${key}.<${node.propertyNames?.title ?? 'name'}>`, node.additionalProperties);
  return buildPropertyRows(key, node, Object.entries(node.properties ?? {}));
}

function buildPropertyRows(
  key: string,
  node: SchemaNode,
  properties: readonly (readonly [string, SchemaNode])[],
): readonly Row[] {
  return properties.flatMap(([name, property]) => {
    const isRequired = (node.required ?? []).includes(name) && property.default === undefined;
    return buildRows(`${key}.${name}`, property, isRequired);
  });
}

function buildFormRows(key: string, forms: readonly SchemaNode[]): readonly Row[] {
  const discriminator = findDiscriminator(forms);
  if (discriminator === undefined) return forms.flatMap((form) => buildRowsBelow(key, form));
  const names = forms.map((form) => String(form.properties?.[discriminator]?.const));
  const which: Row = [`\`${key}.${discriminator}\``, toCode(names), 'required', 'Selects the form.'];
  const rows = forms.flatMap((form, index) => {
    const others = Object.entries(form.properties ?? {}).filter(([name]) => name !== discriminator);
    return buildPropertyRows(key, form, others).map(
      ([path, type, byDefault, description]): Row => [path, type, byDefault, `\`${names[index]}\`: ${description}`],
    );
  });
  return [which, ...rows];
}

function listForms({ anyOf = [] }: SchemaNode): readonly SchemaNode[] {
  return anyOf.filter(({ type }) => type !== 'null');
}

function toType(node: SchemaNode): string {
  if (node.enum !== undefined) return toCode(node.enum.map(String));
  if (node.const !== undefined) return toCode([String(node.const)]);
  if (node.anyOf !== undefined) return [...new Set(listForms(node).map(toType))].join(' or ');
  if (node.items !== undefined) return `list of ${toType(node.items)}s`;
  if (node.additionalProperties) return `object by ${node.propertyNames?.title ?? 'name'}`;
  return node.type ?? 'any';
}

function toCode(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(', ');
}

function formatDefault({ default: byDefault, properties }: SchemaNode): string {
  if (byDefault === undefined || properties !== undefined) return '';
  return `\`${JSON.stringify(byDefault)}\``;
}

function escapeCell(text: string): string {
  return text.replaceAll('|', '\\|');
}
