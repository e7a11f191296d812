import { useId, useState } from 'react';
import type { JsonObject } from '#base/json/json.ts';
import { Icon, TextButton } from '../../parts/icon.tsx';
import { useFocusInside } from '../../parts/use-focus-inside.ts';
import { usePage } from '../../shell/page.tsx';
import { useStrings } from '../../strings/strings.tsx';
import { useBuilderStrings } from '../builder-strings.ts';
import { RemoveButton, useItemKeys } from '../editors/list-items.tsx';
import { parseJsonObject } from '../entry-parts.ts';
import {
  type CaseDraft,
  type CheckDraft,
  type CheckType,
  checkTypes,
  type DraftError,
  type FieldKind,
  isDraftable,
  listFields,
  toCaseEntry,
  toDraft,
} from './case-draft.ts';

interface CaseEditorProps {
  readonly entry: JsonObject;
  readonly onSave: (body: JsonObject) => void;
  readonly onCancel: () => void;
}

/** Edits a case as a form or as JSON. Takes the focus when it opens. */
export function CaseEditor({ entry, onSave, onCancel }: CaseEditorProps) {
  const strings = useBuilderStrings();
  const { cancel } = useStrings();
  const editor = useFocusInside<HTMLDivElement>('input', (element) => element.scrollIntoView({ block: 'nearest' }));
  const [draft, setDraft] = useState(() => toDraft(entry));
  /** The JSON text, while the JSON view is open. */
  const [text, setText] = useState<string>();
  const [errors, setErrors] = useState<readonly DraftError[]>([]);
  const [problem, setProblem] = useState<string>();
  const readEntry = (): JsonObject | undefined => {
    setErrors([]);
    setProblem(undefined);
    if (text !== undefined) {
      const result = parseJsonObject(text);
      if (result.problem !== undefined) setProblem(strings.notJson(result.problem));
      return result.value;
    }
    const result = toCaseEntry(draft);
    if ('entry' in result) return result.entry;
    setErrors(result.errors);
    return undefined;
  };
  const save = (): void => {
    const body = readEntry();
    if (body !== undefined) onSave(body);
  };
  const toggleView = (): void => {
    const body = readEntry();
    if (body === undefined) return;
    if (text === undefined) setText(JSON.stringify(body, undefined, 2));
    else if (isDraftable(body)) {
      setDraft(toDraft(body));
      setText(undefined);
    } else setProblem(strings.noForm);
  };
  return (
    <div className="case-editor" ref={editor}>
      {text === undefined ? (
        <CaseForm {...{ draft, setDraft, errors }} />
      ) : (
        <DraftField label={strings.caseAsJson} kind="object" value={text} change={setText} />
      )}
      {problem !== undefined && <p className="error-text">{problem}</p>}
      <div className="row">
        <TextButton className="button slim" onClick={save}>
          {strings.saveCase}
        </TextButton>
        <TextButton className="button slim" onClick={onCancel}>
          {cancel}
        </TextButton>
        <TextButton className="button slim quiet" onClick={toggleView}>
          {text === undefined ? strings.writeAsJson : strings.writeAsForm}
        </TextButton>
      </div>
    </div>
  );
}

interface CaseFormProps {
  readonly draft: CaseDraft;
  readonly setDraft: (draft: CaseDraft) => void;
  readonly errors: readonly DraftError[];
}

function CaseForm({ draft, setDraft, errors }: CaseFormProps) {
  const strings = useBuilderStrings();
  const id = useId();
  const { name, question, messages, checks } = draft;
  const { keys, removeKey } = useItemKeys(checks.length);
  const setChecks = (next: readonly CheckDraft[]): void => setDraft({ ...draft, checks: next });
  const remove = (index: number): void => {
    removeKey(index);
    setChecks(checks.filter((_, at) => at !== index));
    document.getElementById(id)?.focus();
  };
  const caseError = errors.find(({ check }) => check === null);
  return (
    <>
      <DraftField
        label={strings.caseName}
        kind="line"
        value={name}
        change={(next) => setDraft({ ...draft, name: next })}
        hint={strings.caseNameHint}
      />
      {question === undefined ? (
        <p className="soft small">{strings.caseOfMessages(messages.length)}</p>
      ) : (
        <DraftField
          label={strings.caseQuestion}
          kind="text"
          value={question}
          change={(next) => setDraft({ ...draft, question: next })}
          error={caseError && strings.draftErrors[caseError.kind]}
        />
      )}
      <fieldset className="case-checks">
        <legend>{strings.caseChecks}</legend>
        {checks.length === 0 && <p className="soft small">{strings.noChecks}</p>}
        {checks.map((check, index) => (
          <CheckEditor
            key={keys[index] ?? index}
            {...{ check, errors: errors.filter((error) => error.check === index) }}
            number={index + 1}
            change={(next) => setChecks(checks.with(index, next))}
            remove={() => remove(index)}
          />
        ))}
        <div className="row">
          <button
            {...{ type: 'button', className: 'button slim', id }}
            onClick={() => setChecks([...checks, { type: 'contains', values: {} }])}
          >
            <Icon name="plus" />
            {strings.addCheck}
          </button>
        </div>
      </fieldset>
    </>
  );
}

