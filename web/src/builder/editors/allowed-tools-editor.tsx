import { type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import { usePage } from '../../page/page.tsx';
import { Trouble } from '../../parts/trouble.tsx';
import { type Fault, faultOf } from '../../service/fault.ts';
import type { Service } from '../../service/service.ts';
import { useBuilderWords } from '../words/builder-words.ts';
import type { EditorProps } from './form.ts';
import { FieldGroup } from './frame.tsx';
import { ToolTest } from './tool-test.tsx';
import { tryTool } from './tool-trial.ts';

interface AllowedToolsProps extends Pick<EditorProps, 'value' | 'path' | 'form' | 'label' | 'hint'> {
  /** The entry of the server. */
  readonly toolset: JsonObject;
}

/** The tools of an MCP server, as it offers them now, each to be ticked; ticks of tools that it does not offer stay. */
export function AllowedToolsEditor({ toolset, value, path, form, label }: AllowedToolsProps) {
  const words = useBuilderWords().live;
  const { service } = usePage();
  const { isAsking, list, fault, ask } = useToolList(toolset, form.saved?.id);
  const ticked = Array.isArray(value) ? value.map(String) : undefined;
  const offered = list?.tools ?? [];
  // What is unticked stays in sight, to be ticked again.
  const [before] = useState(ticked ?? []);
  const gone = [...new Set([...before, ...(ticked ?? [])])].filter((name) => !offered.some((tool) => tool.name === name));
  const names = [...offered.map(({ name }) => name), ...gone];
  const change = (next: readonly string[] | undefined): void => form.change(path, next);
  const tick = (name: string, isOn: boolean): void => {
    const now = ticked ?? names;
    change(isOn ? [...now, name] : now.filter((each) => each !== name));
  };
  const { allowed_tools: _ticks, ...whole } = toolset;
  // What is not ticked yet may be tried as well.
  const server = { toolset: { ...whole, name: whole.name || 'MCP' }, application: form.saved?.id };
  const isListed = list !== undefined && list.failure === undefined;
  return (
    <FieldGroup {...{ form, path, label, hint: words.hint, className: 'builder-list' }}>
      <label className="check">
        <input
          type="checkbox"
          checked={ticked === undefined}
          onChange={({ target }) => change(target.checked ? undefined : names)}
        />
        <span>{words.all}</span>
      </label>
      {names.length > 0 && (
        <ul className="builder-operations">
          {offered.map((tool) => (
            <li key={tool.name}>
              <Tick isOn={ticked?.includes(tool.name) ?? true} change={(isOn) => tick(tool.name, isOn)}>
                <Offered tool={tool} />
              </Tick>
              {tool.parameters !== undefined && (
                <ToolTest
                  name={tool.title || tool.name}
                  schema={tool.parameters}
                  isReadOnly={tool.isReadOnly}
                  run={(args, signal) => tryTool(service, { ...server, tool: tool.name, args }, signal)}
                />
              )}
            </li>
          ))}
          {gone.map((name) => (
            <li key={name}>
              <Tick isOn={ticked?.includes(name) ?? true} change={(isOn) => tick(name, isOn)}>
                <span className="builder-card-name">{name}</span>
                {isListed && <span className="soft small">{words.gone}</span>}
              </Tick>
            </li>
          ))}
        </ul>
      )}
      {isListed && list.count > offered.length && <p className="soft small">{words.more(offered.length, list.count)}</p>}
      {ticked?.length === 0 && <p className="trouble">{words.none}</p>}
      {list?.failure !== undefined && <Failure failure={list.failure} />}
      <Trouble fault={fault} />
      <button
        type="button"
        className="button"
        disabled={!hasAddress(toolset)}
        aria-disabled={isAsking}
        onClick={() => !isAsking && ask()}
      >
        {isAsking ? words.asking : list?.failure !== undefined || fault !== undefined ? words.again : words.show}
      </button>
      <span className="heard-only" role="status">
        {isListed ? words.count(list.count) : ''}
      </span>
    </FieldGroup>
  );
}

function hasAddress({ mcp_server_info: server }: JsonObject): boolean {
  return isJsonObject(server) && typeof server.url === 'string' && URL.canParse(server.url);
}

interface TickProps {
  readonly isOn: boolean;
  readonly change: (isOn: boolean) => void;
  readonly children: ReactNode;
}

function Tick({ isOn, change, children }: TickProps) {
  const id = useId();
  return (
    <label className="check" htmlFor={id}>
      <input id={id} type="checkbox" checked={isOn} onChange={({ target }) => change(target.checked)} />
      <span className="builder-operation">{children}</span>
    </label>
  );
}

function Offered({ tool: { name, title, description, isReadOnly, needs, takes } }: { readonly tool: OfferedTool }) {
  const words = useBuilderWords().live;
  return (
    <>
      <span className="builder-card-name">
        {title || name} {title !== '' && <code>{name}</code>} {isReadOnly && <span className="tag">{words.readOnly}</span>}
      </span>
      {description !== '' && <span className="soft small">{description}</span>}
      {needs.length > 0 && <span className="small">{words.needs(needs.join(', '))}</span>}
      {takes.length > 0 && <span className="soft small">{words.takes(takes.join(', '))}</span>}
    </>
  );
}

/** What keeps the server from being used, what to do about it, and folded what it said. */
function Failure({ failure: { reason, message } }: { readonly failure: NonNullable<ToolList['failure']> }) {
  const words = useBuilderWords().live;
  const reasons: Readonly<Record<string, string>> = words.reasons;
  return (
    <div role="alert" className="builder-refusal">
      <p>{Object.hasOwn(reasons, reason) ? reasons[reason] : words.reasons.failed}</p>
      <p className="small">{words.ticksStay}</p>
      <details className="small">
        <summary>{words.details}</summary>
        <p>{message}</p>
      </details>
    </div>
  );
}

interface Asked {
  /** What was asked, as text: another server has other tools. */
  readonly of: string;
  readonly list: ToolList | undefined;
  readonly fault: Fault | undefined;
}

/** What a server offers, once it was asked. */
interface AskedTools {
  readonly isAsking: boolean;
  readonly list: ToolList | undefined;
  readonly fault: Fault | undefined;
  readonly ask: () => void;
}

/** Asks a server for its tools when told to; what it said is forgotten once its settings are others. */
function useToolList(toolset: JsonObject, application: string | undefined): AskedTools {
  const { service } = usePage();
  const [asked, setAsked] = useState<Asked>();
  const [isAsking, setIsAsking] = useState(false);
  const leaving = useRef<AbortController>(undefined);
  useEffect(() => () => leaving.current?.abort(), []);
  const { allowed_tools: _ticks, ...server } = toolset;
  const of = JSON.stringify(server);
  const ask = (): void => {
    leaving.current?.abort();
    const controller = new AbortController();
    leaving.current = controller;
    const tell = (told: Pick<Asked, 'list' | 'fault'>): void => {
      if (controller.signal.aborted) return;
      setAsked({ of, ...told });
      setIsAsking(false);
    };
    setIsAsking(true);
    // One that has no name yet may be asked as well.
    listTools(service, { toolset: { ...server, name: server.name || 'MCP' }, application, signal: controller.signal }).then(
      (list) => tell({ list, fault: undefined }),
      (thrown: unknown) => tell({ list: undefined, fault: faultOf(thrown) }),
    );
  };
  const isOfThis = asked?.of === of;
  return { isAsking, list: isOfThis ? asked.list : undefined, fault: isOfThis ? asked.fault : undefined, ask };
}

/** A tool that a server offers. */
interface OfferedTool {
  readonly name: string;
  /** For people; '' where there is none. */
  readonly title: string;
  readonly description: string;
  readonly isReadOnly: boolean;
  readonly needs: readonly string[];
  readonly takes: readonly string[];
  /** JSON Schema of the arguments; undefined where it was too long to be told. */
  readonly parameters: JsonObject | undefined;
}

/** What a server offers now, or why it cannot be used. */
interface ToolList {
  readonly tools: readonly OfferedTool[];
  /** How many it has. */
  readonly count: number;
  /** `reason` is a word of `failure.reason` (docs/quick-apps.md, MCP servers). */
  readonly failure: { readonly reason: string; readonly message: string } | undefined;
}

interface Asking {
  readonly toolset: JsonObject;
  /** Id of the application as it is stored, whose secrets stand for those that are hidden. */
  readonly application: string | undefined;
  readonly signal: AbortSignal;
}

/** Throws ServiceFault. */
async function listTools(service: Service, { toolset, application, signal }: Asking): Promise<ToolList> {
  const body = { toolset, ...(application !== undefined && { application }) };
  const answer = await service.json('v1/tools/list', { method: 'POST', body, signal });
  const { tools, count, failure } = isJsonObject(answer) ? answer : {};
  return {
    tools: Array.isArray(tools) ? tools.filter(isJsonObject).map(toOffered) : [],
    count: Number(count),
    failure: isJsonObject(failure) ? { reason: String(failure.reason), message: String(failure.message) } : undefined,
  };
}

function toOffered({ name, title, description, parameters, readOnly }: JsonObject): OfferedTool {
  const schema = isJsonObject(parameters) ? parameters : {};
  const needs = Array.isArray(schema.required) ? schema.required.map(String) : [];
  const named = isJsonObject(schema.properties) ? Object.keys(schema.properties) : [];
  return {
    ...{ name: String(name), title: String(title), description: String(description), isReadOnly: readOnly === true },
    ...{ needs, takes: named.filter((each) => !needs.includes(each)) },
    parameters: isJsonObject(parameters) ? parameters : undefined,
  };
}
