import { type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { filterObjects, isJsonObject, type JsonObject, toObject } from '#base/json/json.ts';
import { ErrorMessage } from '../../parts/error-message.tsx';
import type { Service } from '../../service/service.ts';
import { type ErrorDetails, toErrorDetails } from '../../service/service-error.ts';
import { usePage } from '../../shell/page.tsx';
import { useBuilderStrings } from '../builder-strings.ts';
import type { EditorProps } from './form.ts';
import { FieldGroup } from './frame.tsx';
import { runTool, ToolTest } from './tool-test.tsx';

interface AllowedToolsProps extends Pick<EditorProps, 'value' | 'path' | 'form' | 'label'> {
  /** Settings of the MCP server. */
  readonly toolset: JsonObject;
}

/** Checkboxes for the tools that an MCP server currently offers. Selected tools that it does not offer stay listed. */
export function AllowedToolsEditor({ toolset, value, path, form, label }: AllowedToolsProps) {
  const strings = useBuilderStrings().mcpTools;
  const { service } = usePage();
  const { allowed_tools: _allowedTools, ...settings } = toolset;
  // The service requires a name.
  const server = { toolset: { ...settings, name: settings.name || 'MCP' }, application: form.stored?.id };
  const { isLoading, list, error, load } = useToolList(server);
  const selected = Array.isArray(value) ? value.map(String) : undefined;
  const offeredTools = list?.tools ?? [];
  // A deselected tool stays visible, so that it can be selected again.
  const [initiallySelected] = useState(selected ?? []);
  const missingNames = [...new Set([...initiallySelected, ...(selected ?? [])])].filter(
    (name) => !offeredTools.some((tool) => tool.name === name),
  );
  const names = [...offeredTools.map(({ name }) => name), ...missingNames];
  const change = (next: readonly string[] | undefined): void => form.change(path, next);
  const setSelected = (name: string, isSelected: boolean): void => {
    const current = selected ?? names;
    change(isSelected ? [...current, name] : current.filter((selectedName) => selectedName !== name));
  };
  const isLoaded = list !== undefined && list.failure === undefined;
  return (
    <FieldGroup {...{ form, path, label, hint: strings.hint, className: 'builder-list' }}>
      <label className="check">
        <input
          type="checkbox"
          checked={selected === undefined}
          onChange={({ target }) => change(target.checked ? undefined : names)}
        />
        <span>{strings.all}</span>
      </label>
      {names.length > 0 && (
        <ul className="builder-operations">
          {offeredTools.map((tool) => (
            <li key={tool.name}>
              <ToolCheckbox
                isSelected={selected?.includes(tool.name) ?? true}
                change={(isSelected) => setSelected(tool.name, isSelected)}
              >
                <OfferedToolView tool={tool} />
              </ToolCheckbox>
              {tool.parameters !== undefined && (
                <ToolTest
                  name={tool.title || tool.name}
                  schema={tool.parameters}
                  isReadOnly={tool.isReadOnly}
                  run={(args, signal) => runTool(service, { ...server, tool: tool.name, args }, signal)}
                />
              )}
            </li>
          ))}
          {missingNames.map((name) => (
            <li key={name}>
              <ToolCheckbox isSelected={selected?.includes(name) ?? true} change={(isSelected) => setSelected(name, isSelected)}>
                <span className="builder-card-name">{name}</span>
                {isLoaded && <span className="soft small">{strings.notOffered}</span>}
              </ToolCheckbox>
            </li>
          ))}
        </ul>
      )}
      {isLoaded && list.count > offeredTools.length && (
        <p className="soft small">{strings.truncated(offeredTools.length, list.count)}</p>
      )}
      {selected?.length === 0 && <p className="error-text">{strings.noneSelected}</p>}
      {list?.failure !== undefined && <Failure failure={list.failure} />}
      <ErrorMessage error={error} />
      <button
        type="button"
        className="button"
        disabled={!hasAddress(toolset)}
        aria-disabled={isLoading}
        onClick={() => !isLoading && load()}
      >
        {isLoading ? strings.loading : list?.failure !== undefined || error !== undefined ? strings.again : strings.show}
      </button>
      <span className="visually-hidden" role="status">
        {isLoaded ? strings.count(list.count) : ''}
      </span>
    </FieldGroup>
  );
}

function hasAddress({ mcp_server_info: server }: JsonObject): boolean {
  return isJsonObject(server) && typeof server.url === 'string' && URL.canParse(server.url);
}

interface ToolCheckboxProps {
  readonly isSelected: boolean;
  readonly change: (isSelected: boolean) => void;
  readonly children: ReactNode;
}

function ToolCheckbox({ isSelected, change, children }: ToolCheckboxProps) {
  const id = useId();
  return (
    <label className="check" htmlFor={id}>
      <input id={id} type="checkbox" checked={isSelected} onChange={({ target }) => change(target.checked)} />
      <span className="builder-operation">{children}</span>
    </label>
  );
}

function OfferedToolView({ tool: { name, title, description, isReadOnly, required, optional } }: { readonly tool: OfferedTool }) {
  const strings = useBuilderStrings().mcpTools;
  return (
    <>
      <span className="builder-card-name">
        {title || name} {title !== '' && <code>{name}</code>} {isReadOnly && <span className="tag">{strings.readOnly}</span>}
      </span>
      {description !== '' && <span className="soft small">{description}</span>}
      {required.length > 0 && <span className="small">{strings.required(required.join(', '))}</span>}
      {optional.length > 0 && <span className="soft small">{strings.optional(optional.join(', '))}</span>}
    </>
  );
}

/** Explains why the server cannot be used, and suggests an action. Shows the error message in a collapsed section. */
function Failure({ failure: { reason, message } }: { readonly failure: NonNullable<ToolList['failure']> }) {
  const strings = useBuilderStrings().mcpTools;
  const reasons: Readonly<Record<string, string>> = strings.reasons;
  return (
    <div role="alert" className="builder-alert">
      <p>{Object.hasOwn(reasons, reason) ? reasons[reason] : strings.reasons.failed}</p>
      <p className="small">{strings.selectionUnchanged}</p>
      <details className="small">
        <summary>{strings.details}</summary>
        <p>{message}</p>
      </details>
    </div>
  );
}

interface LoadedTools {
  /** Settings of the server as JSON. The tools are valid only for these settings. */
  readonly key: string;
  readonly list: ToolList | undefined;
  readonly error: ErrorDetails | undefined;
}

/** Requests the tools of a server when `load` is called. A change of its settings discards the result. */
function useToolList(server: Server) {
  const { service } = usePage();
  const [loaded, setLoaded] = useState<LoadedTools>();
  const [isLoading, setIsLoading] = useState(false);
  const abortController = useRef<AbortController>(undefined);
  useEffect(() => () => abortController.current?.abort(), []);
  const key = JSON.stringify(server.toolset);
  const load = (): void => {
    abortController.current?.abort();
    const controller = new AbortController();
    abortController.current = controller;
    const onLoaded = (result: Pick<LoadedTools, 'list' | 'error'>): void => {
      if (controller.signal.aborted) return;
      setLoaded({ key, ...result });
      setIsLoading(false);
    };
    setIsLoading(true);
    listTools(service, server, controller.signal).then(
      (list) => onLoaded({ list, error: undefined }),
      (error: unknown) => onLoaded({ list: undefined, error: toErrorDetails(error) }),
    );
  };
  const isCurrent = loaded?.key === key;
  return { isLoading, list: isCurrent ? loaded.list : undefined, error: isCurrent ? loaded.error : undefined, load };
}

interface OfferedTool {
  readonly name: string;
  /** Display title. '' if there is none. */
  readonly title: string;
  readonly description: string;
  readonly isReadOnly: boolean;
  readonly required: readonly string[];
  readonly optional: readonly string[];
  /** JSON Schema of the arguments. Undefined if it was too long to be sent. */
  readonly parameters: JsonObject | undefined;
}

/** Tools of a server, or the reason why it cannot be used. */
interface ToolList {
  readonly tools: readonly OfferedTool[];
  /** Total number of tools. */
  readonly count: number;
  /** `reason` is a value of `failure.reason` (docs/quick-apps.md, MCP servers). */
  readonly failure: { readonly reason: string; readonly message: string } | undefined;
}

/** An MCP server of the form. */
interface Server {
  /** Settings without the tool selection, so that the user can list and test every tool. */
  readonly toolset: JsonObject;
  /** ID of the stored application, whose secrets replace the hidden ones. */
  readonly application: string | undefined;
}

/** Lists the tools of a server. Throws `ServiceError`. */
async function listTools(service: Service, { toolset, application }: Server, signal: AbortSignal): Promise<ToolList> {
  const body = { toolset, ...(application !== undefined && { application }) };
  const answer = await service.json('v1/tools/list', { method: 'POST', body, signal });
  const { tools, count, failure } = toObject(answer);
  return {
    tools: filterObjects(tools).map(toOfferedTool),
    count: Number(count),
    failure: isJsonObject(failure) ? { reason: String(failure.reason), message: String(failure.message) } : undefined,
  };
}

function toOfferedTool({ name, title, description, parameters, readOnly }: JsonObject): OfferedTool {
  const schema = toObject(parameters);
  const required = Array.isArray(schema.required) ? schema.required.map(String) : [];
  const propertyNames = isJsonObject(schema.properties) ? Object.keys(schema.properties) : [];
  return {
    ...{ name: String(name), title: String(title), description: String(description), isReadOnly: readOnly === true },
    ...{ required, optional: propertyNames.filter((propertyName) => !required.includes(propertyName)) },
    parameters: isJsonObject(parameters) ? parameters : undefined,
  };
}
