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
  const name = toOperation(tool)?.name ?? '';
  if (name === '') return null;
  return (
    <ToolTest
      name={name}
      schema={toSchema(valueAt(tool, ['open_ai_tool', 'function', 'parameters']))}
      run={(args, signal) => {
        const around = form.read(path.slice(0, -2));
        // Other operations may be half written.
        const toolset = { ...(isJsonObject(around) ? around : {}), tools: [tool] };
        return tryTool(service, { toolset, tool: name, args, application: form.saved?.id }, signal);
      }}
    />
  );
}

/** What is fixed is not asked for. */
function toSchema(parameters: unknown): object {
  const { properties, required }: JsonObject = isJsonObject(parameters) ? parameters : {};
  const all = isJsonObject(properties) ? Object.entries(properties) : [];
  const open = all.filter(([, property]) => !(isJsonObject(property) && Object.hasOwn(property, 'const')));
  const needed = Array.isArray(required) ? required.filter((name) => open.some(([each]) => each === name)) : [];
  return { type: 'object', properties: Object.fromEntries(open), required: needed };
}
