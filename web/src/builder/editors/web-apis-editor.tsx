import { type FormEvent, useEffect, useId, useRef, useState } from 'react';
import { filterObjects, isJsonObject, type JsonObject, toObject } from '#base/json/json.ts';
import { useAction } from '../../parts/use-loaded.ts';
import { usePage } from '../../shell/page.tsx';
import { describeError } from '../../strings/describe-error.ts';
import { useStrings } from '../../strings/strings.tsx';
import { useBuilderStrings } from '../builder-strings.ts';
import { getItemName } from '../entry-parts.ts';
import type { EditorProps } from './form.ts';
import { ListEditor } from './list-editor.tsx';
import { OperationLine, toOperation } from './operation-line.tsx';
import { clearSecrets, getInitialItem, toShape } from './shape.ts';

interface ImportResult {
  readonly toolsets: readonly JsonObject[];
  readonly notes: readonly string[];
}

/** Web APIs, entered manually or imported from an OpenAPI document. */
export function WebApisEditor(props: EditorProps) {
  const { schema, value, path, form } = props;
  const { newWebApi } = useBuilderStrings();
  const shape = toShape(schema);
  const items: readonly unknown[] = Array.isArray(value) ? value : [];
  if (shape.kind !== 'list') return null;
  /** Returns whether a secret is a placeholder from the document. */
  const isPlaceholder = (secret: string): boolean => /^\$\{\w+\}$/.test(secret);
  const addToolsets = (toolsets: readonly JsonObject[]): void => {
    form.change(path, [...items, ...toolsets.map((toolset) => clearSecrets(shape.item, toolset, isPlaceholder))]);
  };
  const first = getInitialItem(shape.item);
  const initialValue = isJsonObject(first) && { ...first, name: findUnusedName(newWebApi, items.map(getItemName)) };
  return (
    <ListEditor
      {...props}
      item={shape.item}
      {...(initialValue && { initialValue })}
      alternative={<OpenApiImport onImport={addToolsets} />}
    />
  );
}

/** Returns `New web API`, `New web API 2`, and so on. */
function findUnusedName(name: string, usedNames: readonly string[]): string {
  const names = [name, ...usedNames.map((_, index) => `${name} ${index + 2}`)];
  return names.find((candidate) => !usedNames.includes(candidate)) ?? name;
}

function OpenApiImport({ onImport }: { readonly onImport: (toolsets: readonly JsonObject[]) => void }) {
  const strings = useStrings();
  const builderStrings = useBuilderStrings();
  const { service, announce } = usePage();
  const [url, setUrl] = useState('');
  const [text, setText] = useState('');
  const { error, isRunning: isReading, run } = useAction();
  const [imported, setImported] = useState<ImportResult>();
  const [status, setStatus] = useState('');
  const id = useId();
  const readDocument = (event: FormEvent): void => {
    event.preventDefault();
    setImported(undefined);
    setStatus('');
    const body = { ...(url.trim() !== '' && { url: url.trim() }), ...(text.trim() !== '' && { document: text }) };
    void run(async () => setImported(toImportResult(await service.json('v1/import-openapi', { method: 'POST', body }))));
  };
  const addOperations = (toolsets: readonly JsonObject[], count: number): void => {
    onImport(toolsets);
    setImported(undefined);
    setStatus(builderStrings.operationsAdded(count));
    announce(builderStrings.operationsAdded(count));
  };
  // Moves the focus from the button, which disappears. In an effect, the new cards already have their height for scrolling.
  useEffect(() => (status === '' ? undefined : document.getElementById(`${id}-read`)?.focus()), [id, status]);
  const errorProps = error !== undefined && { 'aria-invalid': true, 'aria-describedby': `${id}-error` };
  return (
    <details className="builder-import">
      <summary className="quiet-link">{builderStrings.importOpenApi}</summary>
      <form className="builder-card-body" onSubmit={readDocument}>
        <label htmlFor={`${id}-url`}>{builderStrings.documentUrl}</label>
        <input
          {...errorProps}
          {...{ id: `${id}-url`, inputMode: 'url', value: url, placeholder: 'https://' }}
          onChange={({ target }) => setUrl(target.value)}
        />
        <label htmlFor={`${id}-text`}>{builderStrings.documentText}</label>
        <textarea
          {...errorProps}
          {...{ id: `${id}-text`, rows: 5, className: 'code', spellCheck: false, value: text }}
          onChange={({ target }) => setText(target.value)}
        />
        {error !== undefined && (
          <p className="error-text" role="alert" id={`${id}-error`}>
            {describeError(error, strings)}
          </p>
        )}
        <div className="row">
          <button
            type="submit"
            id={`${id}-read`}
            className="button"
            disabled={isReading || (url.trim() === '' && text.trim() === '')}
          >
            {isReading ? builderStrings.reading : builderStrings.readDocument}
          </button>
          {status !== '' && <span className="small">{status}</span>}
        </div>
      </form>
      {imported !== undefined && <Operations imported={imported} onAdd={addOperations} />}
    </details>
  );
}

