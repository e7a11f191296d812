import { type FormEvent, useCallback, useEffect, useId, useMemo, useRef, useState } from 'react';
import { isJsonObject, type JsonObject, tryParseJson } from '#base/json/json.ts';
import { formatPath } from '#contract/configuration/issue.ts';
import { isQuickApp, readSchema } from '../builder/applications.ts';
import { type BuilderForm, useErrorFocus } from '../builder/editors/form.ts';
import { Properties } from '../builder/editors/properties.tsx';
import { formKeywords, toShape } from '../builder/editors/shape.ts';
import { ValueEditor } from '../builder/editors/value-editor.tsx';
import { getValueAt } from '../builder/entry-parts.ts';
import { useFormsStrings } from '../forms/forms-strings.ts';
import { Icon, TextButton } from '../parts/icon.tsx';
import { Segments } from '../parts/segments.tsx';
import { focusOnMount } from '../parts/use-focus-inside.ts';
import { useLeaveQuestion } from '../parts/use-leave-question.tsx';
import { useLoaded } from '../parts/use-loaded.ts';
import { usePage } from '../shell/page.tsx';
import { formatRoute } from '../shell/route.ts';
import { AdminError } from './admin-error.tsx';
import { getKindTexts, useAdminStrings, useFieldStrings } from './admin-strings.ts';
import { DifferenceList } from './difference-list.tsx';
import { type Entry, type Kind, listEntries } from './entries.ts';
import { EntryActions, NewKeyEditor, SecretDialog } from './entry-actions.tsx';
import { expandDifference, toFormSchema, toPathLabel } from './form-schema.ts';
import { type Conflict, type EntryDraft, useEntryDraft } from './use-entry-draft.ts';

interface EntryPageProps {
  readonly kind: Kind;
  /** '' for a new entry. */
  readonly id: string;
}

/** One entry: its form, its actions, and the save button. */
export function EntryPage({ kind, id }: EntryPageProps) {
  const strings = useAdminStrings();
  const { isAdmin, go, announce } = usePage();
  const draft = useEntryDraft(kind, id);
  const { value, stored, isDirty, isSaving, createdKey } = draft;
  const [isInvalid, setIsInvalid] = useState(false);
  const canChange = isAdmin && stored?.source !== 'file' && (id === '' || stored !== undefined);
  const leaveQuestion = useLeaveQuestion(canChange && isDirty && !isSaving, strings.leaveQuestion, strings.discard);
  // This effect must follow that of `useLeaveQuestion`, which unblocks the navigation after saving.
  const savedId = id === '' && createdKey === undefined ? stored?.id : undefined;
  useEffect(() => {
    if (savedId !== undefined) go({ at: 'administration', section: kind.kind, id: savedId });
  }, [savedId, kind, go]);
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus({ preventScroll: true }), []);
  const lastEtag = useRef<string>(undefined);
  useEffect(() => {
    if (lastEtag.current !== undefined && stored !== undefined && stored.etag !== lastEtag.current) announce(strings.saved);
    lastEtag.current = stored?.etag;
  }, [stored, announce, strings]);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const idField = event.currentTarget.querySelector<HTMLInputElement>('input:required');
    if (!isInvalid && canChange && isDirty && idField?.checkValidity() !== false) void draft.save();
  };
  const title = id === '' ? getKindTexts(strings, kind.kind).add : getTitle(kind, id, stored);
  return (
    <section className="sheet-section" aria-label={title} aria-busy={value === undefined || isSaving}>
      {leaveQuestion}
      <p>
        <a className="quiet-link back-link" href={formatRoute({ at: 'administration', section: kind.kind })}>
          <Icon name="left" />
          {getKindTexts(strings, kind.kind).title}
        </a>
      </p>
      <h2 className="entry-title" ref={heading} tabIndex={-1}>
        {title}
      </h2>
      {draft.stored !== undefined && <EntryActions key={draft.version} {...{ kind, draft, name: title, stored: draft.stored }} />}
      {!isAdmin && <p className="soft">{strings.readOnly}</p>}
      {draft.conflict !== undefined && <ConflictNote {...{ kind, draft, conflict: draft.conflict }} />}
      {value !== undefined && (
        <form className="entry-form" noValidate onSubmit={submit}>
          {id === '' && kind.kind !== 'keys' && <IdField {...{ kind, draft }} />}
          <EntryFields key={draft.version} {...{ kind, draft, canChange, onInvalid: setIsInvalid }} />
          <ErrorSummary draft={draft} />
          {canChange && (
            <div className="entry-bar">
              <span className="soft small">{isDirty ? strings.unsaved : id !== '' && strings.allSaved}</span>
              {/* A `disabled` button would lose the focus while the entry is saved. */}
              <button type="submit" className="button primary" aria-disabled={isSaving || isInvalid || !isDirty}>
                {isSaving ? strings.saving : strings.save}
              </button>
            </div>
          )}
        </form>
      )}
      {value === undefined && <AdminError error={draft.error} />}
      {createdKey !== undefined && (
        <SecretDialog createdKey={createdKey} onClose={() => go({ at: 'administration', section: 'keys', id: createdKey.id })} />
      )}
    </section>
  );
}

