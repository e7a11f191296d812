import { Fragment } from 'react';
import { filterObjects, isJsonObject, type JsonObject, toObject, toText } from '#base/json/json.ts';
import type { Path } from '#contract/configuration/issue.ts';
import { Icon } from '../../parts/icon.tsx';
import { usePage } from '../../shell/page.tsx';
import { useBuilderStrings, useSchemaTranslation } from '../builder-strings.ts';
import { getValueAt, withValueAt } from '../entry-parts.ts';
import { AllowedToolsEditor } from './allowed-tools-editor.tsx';
import type { BuilderForm, EditorProps } from './form.ts';
import { toOperation } from './operation-line.tsx';
import { formKeywords, type Property } from './shape.ts';
import { runTool, ToolTest } from './tool-test.tsx';

/** Description of a property that is accepted only for compatibility. */
const noEffect = 'Has no effect.';

/** The properties of an object. Constants are not shown. */
export function Properties({
  properties,
  value,
  path,
  form,
}: Omit<EditorProps, 'schema' | 'isRequired' | 'label' | 'hint'> & { readonly properties: readonly Property[] }) {
  const strings = useBuilderStrings();
  const translate = useSchemaTranslation();
  const object = toObject(value);
  const visibleProperties = properties.filter(
    ({ name, schema }) => schema.description !== noEffect || Object.hasOwn(object, name),
  );
  const renderProperty = ({ name, schema, isRequired }: Property) => (
    <Fragment key={name}>
      <PropertyEditor
        {...{ schema, form, isRequired }}
        value={Object.hasOwn(object, name) ? object[name] : undefined}
        path={[...path, name]}
        label={translate(getTitle(schema, name))}
        hint={translate(toText(schema.description))}
        parent={object}
      />
      {(name === 'open_ai_tool' || (name === 'parameters' && isObsoleteOperation(path))) && (
        <OperationTest tool={object} {...{ path, form }} />
      )}
      {name === 'rest_api_method_info' && <UnfilledPlaceholders tool={object} {...{ path, form }} />}
    </Fragment>
  );
  const collapsed = visibleProperties.filter(({ schema }) => schema[formKeywords.collapsed] === true);
  const usedCount = collapsed.filter(({ name }) => Object.hasOwn(object, name)).length;
  return (
    <>
      {visibleProperties.filter((property) => !collapsed.includes(property)).map(renderProperty)}
      {collapsed.length > 0 && (
        <details className="more-settings">
          <summary>
            <Icon name="right" />
            {strings.moreSettings}
            {usedCount > 0 && <span className="soft small"> ({usedCount})</span>}
          </summary>
          <div className="builder-card-body">{collapsed.map(renderProperty)}</div>
        </details>
      )}
    </>
  );
}

/** The editor of one property. The tool selection of an MCP server also needs its other properties. */
function PropertyEditor({ parent, ...props }: EditorProps & { readonly parent: JsonObject }) {
  if (props.path.at(-1) === 'allowed_tools') return <AllowedToolsEditor {...props} toolset={parent} />;
  return <props.form.Value {...props} />;
}

/** Returns the title of a property, or its name if it has no title. */
export function getTitle(schema: JsonObject, name: string): string {
  return toText(schema.title) || name;
}

interface OperationProps {
  /** One operation of a web API. */
  readonly tool: JsonObject;
  /** Path of the operation within the tools of its web API. */
  readonly path: Path;
  readonly form: BuilderForm;
}

/** Runs one operation of a web API with the values of the form. */
function OperationTest({ tool, path, form }: OperationProps) {
  const { service } = usePage();
  const isObsolete = isObsoleteOperation(path);
  const name = isObsolete ? String(tool.name ?? '') : (toOperation(tool)?.name ?? '');
  if (name === '') return null;
  return (
    <ToolTest
      name={name}
      schema={isObsolete ? toObsoleteSchema(tool.parameters) : withoutFixedParameters(getValueAt(tool, parametersPath))}
      run={(args, signal) => {
        const parentToolset = form.getValue(path.slice(0, -2));
        // Other operations may be incomplete.
        const toolset = { ...toObject(parentToolset), [isObsolete ? obsoleteKey : 'tools']: [tool] };
        return runTool(service, { toolset, tool: name, args, application: form.stored?.id }, signal);
      }}
    />
  );
}

const obsoleteKey = 'tool_endpoints';
const parametersPath = ['open_ai_tool', 'function', 'parameters'];

/** Returns whether a path leads to an operation in the obsolete format. */
function isObsoleteOperation(path: Path): boolean {
  return path.at(-2) === obsoleteKey;
}

/** Converts parameters of the obsolete format to a schema. Omits parameters with a fixed value, and requires the rest. */
function toObsoleteSchema(parameters: unknown): object {
  const requested = filterObjects(parameters).filter(({ constant_value: fixed }) => fixed === undefined || fixed === null);
  const properties = requested.map(({ name, description, parameter_type: type }) => [String(name), { type, description }]);
  return { type: 'object', properties: Object.fromEntries(properties), required: requested.map(({ name }) => String(name)) };
}

/** Returns the schema without the parameters that have a fixed value. */
function withoutFixedParameters(parameters: unknown): object {
  const { properties, required }: JsonObject = toObject(parameters);
  const all = isJsonObject(properties) ? Object.entries(properties) : [];
  const requested = Object.fromEntries(
    all.filter(([, property]) => !(isJsonObject(property) && Object.hasOwn(property, 'const'))),
  );
  const requiredNames = Array.isArray(required) ? required.filter((name) => Object.hasOwn(requested, String(name))) : [];
  return { type: 'object', properties: requested, required: requiredNames };
}

/** Lists address placeholders, such as `{id}`, that no parameter fills, and offers to add the parameters. */
function UnfilledPlaceholders({ tool, path, form }: OperationProps) {
  const strings = useBuilderStrings();
  const parameters = getValueAt(tool, parametersPath);
  const add = (name: string): void => {
    const required = isJsonObject(parameters) && Array.isArray(parameters.required) ? parameters.required : [];
    const withRequired = withValueAt(withValueAt(parameters, ['type'], 'object'), ['required'], [...required, name]);
    form.change(
      [...path, ...parametersPath],
      withValueAt(withRequired, ['properties', name], { type: 'string', description: '' }),
    );
  };
  return findUnfilledPlaceholders(tool).map((name) => (
    <div key={name} className="row">
      <p className="error-text" role="status">
        {strings.unfilledPlaceholder(name)}
      </p>
      <button type="button" className="button slim" onClick={() => add(name)}>
        <Icon name="plus" />
        {strings.addParameterNamed(name)}
      </button>
    </div>
  ));
}

function findUnfilledPlaceholders(tool: JsonObject): readonly string[] {
  const address = getValueAt(tool, ['rest_api_method_info', 'method_url']);
  if (typeof address !== 'string') return [];
  const properties = getValueAt(tool, [...parametersPath, 'properties']);
  const filledNames = new Set(isJsonObject(properties) ? Object.entries(properties).map(getPlaceholderName) : []);
  const placeholders = Array.from(address.matchAll(/\{([^{}/?#]+)\}/g), ([, name = '']) => name);
  return [...new Set(placeholders)].filter((name) => !filledNames.has(name));
}

/** Returns the placeholder that a parameter fills in an address. */
function getPlaceholderName([name, property]: readonly [string, unknown]): string {
  const key = getValueAt(property, ['parameter_info', 'key']);
  return typeof key === 'string' ? key : name;
}
