import { type FormEvent, type ReactNode, useId, useMemo, useState } from 'react';
import { isJsonObject, tryParseJson } from '#base/json/json.ts';
import type { FormsStrings } from '../locales/en/forms.ts';
import { useStrings } from '../strings/strings.tsx';
import { ChoiceButton } from './choice-button.tsx';
import { type Field, type Option, toFields } from './field.ts';
import { type Draft, type FormErrors, joinPath, toDraft, toValue } from './form-value.ts';
import { useFormsStrings } from './forms-strings.ts';

interface SchemaFormProps {
  readonly schema: object;
  /** Previously submitted value, which fills the form. */
  readonly submittedValue?: Readonly<Record<string, unknown>> | undefined;
  /** Label of the submit button, if it is not “Send”. */
  readonly submitLabel?: string | undefined;
  /** Called with the value, and its description with the labels of the form. A value that was entered as JSON has no description. */
  readonly onSubmit: (value: Record<string, unknown>, description?: readonly string[]) => void;
}

/** A form generated from a JSON Schema. The service checks rules that the form does not support. */
export function SchemaForm({ schema, submittedValue, submitLabel, onSubmit }: SchemaFormProps) {
  const strings = useStrings();
  const formsStrings = useFormsStrings();
  const fields = useMemo(() => toFields(schema), [schema]);
  const [draft, setDraft] = useState<Draft>(() =>
    submittedValue === undefined ? new Map() : toDraft(fields ?? [], submittedValue),
  );
  const [errors, setErrors] = useState<FormErrors>(new Map());
  const id = useId();
  if (fields === undefined) return <JsonForm {...{ submittedValue, submitLabel, onSubmit }} />;
  const onlyField = findOnlyChoice(fields);
  if (onlyField !== undefined) {
    return (
      <div className="options">
        {onlyField.hint !== '' && <p className="soft small">{onlyField.hint}</p>}
        {onlyField.options.map(({ label, value }) => (
          <ChoiceButton
            key={label}
            label={label}
            isSelected={submittedValue !== undefined && JSON.stringify(submittedValue[onlyField.name]) === JSON.stringify(value)}
            select={() => onSubmit({ [onlyField.name]: value }, describeValue(fields, { [onlyField.name]: value }, formsStrings))}
          />
        ))}
      </div>
    );
  }
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const result = toValue(fields, draft, formsStrings);
    setErrors(result.errors);
    const [first] = result.errors.keys();
    if (first === undefined) onSubmit(result.value, describeValue(fields, result.value, formsStrings));
    else document.getElementById(toFieldId(id, first))?.focus();
  };
  const onChange = (path: string, value: unknown): void => setDraft((current) => new Map(current).set(path, value));
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

/** Returns the only field if it is a required choice with few options, which the form shows as buttons. */
function findOnlyChoice(fields: readonly Field[]): (Field & { readonly kind: 'choice' | 'choices' }) | undefined {
  const [field] = fields;
  if (fields.length !== 1 || field?.kind !== 'choice') return undefined;
  return field.isRequired && field.options.length <= maxButtons ? field : undefined;
}

function JsonForm({ submittedValue, submitLabel, onSubmit }: Omit<SchemaFormProps, 'schema'>) {
  const strings = useStrings();
  const formsStrings = useFormsStrings();
  const [text, setText] = useState(() => JSON.stringify(submittedValue ?? {}, null, 2));
  const [isInvalid, setIsInvalid] = useState(false);
  const id = useId();
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const value = tryParseJson(text);
    setIsInvalid(!isJsonObject(value));
    if (isJsonObject(value)) onSubmit(value);
  };
  return (
    <form className="form" onSubmit={submit}>
      <label htmlFor={id}>{formsStrings.asJsonValue}</label>
      <textarea
        {...{ id, rows: 4, value: text, className: 'code', 'aria-invalid': isInvalid }}
        onChange={({ target }) => setText(target.value)}
      />
      {isInvalid && <p className="error-text">{formsStrings.mustBeJson}</p>}
      <button type="submit" className="button primary">
        {submitLabel ?? strings.submit}
      </button>
    </form>
  );
}

/** Describes the entered values with the labels of fields and options, such as `Color: red`. */
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

/** State that all fields of a form share. */
interface FormState {
  readonly id: string;
  readonly draft: Draft;
  readonly errors: FormErrors;
  readonly onChange: (path: string, value: unknown) => void;
}

interface FieldViewProps {
  readonly field: Field;
  /** Path of the group that contains the field. '' at the top level. */
  readonly base: string;
  readonly form: FormState;
}

/** Returns the element ID of a field. */
function toFieldId(formId: string, path: string): string {
  return `${formId}${encodeURIComponent(path)}`;
}