interface CheckEditorProps {
  readonly check: CheckDraft;
  readonly errors: readonly DraftError[];
  readonly number: number;
  readonly change: (check: CheckDraft) => void;
  readonly remove: () => void;
}

/** A check of an answer: its type and fields. Fields that two types share keep their text. */
function CheckEditor({ check, errors, number, change, remove }: CheckEditorProps) {
  const strings = useBuilderStrings();
  const { type, values } = check;
  const getError = (field: string): string | undefined => {
    const error = errors.find((item) => item.field === field);
    return error && strings.draftErrors[error.kind];
  };
  return (
    <fieldset className="case-check">
      <legend className="visually-hidden">{strings.checkNumber(number)}</legend>
      <div className="row">
        <select
          aria-label={strings.checkType(number)}
          value={type}
          onChange={({ target }) => change({ type: target.value as CheckType, values })}
        >
          {checkTypes.map((option) => (
            <option key={option} value={option}>
              {strings.checkTypes[option]}
            </option>
          ))}
        </select>
        <RemoveButton name={strings.checkNumber(number)} remove={remove} />
      </div>
      {listFields(type).map(([field, kind]) => (
        <DraftField
          key={field}
          label={strings.checkFields[field as keyof typeof strings.checkFields]}
          {...{ kind, value: values[field] ?? '', error: getError(field) }}
          change={(next) => change({ type, values: { ...values, [field]: next } })}
        />
      ))}
    </fieldset>
  );
}

interface DraftFieldProps {
  readonly label: string;
  readonly kind: FieldKind;
  readonly value: string;
  readonly change: (value: string) => void;
  readonly hint?: string;
  readonly error?: string | undefined;
}

/** A case field with its label, input, and error. */
function DraftField({ label, kind, value, change, hint, error }: DraftFieldProps) {
  const id = useId();
  const describedBy = [hint !== undefined && `${id}-hint`, error !== undefined && `${id}-error`].filter(Boolean).join(' ');
  const control = { id, 'aria-invalid': error !== undefined, ...(describedBy !== '' && { 'aria-describedby': describedBy }) };
  const isFlag = kind === 'flag';
  return (
    <div className={isFlag ? 'field switch' : 'field'}>
      <label htmlFor={id}>{label}</label>
      {hint !== undefined && (
        <p className="soft small" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      <Control {...{ control, kind, value, change }} />
      {error !== undefined && (
        <p className="error-text" id={`${id}-error`}>
          {error}
        </p>
      )}
    </div>
  );
}

interface ControlProps extends Pick<DraftFieldProps, 'kind' | 'value' | 'change'> {
  readonly control: { readonly id: string };
}

function Control({ control, kind, value, change }: ControlProps) {
  const onChange = ({ target }: { readonly target: { readonly value: string } }): void => change(target.value);
  if (kind === 'flag')
    return (
      <input
        {...control}
        type="checkbox"
        checked={value === 'true'}
        onChange={({ target }) => change(target.checked ? 'true' : '')}
      />
    );
  if (kind === 'deployment') return <DeploymentChoice {...{ control, value, onChange }} />;
  if (kind === 'text') return <textarea {...{ ...control, value, onChange, rows: 2, className: 'case-text' }} />;
  if (kind === 'object')
    return <textarea {...{ ...control, value, onChange, rows: 3, className: 'code case-text', spellCheck: false }} />;
  const inputMode = kind === 'number' ? 'decimal' : undefined;
  return <input {...{ ...control, value, onChange, inputMode, className: kind === 'code' ? 'code' : undefined }} />;
}

interface DeploymentChoiceProps extends Pick<ControlProps, 'control' | 'value'> {
  readonly onChange: (event: { readonly target: { readonly value: string } }) => void;
}

/** Selects a deployment. A selected deployment that is no longer listed stays selected. */
function DeploymentChoice({ control, value, onChange }: DeploymentChoiceProps) {
  const strings = useBuilderStrings();
  const { deployments } = usePage();
  const isListed = value === '' || deployments.some(({ id }) => id === value);
  return (
    <select {...{ ...control, value, onChange }}>
      {value === '' && <option value="">{strings.chooseJudge}</option>}
      {!isListed && <option value={value}>{value}</option>}
      {deployments.map(({ id, name }) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </select>
  );
}
