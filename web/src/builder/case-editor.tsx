import { useId, useState } from 'react';
import { isJsonObject, JsonFault, type JsonObject, parseJson } from '#base/json.ts';
import { Icon } from '../parts/icon.tsx';
import { useBuilderWords } from './builder-words.ts';
import { type CaseDraft, type CheckDraft, type DraftFault, isDraftable, toCaseEntry, toDraft } from './case-draft.ts';
import { CheckEditor } from './check-editor.tsx';
import { DraftField } from './draft-field.tsx';
import { useItemKeys } from './use-item-keys.ts';

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
