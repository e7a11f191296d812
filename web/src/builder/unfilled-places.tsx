import { isJsonObject, type JsonObject } from '#base/json.ts';
import type { Path } from '#contract/configuration/fault.ts';
import { Icon } from '../parts/icon.tsx';
import { useBuilderWords } from './builder-words.ts';
import { valueAt, withValueAt } from './draft.ts';
import type { BuilderForm } from './form.ts';

interface UnfilledPlacesProps {
  /** One operation of a web API. */
  readonly tool: JsonObject;
  readonly path: Path;
  readonly form: BuilderForm;
}

const request = 'rest_api_method_info';
const parametersPath = ['open_ai_tool', 'function', 'parameters'];

/** Says which places of an address, such as `{id}`, no parameter fills, and offers to make it. */
export function UnfilledPlaces({ tool, path, form }: UnfilledPlacesProps) {
  const words = useBuilderWords();
  const parameters = valueAt(tool, parametersPath);
  const add = (name: string): void => {
    const required = isJsonObject(parameters) && Array.isArray(parameters.required) ? parameters.required : [];
    const typed = withValueAt(withValueAt(parameters, ['type'], 'object'), ['required'], [...required, name]);
    form.change([...path, ...parametersPath], withValueAt(typed, ['properties', name], { type: 'string', description: '' }));
  };
  return unfilled(tool).map((name) => (
    <div key={name} className="row">
      <p className="trouble" role="status">
        {words.unfilledPlace(name)}
      </p>
      <button type="button" className="button slim" onClick={() => add(name)}>
        <Icon name="plus" />
        {words.addParameterNamed(name)}
      </button>
    </div>
  ));
}

function unfilled(tool: JsonObject): readonly string[] {
  const address = valueAt(tool, [request, 'method_url']);
  if (typeof address !== 'string') return [];
  const properties = valueAt(tool, [...parametersPath, 'properties']);
  const given = new Set(isJsonObject(properties) ? Object.entries(properties).flatMap(namesOf) : []);
  const places = Array.from(address.matchAll(/\{([^{}/?#]+)\}/g), ([, name = '']) => name);
  return [...new Set(places)].filter((name) => !given.has(name));
}

/** What a parameter is called in an address. */
function namesOf([name, property]: readonly [string, unknown]): readonly string[] {
  const key = valueAt(property, ['parameter_info', 'key']);
  return typeof key === 'string' ? [key] : [name];
}
