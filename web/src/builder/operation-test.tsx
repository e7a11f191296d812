import { isJsonObject, type JsonObject } from '#base/json.ts';
import type { Path } from '#contract/configuration/fault.ts';
import { usePage } from '../page/page.tsx';
import { valueAt } from './draft.ts';
import type { BuilderForm } from './form.ts';
import { toOperation } from './operation-line.tsx';
import { ToolTest } from './tool-test.tsx';
import { tryTool } from './tool-trial.ts';

interface OperationTestProps {
  /** One operation of a web API. */
  readonly tool: JsonObject;
  /** Of the operation, within the tools of its web API. */
  readonly path: Path;
  readonly form: BuilderForm;
}

/** Runs one operation of a web API, as it stands in the form. */
export function OperationTest({ tool, path, form }: OperationTestProps) {
  const { service } = usePage();
  const isObsolete = isObsoleteOperation(path);
  const name = isObsolete ? String(tool.name ?? '') : (toOperation(tool)?.name ?? '');
  if (name === '') return null;
  return (
    <ToolTest
      name={name}
      schema={
        isObsolete ? toObsoleteSchema(tool.parameters) : toSchema(valueAt(tool, ['open_ai_tool', 'function', 'parameters']))
      }
      run={(args, signal) => {
        const around = form.read(path.slice(0, -2));
        // Other operations may be half written.
        const toolset = { ...(isJsonObject(around) ? around : {}), [isObsolete ? obsolete : 'tools']: [tool] };
        return tryTool(service, { toolset, tool: name, args, application: form.saved?.id }, signal);
      }}
    />
  );
}

const obsolete = 'tool_endpoints';

/** Whether a path leads to an operation of a web API in the obsolete form. */
export function isObsoleteOperation(path: Path): boolean {
  return path.at(-2) === obsolete;
}

/** Parameters of the obsolete form as a schema; all that are not fixed are needed. */
function toObsoleteSchema(parameters: unknown): object {
  const listed = Array.isArray(parameters) ? parameters.filter(isJsonObject) : [];
  const open = listed.filter(({ constant_value }) => constant_value === undefined || constant_value === null);
  const properties = open.map(({ name, description, parameter_type: type }) => [String(name), { type, description }]);
  return { type: 'object', properties: Object.fromEntries(properties), required: open.map(({ name }) => String(name)) };
}

/** What is fixed is not asked for. */
function toSchema(parameters: unknown): object {
  const { properties, required }: JsonObject = isJsonObject(parameters) ? parameters : {};
  const all = isJsonObject(properties) ? Object.entries(properties) : [];
  const open = all.filter(([, property]) => !(isJsonObject(property) && Object.hasOwn(property, 'const')));
  const needed = Array.isArray(required) ? required.filter((name) => open.some(([each]) => each === name)) : [];
  return { type: 'object', properties: Object.fromEntries(open), required: needed };
}