interface OperationsProps {
  readonly imported: ImportResult;
  readonly onAdd: (toolsets: readonly JsonObject[], count: number) => void;
}

function isReadOnly(tool: unknown): boolean {
  const method = toOperation(tool)?.method ?? '';
  return method === 'GET' || method === 'HEAD';
}

/** Checkboxes for the operations of an OpenAPI document. */
function Operations({ imported: { toolsets, notes }, onAdd }: OperationsProps) {
  const builderStrings = useBuilderStrings();
  const all = toolsets.flatMap((toolset, toolsetIndex) =>
    filterObjects(toolset.tools).map((tool, index) => ({ key: `${toolsetIndex} ${index}`, tool })),
  );
  // Operations that may change data are added only if the user selects them.
  const [excludedKeys, setExcludedKeys] = useState<ReadonlySet<string>>(
    () => new Set(all.filter(({ tool }) => !isReadOnly(tool)).map(({ key }) => key)),
  );
  const list = useRef<HTMLDivElement>(null);
  // The method returns a promise in newer browsers, which must not become the cleanup of the effect.
  useEffect(() => void list.current?.scrollIntoView({ block: 'nearest' }), []);
  const count = all.filter(({ key }) => !excludedKeys.has(key)).length;
  const listSelectedToolsets = (): readonly JsonObject[] =>
    toolsets.flatMap((toolset, toolsetIndex) => {
      const tools = filterObjects(toolset.tools).filter((_, index) => !excludedKeys.has(`${toolsetIndex} ${index}`));
      return tools.length === 0 ? [] : [{ ...toolset, tools }];
    });
  const toggle = (key: string): void =>
    setExcludedKeys((keys) => new Set(keys.has(key) ? [...keys].filter((item) => item !== key) : [...keys, key]));
  return (
    <div className="builder-card-body" ref={list}>
      {all.length === 0 ? (
        <p>{builderStrings.noOperations}</p>
      ) : (
        <fieldset className="builder-operations">
          <legend>{builderStrings.operations}</legend>
          {all.map(({ key, tool }) => (
            <label key={key} className="check">
              <input type="checkbox" checked={!excludedKeys.has(key)} onChange={() => toggle(key)} />
              <ImportedOperation tool={tool} />
            </label>
          ))}
        </fieldset>
      )}
      {notes.length > 0 && (
        <div className="soft small">
          <p>{builderStrings.importNotes}</p>
          <ul className="builder-notes">
            {notes.map((note) => (
              <li key={note}>{note}</li>
            ))}
          </ul>
        </div>
      )}
      {all.length > 0 && (
        <div className="row">
          <button
            type="button"
            className="button primary"
            disabled={count === 0}
            onClick={() => onAdd(listSelectedToolsets(), count)}
          >
            {builderStrings.addOperations(count)}
          </button>
        </div>
      )}
    </div>
  );
}

function ImportedOperation({ tool }: { readonly tool: JsonObject }) {
  const operation = toOperation(tool);
  if (operation === undefined) return null;
  return (
    <span className="builder-operation" title={operation.address}>
      <OperationLine operation={operation} fallback={operation.address} />
    </span>
  );
}

function toImportResult(answer: unknown): ImportResult {
  const { toolsets, notes } = toObject(answer);
  return { toolsets: filterObjects(toolsets), notes: Array.isArray(notes) ? notes.map(String) : [] };
}
