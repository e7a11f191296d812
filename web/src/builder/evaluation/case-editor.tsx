import { useId, useState } from 'react';
import { isJsonObject, JsonFault, type JsonObject, parseJson } from '#base/json/json.ts';
import { usePage } from '../../page/page.tsx';
import { Icon } from '../../parts/icon.tsx';
import { RemoveButton } from '../editors/remove-button.tsx';
import { useItemKeys } from '../editors/use-item-keys.ts';
import { useBuilderWords } from '../words/builder-words.ts';
import {
  type CaseDraft,
  type CheckDraft,
  type CheckType,
  checkTypes,
  type DraftFault,
  type FieldKind,
  fieldsOf,
  isDraftable,
  toCaseEntry,
  toDraft,
} from './case-draft.ts';

interface CaseEditorProps {
  readonly entry: JsonObject;
  readonly keep: (body: JsonObject) => void;
}

/** A case as a form, or as the JSON that its file has. */
export function CaseEditor({ entry, keep }: CaseEditorProps) {
  const words = useBuilderWords();
  const [draft, setDraft] = useState(() => toDraft(entry));
  /** The JSON while that is what is written. */
  const [text, setText] = useState<string>();
  const [faults, setFaults] = useState<readonly DraftFault[]>([]);
  const [trouble, setTrouble] = useState<string>();
  const read = (): JsonObject | undefined => {
    const written = text === undefined ? toCaseEntry(draft) : readJson(text, words.notJson);
    setFaults('faults' in written ? written.faults : []);
    setTrouble('trouble' in written ? written.trouble : undefined);
    return 'entry' in written ? written.entry : undefined;
  };
  const save = (): void => {
    const body = read();
    if (body !== undefined) keep(body);
  };
  const change = (): void => {
    const body = read();
    if (body === undefined) return;
    if (text === undefined) setText(JSON.stringify(body, undefined, 2));
    else if (isDraftable(body)) {
      setDraft(toDraft(body));
      setText(undefined);
    } else setTrouble(words.noForm);
  };
  return (
    <div className="case-editor">
      {text === undefined ? (
        <CaseForm {...{ draft, setDraft, faults }} />
      ) : (
        <DraftField label={words.caseAsJson} kind="object" value={text} change={setText} />
      )}
      {trouble !== undefined && <p className="trouble">{trouble}</p>}
      <div className="row">
        <button type="button" className="button slim" onClick={save}>
          {words.keepCase}
        </button>
        <button type="button" className="button slim quiet" onClick={change}>
          {text === undefined ? words.writeAsJson : words.writeAsForm}
        </button>
      </div>
    </div>
  );
}

interface CaseFormProps {
  readonly draft: CaseDraft;
  readonly setDraft: (draft: CaseDraft) => void;
  readonly faults: readonly DraftFault[];
}

