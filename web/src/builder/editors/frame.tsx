import type { ReactNode } from 'react';
import { formatPath, type Path } from '#contract/configuration/issue.ts';
import { useFormsStrings } from '../../forms/forms-strings.ts';
import { type BuilderForm, type EditorProps, listErrorsUnder, toElementId } from './form.ts';

/** Attributes of the input element. */
interface ControlProps {
  readonly id: string;
  readonly 'aria-invalid': boolean;
  readonly 'aria-describedby'?: string;
}

interface FieldFrameProps {
  readonly form: BuilderForm;
  readonly path: Path;
  readonly label: string;
  readonly hint?: string;
  readonly isRequired?: boolean;
  readonly isSwitch?: boolean;
  readonly isLabelHidden?: boolean | undefined;
  /** Error that the editor found in the input. It replaces the errors from the service. */
  readonly error?: string | undefined;
  readonly children: (control: ControlProps) => ReactNode;
}

/** A label, a hint, an input, and an error. */
export function FieldFrame({
  form,
  path,
  label,
  hint = '',
  isRequired,
  isSwitch,
  isLabelHidden,
  error,
  children,
}: FieldFrameProps) {
  const strings = useFormsStrings();
  const id = toElementId(form, path);
  const errors = error === undefined ? listErrorsUnder(form.errors, formatPath(path)) : [error];
  const describedBy = [hint !== '' && `${id}-hint`, errors.length > 0 && `${id}-error`].filter(Boolean).join(' ');
  return (
    <div className={isSwitch ? 'field switch' : 'field'}>
      <label htmlFor={id} className={isLabelHidden ? 'visually-hidden' : undefined}>
        {label}
        {isRequired && !isSwitch && <span className="soft small"> · {strings.required}</span>}
      </label>
      {hint !== '' && (
        <p className="soft small" id={`${id}-hint`}>
          <Hint text={hint} />
        </p>
      )}
      {children({ id, 'aria-invalid': errors.length > 0, ...(describedBy !== '' && { 'aria-describedby': describedBy }) })}
      {errors.length > 0 && (
        <p className="error-text" id={`${id}-error`}>
          {errors.join(' ')}
        </p>
      )}
    </div>
  );
}

interface FieldGroupProps extends Pick<EditorProps, 'form' | 'path' | 'label' | 'isLabelHidden'> {
  readonly className: 'field-group' | 'builder-list';
  readonly hint?: string;
  readonly children: ReactNode;
}

/** A group of fields with a label, a hint, and an error for the complete group. */
export function FieldGroup({ form, path, label, isLabelHidden, className, hint = '', children }: FieldGroupProps) {
  return (
    <fieldset className={className} id={toElementId(form, path)}>
      <legend className={isLabelHidden ? 'visually-hidden' : undefined}>{label}</legend>
      {hint !== '' && (
        <p className="soft small">
          <Hint text={hint} />
        </p>
      )}
      <FieldError {...{ form, path }} />
      {children}
    </fieldset>
  );
}

/** The error at exactly this path, for editors without a `FieldFrame`. */
export function FieldError({ form, path }: { readonly form: BuilderForm; readonly path: Path }) {
  const error = form.errors.get(formatPath(path));
  return error === undefined ? null : <p className="error-text">{error}</p>;
}

/** A text of the schema. Parts in backticks are shown as code. */
function Hint({ text }: { readonly text: string }) {
  // biome-ignore lint/suspicious/noArrayIndexKey: the parts of one text never move
  return text.split('`').map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part));
}
