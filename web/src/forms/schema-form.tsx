import { type FormEvent, useId, useMemo, useState } from 'react';
import { isJsonObject, tryParseJson } from '#base/json/json.ts';
import type { FormsStrings } from '../locales/en/forms.ts';
import { useStrings } from '../strings/strings.tsx';
import { ChoiceButton } from './choice-button.tsx';
import { type Field, toFields } from './field.ts';
import { FieldView, toFieldId } from './field-view.tsx';
import { type Draft, type FormErrors, toDraft, toValue } from './form-value.ts';
import { useFormsStrings } from './forms-strings.ts';

interface SchemaFormProps {
  readonly schema: object;
  /** Submitted value of a read-only form. */
  readonly sent?: Readonly<Record<string, unknown>> | undefined;
  /** `filled`: the entered values in the words of the form. */
  /** Label of the submit button. The default is the label for sending. */
  readonly submitLabel?: string;
  readonly onSubmit: (value: Record<string, unknown>, filled?: readonly string[]) => void;
}

/** A form generated from a JSON Schema. The service checks rules that the form does not support. */
export function SchemaForm({ schema, sent, submitLabel, onSubmit }: SchemaFormProps) {
  const strings = useStrings();
  const formsStrings = useFormsStrings();
  const fields = useMemo(() => toFields(schema), [schema]);
  const [draft, setDraft] = useState<Draft>(() => (sent === undefined ? new Map() : toDraft(fields ?? [], sent)));
  const [errors, setErrors] = useState<FormErrors>(new Map());
  const id = useId();
  if (fields === undefined)
    return <JsonForm {...{ schema, sent, onSubmit }} {...(submitLabel !== undefined && { submitLabel })} />;
  const submitValue = (now: Draft): void => {
    const result = toValue(fields, now, formsStrings);
    setErrors(result.errors);
    const [first] = result.errors.keys();
    if (first === undefined) onSubmit(result.value, describeValue(fields, result.value, formsStrings));
    else document.getElementById(toFieldId(id, first))?.focus();
  };
  const onlyField = findOnlyChoice(fields);
  if (onlyField !== undefined) {
    return (
      <div className="options">
        {onlyField.hint !== '' && <p className="soft small">{onlyField.hint}</p>}
        {onlyField.options.map(({ label, value }) => (
          <ChoiceButton
            key={label}
            label={label}
            isChosen={sent !== undefined && JSON.stringify(sent[onlyField.name]) === JSON.stringify(value)}
            choose={() => onSubmit({ [onlyField.name]: value }, describeValue(fields, { [onlyField.name]: value }, formsStrings))}
          />
        ))}
      </div>
    );
  }
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    submitValue(draft);
  };
  const onChange = (path: string, value: unknown): void => setDraft((now) => new Map(now).set(path, value));
  return (
    <form className="form" noValidate onSubmit={submit}>
      {fields.map((field) => (
        <FieldView key={field.name} {...{ field, base: '', form: { id, draft, errors, onChange } }} />
      ))}
      <button type="submit" className="button primary">
        {submitLabel ?? strings.submit}
      </button>
    </form>
  );
}

const maxButtons = 8;

/** Returns the only field if it is a choice. Its options are drawn as buttons. */
function findOnlyChoice(fields: readonly Field[]): (Field & { readonly kind: 'choice' | 'choices' }) | undefined {
  const [field] = fields;
  if (fields.length !== 1 || field?.kind !== 'choice') return undefined;
  return field.isRequired && field.options.length <= maxButtons ? field : undefined;
}

function JsonForm({ sent, submitLabel, onSubmit }: SchemaFormProps) {
  const strings = useStrings();
  const formsStrings = useFormsStrings();
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
      <label htmlFor={id}>{formsStrings.asJsonValue}</label>
      <textarea
        {...{ id, rows: 4, value: text, className: 'code', 'aria-invalid': isWrong }}
        onChange={({ target }) => setText(target.value)}
      />
      {isWrong && <p className="trouble">{formsStrings.mustBeJson}</p>}
      <button type="submit" className="button primary">
        {submitLabel ?? strings.submit}
      </button>
    </form>
  );
}

/** Describes the entered values with the titles of fields and options. */
export function describeValue(
  fields: readonly Field[],
  value: Readonly<Record<string, unknown>>,
  strings: FormsStrings,
): readonly string[] {
  return fields.flatMap((field) => {
    const fieldValue = Object.hasOwn(value, field.name) ? value[field.name] : undefined;
    if (fieldValue === undefined) return [];
    if (field.kind === 'group') return isJsonObject(fieldValue) ? describeValue(field.fields, fieldValue, strings) : [];
    const items = field.kind === 'choices' && Array.isArray(fieldValue) ? fieldValue : [fieldValue];
    return [`${field.label}: ${items.map((item) => toText(field, item, strings)).join(', ')}`];
  });
}

function toText(field: Field, value: unknown, strings: FormsStrings): string {
  if (field.kind === 'choice' || field.kind === 'choices') {
    const serialized = JSON.stringify(value);
    const option = field.options.find((item) => JSON.stringify(item.value) === serialized);
    if (option !== undefined) return option.label;
  }
  if (typeof value === 'boolean') return value ? strings.yes : strings.no;
  return typeof value === 'string' ? value : JSON.stringify(value);
}
