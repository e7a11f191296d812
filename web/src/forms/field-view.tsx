import type { ReactNode } from 'react';
import type { Field, Option } from './field.ts';
import { type Draft, type FormErrors, joinPath } from './form-value.ts';
import { useFormsStrings } from './forms-strings.ts';

/** State that all fields of a form share. */
interface FormState {
  readonly id: string;
  readonly draft: Draft;
  readonly errors: FormErrors;
  readonly onChange: (path: string, value: unknown) => void;
}

interface FieldViewProps {
  readonly field: Field;
  /** Path of the group that contains it. '' at the top level. */
  readonly base: string;
  readonly form: FormState;
}

/** Returns the element ID of a field. */
export function toFieldId(formId: string, path: string): string {
  return `${formId}${encodeURIComponent(path)}`;
}

/** A field with its label, hint, and error. */
export function FieldView({ field, base, form }: FieldViewProps) {
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
  const describedBy = [field.hint !== '' && `${id}-hint`, error !== undefined && `${id}-fault`].filter(Boolean).join(' ');
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
        <p className="trouble" id={`${id}-fault`}>
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
    const selected = field.options.findIndex((option) => isSame(option.value, value));
    return (
      <select {...common} value={selected} onChange={({ target }) => onChange(field.options[Number(target.value)]?.value)}>
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
