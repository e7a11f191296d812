import { Fragment } from 'react';
import { isJsonObject, type JsonObject } from '#base/json.ts';
import { AllowedToolsEditor } from './allowed-tools-editor.tsx';
import type { EditorProps } from './form.ts';
import { isObsoleteOperation, OperationTest } from './operation-test.tsx';
import { useSchemaWords } from './schema-words.ts';
import type { Property as ShapeProperty } from './shape.ts';
import { UnfilledPlaces } from './unfilled-places.tsx';

/** What the schema says of a property that is taken for the sake of others, and is of no use to who fills in a form. */
const idle = 'Has no effect.';

/** The properties of an object, one below the other; what is always the same is not shown. */
export function Properties({
  properties,
  value,
  path,
  form,
}: Omit<EditorProps, 'schema' | 'isRequired' | 'label' | 'hint'> & { readonly properties: readonly ShapeProperty[] }) {
  const say = useSchemaWords();
  const object = isJsonObject(value) ? value : {};
  const drawn = properties.filter(({ name, schema }) => schema.description !== idle || Object.hasOwn(object, name));
  return drawn.map(({ name, schema, isRequired }) => (
    <Fragment key={name}>
      <Property
        {...{ schema, form, isRequired }}
        value={Object.hasOwn(object, name) ? object[name] : undefined}
        path={[...path, name]}
        label={say(titleOf(schema, name))}
        hint={say(textOf(schema.description))}
        within={object}
      />
      {(name === 'open_ai_tool' || (name === 'parameters' && isObsoleteOperation(path))) && (
        <OperationTest tool={object} {...{ path, form }} />
      )}
      {name === 'rest_api_method_info' && <UnfilledPlaces tool={object} {...{ path, form }} />}
    </Fragment>
  ));
}

/** What is chosen among the tools of a server needs the server. */
function Property({ within, ...props }: EditorProps & { readonly within: JsonObject }) {
  if (props.path.at(-1) === 'allowed_tools') return <AllowedToolsEditor {...props} toolset={within} />;
  return <props.form.Value {...props} />;
}

export function titleOf(schema: JsonObject, name: string): string {
  return textOf(schema.title) || name;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
