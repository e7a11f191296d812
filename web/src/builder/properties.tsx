import { isJsonObject, type JsonObject } from '#base/json.ts';
import type { EditorProps } from './form.ts';
import { useSchemaWords } from './schema-words.ts';
import type { Property } from './shape.ts';

/** The properties of an object, one below the other; what is always the same is not shown. */
export function Properties({
  properties,
  value,
  path,
  form,
}: Omit<EditorProps, 'schema' | 'isRequired' | 'label' | 'hint'> & { readonly properties: readonly Property[] }) {
  const say = useSchemaWords();
  const object = isJsonObject(value) ? value : {};
  return properties.map(({ name, schema, isRequired }) => (
    <form.Value
      key={name}
      {...{ schema, form, isRequired }}
      value={Object.hasOwn(object, name) ? object[name] : undefined}
      path={[...path, name]}
      label={say(titleOf(schema, name))}
      hint={say(textOf(schema.description))}
    />
  ));
}

export function titleOf(schema: JsonObject, name: string): string {
  return textOf(schema.title) || name;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
