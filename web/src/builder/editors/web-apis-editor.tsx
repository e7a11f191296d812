import { type FormEvent, useId, useState } from 'react';
import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import { usePage } from '../../page/page.tsx';
import { type Fault, faultOf } from '../../service/fault.ts';
import { saidOf } from '../../words/fault-words.ts';
import { useWords } from '../../words/words.tsx';
import { itemName } from '../item-name.ts';
import { useBuilderWords } from '../words/builder-words.ts';
import type { EditorProps } from './form.ts';
import { ListEditor } from './list-editor.tsx';
import { OperationLine, toOperation } from './operation-line.tsx';
import { emptySecrets, firstOf, toShape } from './shape.ts';

interface Imported {
  readonly toolsets: readonly JsonObject[];
  readonly notes: readonly string[];
}

/** Web APIs, written by hand or taken out of an OpenAPI document. */
export function WebApisEditor(props: EditorProps) {
  const { schema, value, path, form } = props;
  const { newWebApi } = useBuilderWords();
  const shape = toShape(schema);
  const items: readonly unknown[] = Array.isArray(value) ? value : [];
  if (shape.kind !== 'list') return null;
  const take = (toolsets: readonly JsonObject[]): void => {
    form.change(path, [...items, ...toolsets.map((each) => emptySecrets(shape.item, each, isPlaceholder))]);
  };
  const first = firstOf(shape.item);
  const start = isJsonObject(first) && { ...first, name: unusedName(newWebApi, items.map(itemName)) };
  return <ListEditor {...props} item={shape.item} {...(start && { start })} otherWay={<OpenApiImport take={take} />} />;
}

/** `New web API`, `New web API 2`, … */
function unusedName(name: string, taken: readonly string[]): string {
  const names = [name, ...taken.map((_, nth) => `${name} ${nth + 2}`)];
  return names.find((each) => !taken.includes(each)) ?? name;
}

/** Stands for a secret that the document only names. */
function isPlaceholder(secret: string): boolean {
  return /^\$\{\w+\}$/.test(secret);
}

function OpenApiImport({ take }: { readonly take: (toolsets: readonly JsonObject[]) => void }) {
  const words = useWords();
  const builderWords = useBuilderWords();
  const { service, announce } = usePage();
  const [url, setUrl] = useState('');
  const [text, setText] = useState('');
  const [isReading, setIsReading] = useState(false);
  const [fault, setFault] = useState<Fault>();
  const [imported, setImported] = useState<Imported>();
  const [said, setSaid] = useState('');
  const id = useId();
  const read = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    setIsReading(true);
    setFault(undefined);
    setImported(undefined);
    setSaid('');
    const body = { ...(url.trim() !== '' && { url: url.trim() }), ...(text.trim() !== '' && { document: text }) };
    try {
      setImported(toImported(await service.json('v1/import-openapi', { method: 'POST', body })));
    } catch (thrown) {
      setFault(faultOf(thrown));
    }
    setIsReading(false);
  };
  const takeOver = (toolsets: readonly JsonObject[], count: number): void => {
    take(toolsets);
    setImported(undefined);
    setSaid(builderWords.takenOver(count));
    announce(builderWords.takenOver(count));
  };
  const troubled = fault !== undefined && { 'aria-invalid': true, 'aria-describedby': `${id}-fault` };
  return (
    <details className="builder-import">
      <summary className="quiet-link">{builderWords.importOpenApi}</summary>
      <form className="builder-card-body" onSubmit={(event) => void read(event)}>
        <label htmlFor={`${id}-url`}>{builderWords.documentUrl}</label>
        <input
          {...troubled}
          {...{ id: `${id}-url`, inputMode: 'url', value: url, placeholder: 'https://' }}
          onChange={({ target }) => setUrl(target.value)}
        />
        <label htmlFor={`${id}-text`}>{builderWords.documentText}</label>
        <textarea
          {...troubled}
          {...{ id: `${id}-text`, rows: 5, className: 'code', spellCheck: false, value: text }}
          onChange={({ target }) => setText(target.value)}
        />
        {fault !== undefined && (
          <p className="trouble" role="alert" id={`${id}-fault`}>
            {saidOf(fault, words)}
          </p>
        )}
        <div className="row">
          <button type="submit" className="button" disabled={isReading || (url.trim() === '' && text.trim() === '')}>
            {isReading ? builderWords.reading : builderWords.read}
          </button>
          {said !== '' && <span className="small">{said}</span>}
        </div>
      </form>
      {imported !== undefined && <Operations imported={imported} takeOver={takeOver} />}
    </details>
  );
}

interface OperationsProps {
  readonly imported: Imported;
  readonly takeOver: (toolsets: readonly JsonObject[], count: number) => void;
}

/** What the document offers, each to be chosen or left. */
function Operations({ imported: { toolsets, notes }, takeOver }: OperationsProps) {
  const builderWords = useBuilderWords();
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set());
  const all = toolsets.flatMap((toolset, at) => toolsOf(toolset).map((tool, index) => ({ key: `${at} ${index}`, tool })));
  const count = all.filter(({ key }) => !left.has(key)).length;
  const chosen = (): readonly JsonObject[] =>
    toolsets.flatMap((toolset, at) => {
      const tools = toolsOf(toolset).filter((_, index) => !left.has(`${at} ${index}`));
      return tools.length === 0 ? [] : [{ ...toolset, tools }];
    });
  const toggle = (key: string): void =>
    setLeft((now) => new Set(now.has(key) ? [...now].filter((each) => each !== key) : [...now, key]));
  return (
    <div className="builder-card-body">
      {all.length === 0 ? (
        <p>{builderWords.noOperations}</p>
      ) : (
        <fieldset className="builder-operations">
          <legend>{builderWords.operations}</legend>
          {all.map(({ key, tool }) => (
            <label key={key} className="check">
              <input type="checkbox" checked={!left.has(key)} onChange={() => toggle(key)} />
              <Offered tool={tool} />
            </label>
          ))}
        </fieldset>
      )}
      {notes.length > 0 && (
        <div className="soft small">
          <p>{builderWords.importNotes}</p>
          <ul className="builder-notes">
            {notes.map((note) => (
              <li key={note}>{note}</li>
            ))}
          </ul>
        </div>
      )}
      {all.length > 0 && (
        <div className="row">
          <button type="button" className="button primary" disabled={count === 0} onClick={() => takeOver(chosen(), count)}>
            {builderWords.takeOver(count)}
          </button>
        </div>
      )}
    </div>
  );
}

function Offered({ tool }: { readonly tool: JsonObject }) {
  const operation = toOperation(tool);
  if (operation === undefined) return null;
  return (
    <span className="builder-operation" title={operation.address}>
      <OperationLine operation={operation} instead={operation.address} />
    </span>
  );
}

function toolsOf({ tools }: JsonObject): readonly JsonObject[] {
  return Array.isArray(tools) ? tools.filter(isJsonObject) : [];
}

function toImported(answer: unknown): Imported {
  const { toolsets, notes } = isJsonObject(answer) ? answer : {};
  return {
    toolsets: Array.isArray(toolsets) ? toolsets.filter(isJsonObject) : [],
    notes: Array.isArray(notes) ? notes.map(String) : [],
  };
}
