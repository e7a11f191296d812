import { useBuilderWords } from './builder-words.ts';
import { type CheckDraft, type CheckType, checkTypes, type DraftFault, fieldsOf } from './case-draft.ts';
import { DraftField } from './draft-field.tsx';
import { RemoveButton } from './remove-button.tsx';

interface CheckEditorProps {
  readonly check: CheckDraft;
  readonly faults: readonly DraftFault[];
  readonly number: number;
  readonly change: (check: CheckDraft) => void;
  readonly remove: () => void;
}

/** What must hold of an answer: which kind of check, and its fields. What two kinds share stays as it was written. */
export function CheckEditor({ check, faults, number, change, remove }: CheckEditorProps) {
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
