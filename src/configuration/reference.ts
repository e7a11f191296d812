import { Configuration } from '#contract/configuration/configuration.ts';
import { findDiscriminator, readSchema, type SchemaNode } from '#contract/configuration/schema-node.ts';

const opening = `# Configuration

<!-- Made by scripts/generate-docs.ts out of src/contract/configuration; change it there. -->

Configuration is JSON (\`.json\`, \`.jsonc\`: comments and trailing commas are fine) or YAML 1.2 (\`.yaml\`, \`.yml\`). Several files are joined in order: objects key by
key, anything else is replaced. \`\${NAME}\` in a string is replaced from the environment, in the names of the entries of \`keys\` as well; \`$\${\` stands for a plain
\`\${\`. \`\${file:/run/secrets/name}\` is replaced by the text of that file without its trailing line break.
A string that is one \`\${NAME}\` and nothing else may stand for a number, true or false. A variable that is not set, a key that is not known and a
file with nothing in it are faults; an empty configuration is written \`{}\`. A changed file is read again without a restart. \`SIGHUP\` (\`systemctl reload parley\`) reads everything again, also the files of \`\${file:…}\`. A configuration with faults is refused and the last good configuration stays in force.

\`parley check FILE…\` tells every fault, and warns about what is probably a mistake. With \`--allow-missing-env\` the variables of \`\${NAME}\` need not be set: each is a warning, and its value is not checked. The entry of a key whose name is the secret itself is told as \`keys["***#2"]\`: the second entry of \`keys\`.

For help in an editor, name [configuration.schema.json](configuration.schema.json) at the top of a file:
\`"$schema": "…/docs/configuration.schema.json"\` in JSON, \`# yaml-language-server: $schema=…/docs/configuration.schema.json\` in YAML.
`;

/** The reference of the configuration as Markdown: a table for each key of the top. */
export function configurationReference(): string {
  const sections = Object.entries(readSchema(Configuration).properties ?? {}).map(([key, node]) => {
    const rows = buildRows(key, node).map((row) => `| ${row.map(escapeCell).join(' | ')} |`);
    return [
      `## ${key}`,
      '',
      node.description ?? '',
      '',
      '| Key | Shape | Default | What it is |',
      '|---|---|---|---|',
      ...rows,
      '',
    ].join('\n');
  });
  return [opening, ...sections].join('\n');
}

type Row = readonly [key: string, shape: string, byDefault: string, description: string];

/** A row for each key at and below a place; an object that only holds keys of its own has none itself. */
function buildRows(key: string, node: SchemaNode, isRequired = false): readonly Row[] {
  const below = buildRowsBelow(key, node);
  const row: Row = [`\`${key}\``, describeShape(node), isRequired ? 'required' : formatDefault(node), node.description ?? ''];
  return key.includes('.') || below.length === 0 ? [row, ...below] : below;
}

function buildRowsBelow(key: string, node: SchemaNode): readonly Row[] {
  if (node.anyOf !== undefined) return buildFormRows(key, node.anyOf);
  if (node.items !== undefined) return isObject(node.items) ? buildRowsBelow(`${key}[]`, node.items) : [];
  if (node.additionalProperties) {
    const entry = `${key}.<${node.propertyNames?.title ?? 'name'}>`;
    return isObject(node.additionalProperties) ? buildRowsBelow(entry, node.additionalProperties) : [];
  }
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
  if (discriminator === undefined) return [];
  const values = forms.map((form) => String(form.properties?.[discriminator]?.const));
  const which: Row = [`\`${key}.${discriminator}\``, formatValues(values), 'required', 'Picks the form.'];
  const rows = forms.flatMap((form, index) => {
    const otherProperties = Object.entries(form.properties ?? {}).filter(([name]) => name !== discriminator);
    return buildPropertyRows(key, form, otherProperties).map(
      ([path, shape, byDefault, description]): Row => [path, shape, byDefault, `\`${values[index]}\`: ${description}`],
    );
  });
  return [which, ...rows];
}

function isObject(node: SchemaNode): boolean {
  return node.type === 'object' && (node.properties !== undefined || node.additionalProperties !== undefined);
}

function describeShape(node: SchemaNode): string {
  if (node.enum !== undefined) return formatValues(node.enum.map(String));
  if (node.items !== undefined) return `list of ${plural(node.items)}`;
  if (node.additionalProperties) return `object by ${node.propertyNames?.title ?? 'name'}`;
  if (node.type === 'integer') return 'whole number';
  return node.type === 'boolean' ? 'true or false' : (node.type ?? 'object');
}

function plural(node: SchemaNode): string {
  return `${describeShape(node)}s`;
}

function formatValues(values: readonly string[]): string {
  return values.map((word) => `\`${word}\``).join(', ');
}

function formatDefault({ default: byDefault, properties }: SchemaNode): string {
  if (byDefault === undefined || properties !== undefined) return '';
  return `\`${JSON.stringify(byDefault)}\``;
}

function escapeCell(text: string): string {
  return text.replaceAll('|', '\\|');
}