/** A field with its label, hint, and error. */
function FieldView({ field, base, form }: FieldViewProps) {
  const formsStrings = useFormsStrings();
  const path = joinPath(base, field.name);
  const id = toFieldId(form.id, path);
  const error = form.errors.get(path);
  if (field.kind === 'group' || field.kind === 'choices') {
    return (
      <fieldset className="field-group">
        <legend>{field.label}</legend>
        {field.hint !== '' && <p className="soft small">{field.hint}</p>}
        {field.kind === 'group' ? (
          field.fields.map((inner) => <FieldView key={inner.name} {...{ field: inner, base: path, form }} />)
        ) : (
          <Choices {...{ field, path, form }} />
        )}
      </fieldset>
    );
  }
  const describedBy = [field.hint !== '' && `${id}-hint`, error !== undefined && `${id}-error`].filter(Boolean).join(' ');
  return (
    <div className={field.kind === 'switch' ? 'field switch' : 'field'}>
      <label htmlFor={id}>
        {field.label}
        {field.isRequired && field.kind !== 'switch' && <span className="soft small"> · {formsStrings.required}</span>}
      </label>
      {field.hint !== '' && (
        <p className="soft small" id={`${id}-hint`}>
          {field.hint}
        </p>
      )}
      {renderControl(field, {
        value: form.draft.has(path) ? form.draft.get(path) : field.initialValue,
        onChange: (value) => form.onChange(path, value),
        placeholderLabel: formsStrings.chooseOne,
        common: { id, 'aria-invalid': error !== undefined, ...(describedBy !== '' && { 'aria-describedby': describedBy }) },
      })}
      {error !== undefined && (
        <p className="error-text" id={`${id}-error`}>
          {error}
        </p>
      )}
    </div>
  );
}

interface ControlParts {
  readonly value: unknown;
  readonly onChange: (value: unknown) => void;
  readonly placeholderLabel: string;
  readonly common: { readonly id: string; readonly 'aria-invalid': boolean; readonly 'aria-describedby'?: string };
}

function renderControl(field: Field, { value, onChange, placeholderLabel, common }: ControlParts): ReactNode {
  const text =
    value === undefined ? '' : typeof value === 'string' || field.kind === 'number' ? String(value) : JSON.stringify(value);
  if (field.kind === 'switch') {
    return <input {...common} type="checkbox" checked={value === true} onChange={({ target }) => onChange(target.checked)} />;
  }
  if (field.kind === 'choice') {
    const selectedIndex = field.options.findIndex((option) => isSame(option.value, value));
    return (
      <select {...common} value={selectedIndex} onChange={({ target }) => onChange(field.options[Number(target.value)]?.value)}>
        <option value={-1}>{placeholderLabel}</option>
        {field.options.map(({ label }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: options have no other identity and never move
          <option key={index} value={index}>
            {label}
          </option>
        ))}
      </select>
    );
  }
  if (field.kind === 'json' || (field.kind === 'text' && field.isLong)) {
    return <textarea {...common} rows={3} value={text} onChange={({ target }) => onChange(target.value)} />;
  }
  const type = field.kind === 'text' ? field.inputType : 'text';
  const inputMode = field.kind === 'number' ? 'decimal' : undefined;
  const placeholder =
    field.kind === 'number' && field.min !== undefined && field.max !== undefined ? `${field.min} – ${field.max}` : undefined;
  return (
    <input
      {...common}
      type={type}
      inputMode={inputMode}
      placeholder={placeholder}
      value={text}
      onChange={({ target }) => onChange(target.value)}
    />
  );
}

function Choices({
  field,
  path,
  form,
}: {
  field: Field & { readonly kind: 'choice' | 'choices' };
  path: string;
  form: FormState;
}) {
  const input = form.draft.has(path) ? form.draft.get(path) : field.initialValue;
  const selected: readonly unknown[] = Array.isArray(input) ? input : [];
  const isSelected = ({ value }: Option): boolean => selected.some((item) => isSame(item, value));
  return field.options.map((option) => (
    <label key={option.label} className="check">
      <input
        type="checkbox"
        checked={isSelected(option)}
        onChange={({ target }) => {
          const selectedOptions = field.options.filter((item) => (item === option ? target.checked : isSelected(item)));
          form.onChange(path, selectedOptions.length === 0 ? undefined : selectedOptions.map(({ value }) => value));
        }}
      />
      {option.label}
    </label>
  ));
}

function isSame(left: unknown, right: unknown): boolean {
  return left === right || (typeof left === 'object' && JSON.stringify(left) === JSON.stringify(right));
}
