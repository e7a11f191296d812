import { useCallback, useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { isJsonObject, type JsonObject, tryParseJson } from '#base/json/json.ts';
import { TextButton } from '../parts/icon.tsx';
import { useLoaded } from '../parts/use-loaded.ts';
import type { ErrorDetails } from '../service/service-error.ts';
import { usePage } from '../shell/page.tsx';
import { useLanguage } from '../strings/strings.tsx';
import { suggestAction } from '../strings/suggest-action.ts';
import { AppForm } from './app-form.tsx';
import { isQuickApp, readSchema } from './applications.ts';
import { useBuilderStrings, useSchemaTranslation } from './builder-strings.ts';
import { type BuilderForm, type FieldErrors, goToField, useErrorFocus } from './editors/form.ts';
import { getTitle } from './editors/properties.tsx';
import { resolveShape, toShape } from './editors/shape.ts';
import { ValueEditor } from './editors/value-editor.tsx';
import { getItemName, getValueAt, parseJsonObject } from './entry-parts.ts';
import { EvaluationSection } from './evaluation/evaluation-section.tsx';
import type { EvaluationState } from './evaluation/use-evaluations.ts';
import { SharingSection } from './sharing/sharing-section.tsx';
import type { AppDraft, InitialDraft } from './use-app-draft.ts';
import { VersionsSection } from './versions/versions-section.tsx';

interface AppSheetProps {
  readonly draft: AppDraft;
  readonly initialDraft: InitialDraft | undefined;
  readonly title: string;
  /** Whether the JSON text is invalid. */
  readonly isInvalid: boolean;
  readonly evaluationState: EvaluationState;
  readonly onInvalid: (isInvalid: boolean) => void;
  readonly overwrite: () => void;
}

type View = 'form' | 'json';

/** The form of an application, or its complete JSON, with its errors, evaluations, and versions. */
export function AppSheet({ draft, initialDraft, title, isInvalid, evaluationState, onInvalid, overwrite }: AppSheetProps) {
  const strings = useBuilderStrings();
  const { entry, stored, fieldErrors, change } = draft;
  const { service } = usePage();
  const schema = useLoaded(useCallback(() => readSchema(service), [service]));
  const [view, setView] = useState<View>('form');
  const formId = useId();
  const latestEntry = useRef(entry);
  useLayoutEffect(() => {
    latestEntry.current = entry;
  }, [entry]);
  const form = useMemo<BuilderForm>(
    () => ({
      id: formId,
      errors: fieldErrors,
      stored,
      getValue: (path) => getValueAt(latestEntry.current, path),
      change,
      Value: ValueEditor,
    }),
    [formId, fieldErrors, stored, change],
  );
  const isJsonOnly = entry !== undefined && !isQuickApp(entry);
  const activeView: View = isJsonOnly ? 'json' : view;
  useErrorFocus(formId, fieldErrors);
  const goTo = (field: string): void => {
    setView('form');
    setTimeout(() => goToField(formId, field));
  };
  const entrySchema = useEntrySchema(isJsonOnly ? undefined : schema.value);
  const translate = useSchemaTranslation();
  const toTitle = (part: JsonObject, key: string): string => translate(getTitle(part, key));
  const toLabel = (field: string): string => toFieldLabel(field, { schema: entrySchema, value: entry, toTitle });
  const isLoading =
    (entry === undefined && draft.error === undefined) || (schema.value === undefined && schema.error === undefined);
  return (
    <div className="sheet builder" aria-busy={isLoading}>
      <div className="builder-title">
        <h1>{title}</h1>
        {entry !== undefined && !isJsonOnly && <ViewChoice view={view} onSelect={(next) => !isInvalid && setView(next)} />}
      </div>
      {initialDraft !== undefined && initialDraft.note !== '' && stored === undefined && (
        <p className="banner">{initialDraft.note}</p>
      )}
      {isJsonOnly && <p className="soft">{strings.rawOnly}</p>}
      <DraftErrorMessage
        error={draft.error ?? schema.error}
        {...{ fieldErrors, isLoaded: entry !== undefined, goTo, overwrite }}
        toLabel={activeView === 'form' ? toLabel : undefined}
        load={draft.load}
      />
      {entry !== undefined && activeView === 'json' && <RawEditor {...{ entry, onInvalid }} change={draft.replace} />}
      {entry !== undefined && activeView === 'form' && schema.value !== undefined && (
        <AppForm key={draft.revision} {...{ entry, form, schema: schema.value }} />
      )}
      {stored !== undefined && <EvaluationSection {...{ application: stored, evaluationState, isDirty: draft.isDirty }} />}
      {stored !== undefined && (
        <VersionsSection {...{ stored, schema: entrySchema, evaluationState, onRestored: draft.accept }} />
      )}
      {entry !== undefined && <SharingSection {...{ stored, evaluationState, applyAccess: draft.applyAccess }} />}
    </div>
  );
}

function ViewChoice({ view, onSelect }: { readonly view: View; readonly onSelect: (view: View) => void }) {
  const strings = useBuilderStrings();
  const names: Record<View, string> = { form: strings.asForm, json: strings.asJson };
  return (
    <fieldset className="choice">
      <legend className="visually-hidden">{strings.view}</legend>
      <div className="segments">
        {(['form', 'json'] as const).map((option) => (
          <label key={option}>
            <input type="radio" name="builder-view" checked={view === option} onChange={() => onSelect(option)} />
            <span>{names[option]}</span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}

interface RawEditorProps {
  readonly entry: JsonObject;
  readonly change: (entry: JsonObject) => void;
  /** Called with whether the text is invalid JSON. */
  readonly onInvalid: (isInvalid: boolean) => void;
}

/** Edits the complete application as JSON. */
function RawEditor({ entry, change, onInvalid }: RawEditorProps) {
  const strings = useBuilderStrings();
  const [text, setText] = useState(() => JSON.stringify(entry, undefined, 2));
  const [shownEntry, setShownEntry] = useState(entry);
  const [problem, setProblem] = useState<string>();
  const id = useId();
  // A saved or reloaded entry replaces the text.
  if (shownEntry !== entry) {
    setShownEntry(entry);
    setText(JSON.stringify(entry, undefined, 2));
    setProblem(undefined);
  }
  useEffect(() => {
    if (problem === undefined) onInvalid(false);
  }, [problem, onInvalid]);
  const write = (next: string): void => {
    setText(next);
    const result = parseJsonObject(next);
    setProblem(result.problem);
    onInvalid(result.value === undefined);
    if (result.value === undefined) return;
    setShownEntry(result.value);
    change(result.value);
  };
  return (
    <div className="field">
      <label htmlFor={id}>{strings.rawLabel}</label>
      <p className="soft small" id={`${id}-hint`}>
        {strings.rawHint}
      </p>
      <textarea
        {...{ id, className: 'code builder-raw', spellCheck: false, value: text }}
        aria-invalid={problem !== undefined}
        aria-describedby={problem === undefined ? `${id}-hint` : `${id}-hint ${id}-error`}
        onChange={({ target }) => write(target.value)}
      />
      {problem !== undefined && (
        <p className="error-text" id={`${id}-error`}>
          {strings.notJson(problem)}
        </p>
      )}
    </div>
  );
}

interface DraftErrorMessageProps {
  readonly error: ErrorDetails | undefined;
  readonly fieldErrors: FieldErrors;
  readonly isLoaded: boolean;
  /** Returns the label of a field path. Undefined if the view shows paths. */
  readonly toLabel: ((field: string) => string) | undefined;
  readonly goTo: (field: string) => void;
  readonly load: () => void;
  readonly overwrite: () => void;
}

/** Shows why an application was not saved or loaded, and offers actions that solve it. */
function DraftErrorMessage({ error, fieldErrors, isLoaded, toLabel, goTo, load, overwrite }: DraftErrorMessageProps) {
  const { strings, locale } = useLanguage();
  const builderStrings = useBuilderStrings();
  if (error === undefined) return null;
  if (error.status === 412 && isLoaded) {
    return (
      <div className="banner" role="alert">
        <p>{builderStrings.changedElsewhere}</p>
        <TextButton onClick={load}>{builderStrings.loadStored}</TextButton>
        <TextButton onClick={overwrite}>{builderStrings.overwriteStored}</TextButton>
      </div>
    );
  }
  if (error.status === 400 && isLoaded) {
    return (
      <div className="builder-alert" role="alert">
        <p>
          <strong>{builderStrings.rejected}</strong>
        </p>
        {fieldErrors.size === 0 && <p>{error.message}</p>}
        <ul>
          {[...fieldErrors].map(([field, message]) => (
            <li key={field}>
              <button type="button" className="quiet-link" onClick={() => goTo(field)}>
                {toLabel === undefined ? (
                  <code>{field.replace(/^applicationProperties\./, '')}</code>
                ) : (
                  <strong>{toLabel(field)}</strong>
                )}{' '}
                {message}
              </button>
            </li>
          ))}
        </ul>
      </div>
    );
  }
  return (
    <p className="error-text" role="alert">
      {error.message || strings.unreachable} {suggestAction(error, { strings, locale })}
    </p>
  );
}

/** Returns the schema of a complete application. `settings` is the schema of `applicationProperties`. */
function useEntrySchema(settings: JsonObject | undefined): JsonObject {
  const strings = useBuilderStrings();
  return useMemo(() => {
    const [displayName, description, iconUrl] = [strings.name, strings.description, strings.iconUrl].map((title) => ({ title }));
    const properties = { displayName, description, iconUrl, applicationProperties: settings ?? {} };
    return { type: 'object', additionalProperties: false, properties };
  }, [strings, settings]);
}

// Pattern bound: runs in the user's own tab, on one field path of an error.
const pathStep = /\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]|([A-Za-z_$][\w$-]*)/g;

/** A value of an application with its schema. */
interface FieldContext {
  readonly schema: JsonObject;
  readonly value: unknown;
  /** Returns the displayed title of a property. */
  readonly toTitle: (schema: JsonObject, name: string) => string;
}

/** Returns the label of a field path, such as `MCP servers › Board › Address`. */
export function toFieldLabel(field: string, context: FieldContext): string {
  const keys = [...field.matchAll(pathStep)].map(([, index, quoted, plain]) =>
    index === undefined ? (plain ?? String(tryParseJson(quoted ?? ''))) : Number(index),
  );
  return listLabels(keys, context).join(' › ');
}

function listLabels(keys: readonly (string | number)[], { schema, value, toTitle }: FieldContext): readonly string[] {
  const [key, ...tail] = keys;
  if (key === undefined) return [];
  const { shape } = resolveShape(schema, value);
  if (shape.kind === 'list' && typeof key === 'number') {
    const item: unknown = Array.isArray(value) ? value[key] : undefined;
    return [getItemName(item) || String(key + 1), ...listLabels(tail, { schema: shape.item, value: item, toTitle })];
  }
  const property = shape.kind === 'group' ? shape.properties.find(({ name }) => name === key) : undefined;
  if (property === undefined) return [keys.join('.')];
  const innerLabels = listLabels(tail, { schema: property.schema, value: isJsonObject(value) ? value[key] : undefined, toTitle });
  // A group that only contains other fields does not appear in the label.
  return toShape(property.schema).kind === 'group' && innerLabels.length > 0
    ? innerLabels
    : [toTitle(property.schema, String(key)), ...innerLabels];
}
