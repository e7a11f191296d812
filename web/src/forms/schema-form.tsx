import { type FormEvent, useId, useMemo, useState } from 'react';
import { isJsonObject, tryParseJson } from '#base/json/json.ts';
import { useWords } from '../words/words.tsx';
import { ChoiceButton } from './choice-button.tsx';
import { type Field, toFields } from './field.ts';
import { FieldView, toFieldId } from './field-view.tsx';
import { type Draft, type FormFaults, toDraft, toValue } from './form-value.ts';
import type { FormsWords } from './forms-english.ts';
import { useFormsWords } from './forms-words.ts';

interface SchemaFormProps {
  readonly schema: object;
  /** What was sent, for a form that is kept to be read. */
  readonly sent?: Readonly<Record<string, unknown>> | undefined;
  /** `filled`: what was filled in, in the words of the form. */
  /** What the button says; absent: that it is sent. */
  readonly submitWord?: string;
  readonly onSubmit: (value: Record<string, unknown>, filled?: readonly string[]) => void;
}

/** A form drawn from a JSON Schema. What the schema says beyond what is drawn is checked by the service. */
export function SchemaForm({ schema, sent, submitWord, onSubmit }: SchemaFormProps) {
  const words = useWords();
  const own = useFormsWords();
  const fields = useMemo(() => toFields(schema), [schema]);
  const [draft, setDraft] = useState<Draft>(() => (sent === undefined ? new Map() : toDraft(fields ?? [], sent)));
  const [faults, setFaults] = useState<FormFaults>(new Map());
  const id = useId();
  if (fields === undefined) return <JsonForm {...{ schema, sent, onSubmit }} {...(submitWord !== undefined && { submitWord })} />;
  const submitValue = (now: Draft): void => {
    const filled = toValue(fields, now, own);
    setFaults(filled.faults);
    const [first] = filled.faults.keys();
    if (first === undefined) onSubmit(filled.value, inWords(fields, filled.value, own));
    else document.getElementById(toFieldId(id, first))?.focus();
  };
  const only = onlyChoice(fields);
  if (only !== undefined) {
    return (
      <div className="options">
        {only.hint !== '' && <p className="soft small">{only.hint}</p>}
        {only.options.map(({ label, value }) => (
          <ChoiceButton
            key={label}
            label={label}
            isChosen={sent !== undefined && JSON.stringify(sent[only.name]) === JSON.stringify(value)}
            choose={() => onSubmit({ [only.name]: value }, inWords(fields, { [only.name]: value }, own))}
          />
        ))}
      </div>
    );
  }
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    submitValue(draft);
  };
  const change = (path: string, value: unknown): void => setDraft((now) => new Map(now).set(path, value));
  return (
    <form className="form" noValidate onSubmit={submit}>
      {fields.map((field) => (
        <FieldView key={field.name} {...{ field, base: '', form: { id, draft, faults, change } }} />
      ))}
      <button type="submit" className="button primary">
        {submitWord ?? words.submit}
      </button>
    </form>
  );
}

const mostButtons = 8;

/** A form of one choice is drawn as a button for each option. */
function onlyChoice(fields: readonly Field[]): (Field & { readonly kind: 'choice' | 'choices' }) | undefined {
  const [field] = fields;
  if (fields.length !== 1 || field?.kind !== 'choice') return undefined;
  return field.isRequired && field.options.length <= mostButtons ? field : undefined;
}

function JsonForm({ sent, submitWord, onSubmit }: SchemaFormProps) {
  const words = useWords();
  const own = useFormsWords();
  const [text, setText] = useState(() => JSON.stringify(sent ?? {}, null, 2));
  const [isWrong, setIsWrong] = useState(false);
  const id = useId();
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const value = tryParseJson(text);
    setIsWrong(!isJsonObject(value));
    if (isJsonObject(value)) onSubmit(value);
  };
  return (
    <form className="form" onSubmit={submit}>
      <label htmlFor={id}>{own.asJsonValue}</label>
      <textarea
        {...{ id, rows: 4, value: text, className: 'code', 'aria-invalid': isWrong }}
        onChange={({ target }) => setText(target.value)}
      />
      {isWrong && <p className="trouble">{own.mustBeJson}</p>}
      <button type="submit" className="button primary">
        {submitWord ?? words.submit}
      </button>
    </form>
  );
}

/** What was filled in as the form says it: each field by its title, each choice by its own. */
export function inWords(
  fields: readonly Field[],
  value: Readonly<Record<string, unknown>>,
  words: FormsWords,
): readonly string[] {
  return fields.flatMap((field) => {
    const filled = Object.hasOwn(value, field.name) ? value[field.name] : undefined;
    if (filled === undefined) return [];
    if (field.kind === 'group') return isJsonObject(filled) ? inWords(field.fields, filled, words) : [];
    const items = field.kind === 'choices' && Array.isArray(filled) ? filled : [filled];
    return [`${field.label}: ${items.map((item) => toText(field, item, words)).join(', ')}`];
  });
}

function toText(field: Field, value: unknown, words: FormsWords): string {
  if (field.kind === 'choice' || field.kind === 'choices') {
    const told = JSON.stringify(value);
    const option = field.options.find((each) => JSON.stringify(each.value) === told);
    if (option !== undefined) return option.label;
  }
  if (typeof value === 'boolean') return value ? words.yes : words.no;
  return typeof value === 'string' ? value : JSON.stringify(value);
}
