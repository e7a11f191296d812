import { Configuration } from '#contract/configuration/configuration.ts';
import { discriminatorOf, readSchema, type SchemaNode } from '#contract/configuration/schema-node.ts';

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
    const rows = rowsOf(key, node).map((row) => `| ${row.map(inCell).join(' | ')} |`);
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
function rowsOf(key: string, node: SchemaNode, isRequired = false): readonly Row[] {
  const below = rowsBelow(key, node);
  const row: Row = [`\`${key}\``, shapeOf(node), isRequired ? 'required' : sayDefault(node), node.description ?? ''];
  return key.includes('.') || below.length === 0 ? [row, ...below] : below;
}

function rowsBelow(key: string, node: SchemaNode): readonly Row[] {
  if (node.anyOf !== undefined) return rowsOfForms(key, node.anyOf);
  if (node.items !== undefined) return isObject(node.items) ? rowsBelow(`${key}[]`, node.items) : [];
  if (node.additionalProperties) {
    const entry = `${key}.<${node.propertyNames?.title ?? 'name'}>`;
    return isObject(node.additionalProperties) ? rowsBelow(entry, node.additionalProperties) : [];
  }
  return rowsOfProperties(key, node, Object.entries(node.properties ?? {}));
}

function rowsOfProperties(key: string, node: SchemaNode, properties: readonly (readonly [string, SchemaNode])[]): readonly Row[] {
  return properties.flatMap(([name, property]) => {
    const isRequired = (node.required ?? []).includes(name) && property.default === undefined;
    return rowsOf(`${key}.${name}`, property, isRequired);
  });
}

function rowsOfForms(key: string, forms: readonly SchemaNode[]): readonly Row[] {
  const discriminator = discriminatorOf(forms);
  if (discriminator === undefined) return [];
  const words = forms.map((form) => String(form.properties?.[discriminator]?.const));
  const which: Row = [`\`${key}.${discriminator}\``, inWords(words), 'required', 'Picks the form.'];
  const rows = forms.flatMap((form, index) => {
    const others = Object.entries(form.properties ?? {}).filter(([name]) => name !== discriminator);
    return rowsOfProperties(key, form, others).map(
      ([path, shape, byDefault, description]): Row => [path, shape, byDefault, `\`${words[index]}\`: ${description}`],
    );
  });
  return [which, ...rows];
}

function isObject(node: SchemaNode): boolean {
  return node.type === 'object' && (node.properties !== undefined || node.additionalProperties !== undefined);
}

function shapeOf(node: SchemaNode): string {
  if (node.enum !== undefined) return inWords(node.enum.map(String));
  if (node.items !== undefined) return `list of ${plural(node.items)}`;
  if (node.additionalProperties) return `object by ${node.propertyNames?.title ?? 'name'}`;
  if (node.type === 'integer') return 'whole number';
  return node.type === 'boolean' ? 'true or false' : (node.type ?? 'object');
}

function plural(node: SchemaNode): string {
  return `${shapeOf(node)}s`;
}

function inWords(words: readonly string[]): string {
  return words.map((word) => `\`${word}\``).join(', ');
}

function sayDefault({ default: byDefault, properties }: SchemaNode): string {
  if (byDefault === undefined || properties !== undefined) return '';
  return `\`${JSON.stringify(byDefault)}\``;
}

function inCell(text: string): string {
  return text.replaceAll('|', '\\|');
}
