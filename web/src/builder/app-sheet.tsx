import { useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { isJsonObject, JsonFault, type JsonObject, parseJson, tryParseJson } from '#base/json/json.ts';
import { usePage } from '../page/page.tsx';
import { type Fault, faultOf } from '../service/fault.ts';
import { adviceFor } from '../words/advice.ts';
import { useLanguage } from '../words/words.tsx';
import { AppForm } from './app-form.tsx';
import { isQuickApp, readSchema } from './applications.ts';
import type { Beginning } from './beginning.ts';
import { valueAt } from './draft.ts';
import type { FieldFaults } from './editors/field-faults.ts';
import { type BuilderForm, goToField } from './editors/form.ts';
import { titleOf } from './editors/properties.tsx';
import { toShape, variantOf } from './editors/shape.ts';
import { ValueEditor } from './editors/value-editor.tsx';
import { EvaluationSection } from './evaluation/evaluation-section.tsx';
import type { Evaluating } from './evaluation/use-evaluations.ts';
import { itemName } from './item-name.ts';
import type { AppDraft } from './use-app-draft.ts';
import { VersionsSection } from './versions/versions-section.tsx';
import { useBuilderWords } from './words/builder-words.ts';
import { useSchemaWords } from './words/schema-words.ts';

interface AppSheetProps {
  readonly draft: AppDraft;
  readonly beginning: Beginning | undefined;
  readonly title: string;
  /** Whether there is JSON that cannot be taken over. */
  readonly isBroken: boolean;
  readonly evaluating: Evaluating;
  readonly noteBroken: (isBroken: boolean) => void;
  readonly saveOver: () => void;
}

type View = 'form' | 'json';

/** The form of an application, or the whole of it as JSON, with what is wrong with it and what it was before. */
export function AppSheet({ draft, beginning, title, isBroken, evaluating, noteBroken, saveOver }: AppSheetProps) {
  const words = useBuilderWords();
  const { entry, stored, faults, change } = draft;
  const schema = useSchema();
  const [view, setView] = useState<View>('form');
  const formId = useId();
  const now = useRef(entry);
  useLayoutEffect(() => {
    now.current = entry;
  }, [entry]);
  const form = useMemo<BuilderForm>(
    () => ({ id: formId, faults, saved: stored, read: (path) => valueAt(now.current, path), change, Value: ValueEditor }),
    [formId, faults, stored, change],
  );
  const isPlain = entry !== undefined && !isQuickApp(entry);
  const shownView: View = isPlain ? 'json' : view;
  useEffect(() => {
    const [first] = faults.keys();
    if (first !== undefined) goToField(formId, first);
  }, [faults, formId]);
  const goTo = (field: string): void => {
    setView('form');
    setTimeout(() => goToField(formId, field));
  };
  const toTrail = useFieldTrail(schema.value, entry);
  const isLoading =
    (entry === undefined && draft.fault === undefined) || (schema.value === undefined && schema.fault === undefined);
  return (
    <div className="sheet builder" aria-busy={isLoading}>
      <div className="builder-title">
        <h1>{title}</h1>
        {entry !== undefined && !isPlain && <ViewChoice view={view} choose={(next) => !isBroken && setView(next)} />}
      </div>
      {beginning !== undefined && beginning.note !== '' && stored === undefined && <p className="banner">{beginning.note}</p>}
      {isPlain && <p className="soft">{words.rawOnly}</p>}
      <Refusal
        fault={draft.fault ?? schema.fault}
        {...{ faults, isLoaded: entry !== undefined, goTo, saveOver }}
        toTrail={shownView === 'form' ? toTrail : undefined}
        load={() => void draft.load()}
      />
      {entry !== undefined && shownView === 'json' && <RawEditor {...{ entry, noteBroken }} change={draft.replace} />}
      {entry !== undefined && shownView === 'form' && schema.value !== undefined && (
        <AppForm {...{ entry, form, schema: schema.value, stored, evaluating }} />
      )}
      {stored !== undefined && <EvaluationSection {...{ stored, evaluating, isDirty: draft.isDirty }} />}
      {stored !== undefined && <VersionsSection {...{ stored, evaluating, take: draft.take }} />}
    </div>
  );
}

function ViewChoice({ view, choose }: { readonly view: View; readonly choose: (view: View) => void }) {
  const words = useBuilderWords();
  const names: Record<View, string> = { form: words.asForm, json: words.asJson };
  return (
    <fieldset className="choice">
      <legend className="heard-only">{words.view}</legend>
      <div className="segments">
        {(['form', 'json'] as const).map((each) => (
          <label key={each}>
            <input type="radio" name="builder-view" checked={view === each} onChange={() => choose(each)} />
            <span>{names[each]}</span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}

interface RawEditorProps {
  readonly entry: JsonObject;
  readonly change: (entry: JsonObject) => void;
  /** Whether there is text that is not taken over, since it is no JSON. */
  readonly noteBroken: (isBroken: boolean) => void;
}

/** The whole application as JSON. */
function RawEditor({ entry, change, noteBroken }: RawEditorProps) {
  const words = useBuilderWords();
  const [text, setText] = useState(() => JSON.stringify(entry, undefined, 2));
  const [shown, setShown] = useState(entry);
  const [trouble, setTrouble] = useState<string>();
  const id = useId();
  // What was saved, or loaded anew, takes the place of what stood here.
  if (shown !== entry) {
    setShown(entry);
    setText(JSON.stringify(entry, undefined, 2));
    setTrouble(undefined);
  }
  useEffect(() => {
    if (trouble === undefined) noteBroken(false);
  }, [trouble, noteBroken]);
  const write = (next: string): void => {
    setText(next);
    const read = readObject(next);
    setTrouble(read.trouble);
    noteBroken(read.value === undefined);
    if (read.value === undefined) return;
    setShown(read.value);
    change(read.value);
  };
  return (
    <div className="field">
      <label htmlFor={id}>{words.rawLabel}</label>
      <p className="soft small" id={`${id}-hint`}>
        {words.rawHint}
      </p>
      <textarea
        {...{ id, className: 'code builder-raw', spellCheck: false, value: text }}
        aria-invalid={trouble !== undefined}
        aria-describedby={trouble === undefined ? `${id}-hint` : `${id}-hint ${id}-fault`}
        onChange={({ target }) => write(target.value)}
      />
      {trouble !== undefined && (
        <p className="trouble" id={`${id}-fault`}>
          {words.notJson(trouble)}
        </p>
      )}
    </div>
  );
}

/** The object in a text, or why there is none, with the place as the browser tells it. */
function readObject(text: string): { readonly value?: JsonObject; readonly trouble?: string } {
  try {
    const value = parseJson(text);
    return isJsonObject(value) ? { value } : { trouble: '' };
  } catch (thrown) {
    const cause = thrown instanceof JsonFault && thrown.cause instanceof Error ? thrown.cause : undefined;
    return { trouble: cause?.message ?? (thrown instanceof Error ? thrown.message : '') };
  }
}

interface RefusalProps {
  readonly fault: Fault | undefined;
  readonly faults: FieldFaults;
  readonly isLoaded: boolean;
  /** The way to a field in words; undefined where its path says more. */
  readonly toTrail: ((field: string) => string) | undefined;
  readonly goTo: (field: string) => void;
  readonly load: () => void;
  readonly saveOver: () => void;
}

/** Why an application was not saved, or not found, and the way out. */
function Refusal({ fault, faults, isLoaded, toTrail, goTo, load, saveOver }: RefusalProps) {
  const { words, language } = useLanguage();
  const builderWords = useBuilderWords();
  if (fault === undefined) return null;
  if (fault.status === 412 && isLoaded) {
    return (
      <div className="banner" role="alert">
        <p>{builderWords.changedElsewhere}</p>
        <button type="button" className="button" onClick={load}>
          {builderWords.loadStored}
        </button>
        <button type="button" className="button" onClick={saveOver}>
          {builderWords.saveOver}
        </button>
      </div>
    );
  }
  if (fault.status === 400 && isLoaded) {
    return (
      <div className="builder-refusal" role="alert">
        <p>
          <strong>{builderWords.refused}</strong>
        </p>
        {faults.size === 0 && <p>{fault.message}</p>}
        <ul>
          {[...faults].map(([field, what]) => (
            <li key={field}>
              <button type="button" className="quiet-link" onClick={() => goTo(field)}>
                {toTrail === undefined ? (
                  <code>{field.replace(/^applicationProperties\./, '')}</code>
                ) : (
                  <strong>{toTrail(field)}</strong>
                )}{' '}
                {what}
              </button>
            </li>
          ))}
        </ul>
      </div>
    );
  }
  return (
    <p className="trouble" role="alert">
      {fault.message || words.unreachable} {adviceFor(fault, { words, language })}
    </p>
  );
}

/** The schema of quick apps as the service has it, once it is there. */
function useSchema(): { readonly value: JsonObject | undefined; readonly fault: Fault | undefined } {
  const { service } = usePage();
  const [value, setValue] = useState<JsonObject>();
  const [fault, setFault] = useState<Fault>();
  useEffect(() => {
    readSchema(service).then(setValue, (thrown: unknown) => setFault(faultOf(thrown)));
  }, [service]);
  return { value, fault };
}

const settings = 'applicationProperties.';

/** Gives the way to a field of an application in words; `schema` is that of its settings. */
function useFieldTrail(schema: JsonObject | undefined, entry: JsonObject | undefined): (field: string) => string {
  const words = useBuilderWords();
  const say = useSchemaWords();
  const { name, description, iconUrl, role } = words;
  const general = new Map(Object.entries({ displayName: name, description, iconUrl, userRoles: role }));
  return (field) => {
    if (!field.startsWith(settings)) return general.get(field) ?? field;
    const toTitle = (part: JsonObject, key: string): string => say(titleOf(part, key));
    return fieldTrail(field.slice(settings.length), { schema: schema ?? {}, value: entry?.applicationProperties, toTitle });
  };
}

// Pattern bound: the path of a field in an error.
const step = /\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]|([A-Za-z_$][\w$-]*)/g;

/** A place of an application as it is written, and how its parts are called. */
interface Place {
  readonly schema: JsonObject;
  readonly value: unknown;
  /** The title of a property as people read it. */
  readonly toTitle: (schema: JsonObject, name: string) => string;
}

/** The way to a field in words: its label behind the lists and items it is in, such as `MCP servers › Board › Address`. */
export function fieldTrail(field: string, place: Place): string {
  const keys = [...field.matchAll(step)].map(([, index, quoted, plain]) =>
    index === undefined ? (plain ?? String(tryParseJson(quoted ?? ''))) : Number(index),
  );
  return trailOf(keys, place).join(' › ');
}

function trailOf(keys: readonly (string | number)[], { schema, value, toTitle }: Place): readonly string[] {
  const [key, ...rest] = keys;
  if (key === undefined) return [];
  const shape = toShape(schema);
  if (shape.kind === 'variants') {
    const variant = variantOf(shape.variants, value);
    return variant === undefined ? [keys.join('.')] : trailOf(keys, { schema: variant.schema, value, toTitle });
  }
  if (shape.kind === 'list' && typeof key === 'number') {
    const item: unknown = Array.isArray(value) ? value[key] : undefined;
    return [itemName(item) || String(key + 1), ...trailOf(rest, { schema: shape.item, value: item, toTitle })];
  }
  const property = shape.kind === 'group' ? shape.properties.find(({ name }) => name === key) : undefined;
  if (property === undefined) return [keys.join('.')];
  const below = trailOf(rest, { schema: property.schema, value: isJsonObject(value) ? value[key] : undefined, toTitle });
  // What only frames other fields is no part of the way.
  return toShape(property.schema).kind === 'group' && below.length > 0
    ? below
    : [toTitle(property.schema, String(key)), ...below];
}