/** Returns the ID, or the name of a key, because the ID of a key is random. */
function getTitle({ kind }: Kind, id: string, stored: Entry | undefined): string {
  return kind === 'keys' && typeof stored?.value.name === 'string' ? stored.value.name : id;
}

interface IdFieldProps {
  readonly kind: Kind;
  readonly draft: EntryDraft;
}

function IdField({ kind, draft: { newId, setNewId } }: IdFieldProps) {
  const strings = useAdminStrings();
  const { required, mustBeFilled } = useFormsStrings();
  const [isRejected, setIsRejected] = useState(false);
  const isMissing = isRejected && newId === '';
  const [id, hintId] = [useId(), useId()];
  return (
    <div className="field">
      <label htmlFor={id}>
        {strings.id}
        <span className="soft small"> · {required}</span>
      </label>
      <p className="soft small" id={hintId}>
        {getKindTexts(strings, kind.kind).idHint} {isMissing && <span className="error-text">{mustBeFilled}</span>}
      </p>
      <input
        {...{ id, value: newId, required: true, spellCheck: false, autoCapitalize: 'none', 'aria-describedby': hintId }}
        aria-invalid={isMissing}
        onChange={({ target }) => setNewId(target.value)}
        onInvalid={({ currentTarget }) => {
          setIsRejected(true);
          currentTarget.focus();
        }}
      />
    </div>
  );
}

/** The number of errors, and the errors that belong to no field. */
function ErrorSummary({ draft: { error, errors } }: { readonly draft: EntryDraft }) {
  const strings = useAdminStrings();
  return (
    <>
      {(errors.general.length > 0 || errors.byField.size > 0) && (
        <div className="error-text" role="alert">
          <p>{strings.invalid(errors.byField.size + errors.general.length)}</p>
          {errors.general.map((text) => (
            <p key={text}>{text}</p>
          ))}
        </div>
      )}
      <AdminError error={error} />
    </>
  );
}

interface EntryFieldsProps {
  readonly kind: Kind;
  readonly draft: EntryDraft;
  readonly canChange: boolean;
  readonly onInvalid: (isInvalid: boolean) => void;
}

/** The form that the schema of the kind describes, or the complete entry as JSON. */
function EntryFields({ kind, draft, canChange, onInvalid }: EntryFieldsProps) {
  const strings = useAdminStrings();
  const { value = {}, change, errors } = draft;
  const [view, setView] = useState<'form' | 'json'>('form');
  const formId = useId();
  const schema = useFormSchema(kind, value);
  const latest = useRef(value);
  latest.current = value;
  const shape = toShape(schema);
  // `role` is deprecated, so the form shows it only if the key has it.
  const isVisible = (name: string): boolean => kind.kind !== 'keys' || name !== 'role' || value.role !== undefined;
  const form: BuilderForm = {
    id: formId,
    errors: errors.byField,
    stored: undefined,
    getValue: (path) => getValueAt(latest.current, path),
    change,
    Value: kind.kind === 'keys' && draft.stored === undefined ? NewKeyEditor : ValueEditor,
  };
  useErrorFocus(formId, errors.byField);
  const select = (next: 'form' | 'json'): void => {
    onInvalid(false);
    setView(next);
  };
  return (
    <>
      <Segments
        {...{ name: strings.view, value: view, onSelect: select }}
        options={[
          ['form', strings.asForm],
          ['json', strings.asJson],
        ]}
      />
      <fieldset className="entry-fields" disabled={!canChange}>
        <legend className="visually-hidden">{strings.settings}</legend>
        {view === 'json' ? (
          <RawEditor {...{ value, onInvalid }} onChange={(next) => change([], next)} />
        ) : (
          shape.kind === 'group' && (
            <Properties {...{ value, path: [], form }} properties={shape.properties.filter(({ name }) => isVisible(name))} />
          )
        )}
      </fieldset>
    </>
  );
}