function CaseForm({ draft, setDraft, faults }: CaseFormProps) {
  const words = useBuilderWords();
  const id = useId();
  const { name, question, messages, checks } = draft;
  const { keys, forget } = useItemKeys(checks.length);
  const setChecks = (next: readonly CheckDraft[]): void => setDraft({ ...draft, checks: next });
  const remove = (index: number): void => {
    forget(index);
    setChecks(checks.filter((_, at) => at !== index));
    document.getElementById(id)?.focus();
  };
  const ofCase = faults.find(({ check }) => check === null);
  return (
    <>
      <DraftField
        label={words.caseName}
        kind="line"
        value={name}
        change={(next) => setDraft({ ...draft, name: next })}
        hint={words.caseNameHint}
      />
      {question === undefined ? (
        <p className="soft small">{words.caseOfMessages(messages.length)}</p>
      ) : (
        <DraftField
          label={words.caseQuestion}
          kind="text"
          value={question}
          change={(next) => setDraft({ ...draft, question: next })}
          fault={ofCase && words.draftFaults[ofCase.kind]}
        />
      )}
      <fieldset className="case-checks">
        <legend>{words.caseChecks}</legend>
        {checks.length === 0 && <p className="soft small">{words.noChecks}</p>}
        {checks.map((check, index) => (
          <CheckEditor
            key={keys[index] ?? index}
            {...{ check, faults: faults.filter((fault) => fault.check === index) }}
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
            {words.addCheck}
          </button>
        </div>
      </fieldset>
    </>
  );
}

function readJson(text: string, tell: (why: string) => string): { entry: JsonObject } | { trouble: string } {
  try {
    const entry = parseJson(text);
    return isJsonObject(entry) ? { entry } : { trouble: tell('') };
  } catch (thrown) {
    if (!(thrown instanceof JsonFault)) throw thrown;
    return { trouble: tell(thrown.message) };
  }
}

interface CheckEditorProps {
  readonly check: CheckDraft;
  readonly faults: readonly DraftFault[];
  readonly number: number;
  readonly change: (check: CheckDraft) => void;
  readonly remove: () => void;
}

/** What must hold of an answer: which kind of check, and its fields. What two kinds share stays as it was written. */
function CheckEditor({ check, faults, number, change, remove }: CheckEditorProps) {
  const words = useBuilderWords();
  const { type, values } = check;
  const faultOf = (field: string): string | undefined => {
    const fault = faults.find((each) => each.field === field);
    return fault && words.draftFaults[fault.kind];
  };
  return (
    <fieldset className="case-check">
      <legend className="heard-only">{words.checkNumber(number)}</legend>
      <div className="row">
        <select
          aria-label={words.checkType(number)}
          value={type}
          onChange={({ target }) => change({ type: target.value as CheckType, values })}
        >
          {checkTypes.map((each) => (
            <option key={each} value={each}>
              {words.checkTypes[each]}
            </option>
          ))}
        </select>
        <RemoveButton name={words.checkNumber(number)} remove={remove} />
      </div>
      {fieldsOf(type).map(([field, kind]) => (
        <DraftField
          key={field}
          label={words.checkFields[field as keyof typeof words.checkFields]}
          {...{ kind, value: values[field] ?? '', fault: faultOf(field) }}
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
  readonly fault?: string | undefined;
}

/** A field of a case: its label, what it is written in, and what is wrong with it. */
function DraftField({ label, kind, value, change, hint, fault }: DraftFieldProps) {
  const id = useId();
  const described = [hint !== undefined && `${id}-hint`, fault !== undefined && `${id}-fault`].filter(Boolean).join(' ');
  const control = { id, 'aria-invalid': fault !== undefined, ...(described !== '' && { 'aria-describedby': described }) };
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
      {fault !== undefined && (
        <p className="trouble" id={`${id}-fault`}>
          {fault}
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
  if (kind === 'text') return <textarea {...{ ...control, value, onChange, rows: 2, className: 'case-words' }} />;
  if (kind === 'object')
    return <textarea {...{ ...control, value, onChange, rows: 3, className: 'code case-words', spellCheck: false }} />;
  const inputMode = kind === 'number' ? 'decimal' : undefined;
  return <input {...{ ...control, value, onChange, inputMode, className: kind === 'code' ? 'code' : undefined }} />;
}

interface DeploymentChoiceProps extends Pick<ControlProps, 'control' | 'value'> {
  readonly onChange: (event: { readonly target: { readonly value: string } }) => void;
}

/** One that is not listed any more stays chosen. */
function DeploymentChoice({ control, value, onChange }: DeploymentChoiceProps) {
  const words = useBuilderWords();
  const { deployments } = usePage();
  const isListed = value === '' || deployments.some(({ id }) => id === value);
  return (
    <select {...{ ...control, value, onChange }}>
      {value === '' && <option value="">{words.chooseJudge}</option>}
      {!isListed && <option value={value}>{value}</option>}
      {deployments.map(({ id, name }) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </select>
  );
}
