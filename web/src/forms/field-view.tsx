import type { ReactNode } from 'react';
import type { Field, Option } from './field.ts';
import { type Draft, type FormFaults, pathOf } from './form-value.ts';
import { useFormsWords } from './forms-words.ts';

/** What all fields of one form share. */
interface FormState {
  readonly id: string;
  readonly draft: Draft;
  readonly faults: FormFaults;
  readonly change: (path: string, value: unknown) => void;
}

interface FieldViewProps {
  readonly field: Field;
  /** Path of the group it is in; '' at the top. */
  readonly base: string;
  readonly form: FormState;
}

/** The id of a field's element. */
export function toFieldId(formId: string, path: string): string {
  return `${formId}${encodeURIComponent(path)}`;
}

/** One field with its label, its hint and what is wrong with it. */
export function FieldView({ field, base, form }: FieldViewProps) {
  const own = useFormsWords();
  const path = pathOf(base, field.name);
  const id = toFieldId(form.id, path);
  const fault = form.faults.get(path);
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
  const described = [field.hint !== '' && `${id}-hint`, fault !== undefined && `${id}-fault`].filter(Boolean).join(' ');
  return (
    <div className={field.kind === 'switch' ? 'field switch' : 'field'}>
      <label htmlFor={id}>
        {field.label}
        {field.isRequired && field.kind !== 'switch' && <span className="soft small"> · {own.required}</span>}
      </label>
      {field.hint !== '' && (
        <p className="soft small" id={`${id}-hint`}>
          {field.hint}
        </p>
      )}
      {control(field, {
        value: form.draft.has(path) ? form.draft.get(path) : field.start,
        change: (value) => form.change(path, value),
        chooseOne: own.chooseOne,
        common: { id, 'aria-invalid': fault !== undefined, ...(described !== '' && { 'aria-describedby': described }) },
      })}
      {fault !== undefined && (
        <p className="trouble" id={`${id}-fault`}>
          {fault}
        </p>
      )}
    </div>
  );
}

interface ControlParts {
  readonly value: unknown;
  readonly change: (value: unknown) => void;
  readonly chooseOne: string;
  readonly common: { readonly id: string; readonly 'aria-invalid': boolean; readonly 'aria-describedby'?: string };
}

function control(field: Field, { value, change, chooseOne, common }: ControlParts): ReactNode {
  const text =
    value === undefined ? '' : typeof value === 'string' || field.kind === 'number' ? String(value) : JSON.stringify(value);
  if (field.kind === 'switch') {
    return <input {...common} type="checkbox" checked={value === true} onChange={({ target }) => change(target.checked)} />;
  }
  if (field.kind === 'choice') {
    const chosen = field.options.findIndex((option) => isSame(option.value, value));
    return (
      <select {...common} value={chosen} onChange={({ target }) => change(field.options[Number(target.value)]?.value)}>
        <option value={-1}>{chooseOne}</option>
        {field.options.map(({ label }, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: options have no other identity and never move
          <option key={at} value={at}>
            {label}
          </option>
        ))}
      </select>
    );
  }
  if (field.kind === 'json' || (field.kind === 'text' && field.isLong)) {
    return <textarea {...common} rows={3} value={text} onChange={({ target }) => change(target.value)} />;
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
      onChange={({ target }) => change(target.value)}
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
  const written = form.draft.has(path) ? form.draft.get(path) : field.start;
  const chosen: readonly unknown[] = Array.isArray(written) ? written : [];
  const isChosen = ({ value }: Option): boolean => chosen.some((each) => isSame(each, value));
  return field.options.map((option) => (
    <label key={option.label} className="check">
      <input
        type="checkbox"
        checked={isChosen(option)}
        onChange={({ target }) => {
          const others = field.options.filter((each) => (each === option ? target.checked : isChosen(each)));
          form.change(path, others.length === 0 ? undefined : others.map(({ value }) => value));
        }}
      />
      {option.label}
    </label>
  ));
}

function isSame(one: unknown, other: unknown): boolean {
  return one === other || (typeof one === 'object' && JSON.stringify(one) === JSON.stringify(other));
}