/** Returns the schema of the form. The settings of a quick app have their own schema. */
function useFormSchema(kind: Kind, value: JsonObject): JsonObject {
  const strings = useFieldStrings();
  const { service, deployments } = usePage();
  const needsQuickApp = kind.kind === 'applications' && isQuickApp(value) && value.endpoint === undefined;
  const load = useCallback(
    async (signal: AbortSignal) => ({
      quickApp: needsQuickApp ? await readSchema(service) : undefined,
      roles: (await listEntries(service, 'roles', { signal })).map(({ id }) => id),
    }),
    [service, needsQuickApp],
  );
  const { value: loaded } = useLoaded(load);
  return useMemo(() => {
    const ids = deployments.map(({ id }) => id);
    const schema = toFormSchema(kind.schema, { kind: kind.kind, strings, deployments: ids, roles: loaded?.roles ?? [] });
    const { properties } = schema;
    if (loaded?.quickApp === undefined || !isJsonObject(properties) || !isJsonObject(properties.applicationProperties))
      return schema;
    const { title, description, [formKeywords.order]: order } = properties.applicationProperties;
    const applicationProperties = { ...loaded.quickApp, title, description, [formKeywords.order]: order };
    return { ...schema, properties: { ...properties, applicationProperties } };
  }, [kind, strings, deployments, loaded]);
}

interface RawEditorProps {
  readonly value: JsonObject;
  readonly onChange: (value: JsonObject) => void;
  readonly onInvalid: (isInvalid: boolean) => void;
}

function RawEditor({ value, onChange, onInvalid }: RawEditorProps) {
  const strings = useAdminStrings();
  const formsStrings = useFormsStrings();
  const [text, setText] = useState(() => JSON.stringify(value, undefined, 2));
  const id = useId();
  const isInvalid = !isJsonObject(tryParseJson(text));
  const edit = (next: string): void => {
    setText(next);
    const parsed = tryParseJson(next);
    onInvalid(!isJsonObject(parsed));
    if (isJsonObject(parsed)) onChange(parsed);
  };
  return (
    <div className="field">
      <label className="visually-hidden" htmlFor={id}>
        {strings.asJson}
      </label>
      <textarea
        {...{ id, value: text, className: 'code', rows: Math.min(30, text.split('\n').length + 1), spellCheck: false }}
        aria-invalid={isInvalid}
        onChange={({ target }) => edit(target.value)}
      />
      {isInvalid && <p className="error-text">{formsStrings.mustBeJson}</p>}
    </div>
  );
}

interface ConflictNoteProps {
  readonly kind: Kind;
  readonly draft: EntryDraft;
  readonly conflict: Conflict;
}

/** Shows the concurrent changes of another administrator. The user chooses whether to merge them or to discard the input. */
function ConflictNote({ kind, draft, conflict: { author, theirs, merged, stored } }: ConflictNoteProps) {
  const strings = useAdminStrings();
  const fieldStrings = useFieldStrings();
  const { id } = stored;
  const differences = theirs.flatMap(({ path, before, after, isContested }) =>
    expandDifference({ path: formatPath([kind.section, id, ...path]), before, after }).map((difference) => ({
      ...difference,
      label: toPathLabel(difference.path, { kind: kind.kind, id, section: kind.section }, fieldStrings),
      ...(isContested && { note: strings.contested }),
    })),
  );
  return (
    <section className="conflict-note" aria-label={strings.conflict}>
      <h3 ref={focusOnMount} tabIndex={-1}>
        {strings.conflict}
      </h3>
      <p>{author === '' ? strings.changedMeanwhile : strings.changedMeanwhileBy(author)}</p>
      <DifferenceList differences={differences} />
      <div className="row">
        <TextButton className="button primary" onClick={() => draft.accept(stored, merged)}>
          {strings.mergeChanges}
        </TextButton>
        <TextButton onClick={() => draft.accept(stored)}>{strings.discardOwn}</TextButton>
      </div>
    </section>
  );
}
