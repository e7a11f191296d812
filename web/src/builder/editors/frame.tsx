import type { ReactNode } from 'react';
import { formatPath, type Path } from '#contract/configuration/fault.ts';
import { useFormsWords } from '../../forms/forms-words.ts';
import { faultsUnder } from './field-faults.ts';
import { type BuilderForm, type EditorProps, elementId } from './form.ts';

/** What the element that is written in must carry. */
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
  readonly isLabelHeard?: boolean | undefined;
  /** What is wrong before the service is asked. */
  readonly fault?: string | undefined;
  readonly children: (control: ControlProps) => ReactNode;
}

/** A label, a hint, what is written, and what is wrong with it. */
export function FieldFrame({
  form,
  path,
  label,
  hint = '',
  isRequired,
  isSwitch,
  isLabelHeard,
  fault,
  children,
}: FieldFrameProps) {
  const words = useFormsWords();
  const id = elementId(form, path);
  const faults = fault === undefined ? faultsUnder(form.faults, formatPath(path)) : [fault];
  const described = [hint !== '' && `${id}-hint`, faults.length > 0 && `${id}-fault`].filter(Boolean).join(' ');
  return (
    <div className={isSwitch ? 'field switch' : 'field'}>
      <label htmlFor={id} className={isLabelHeard ? 'heard-only' : undefined}>
        {label}
        {isRequired && !isSwitch && <span className="soft small"> · {words.required}</span>}
      </label>
      {hint !== '' && (
        <p className="soft small" id={`${id}-hint`}>
          <Hint text={hint} />
        </p>
      )}
      {children({ id, 'aria-invalid': faults.length > 0, ...(described !== '' && { 'aria-describedby': described }) })}
      {faults.length > 0 && (
        <p className="trouble" id={`${id}-fault`}>
          {faults.join(' ')}
        </p>
      )}
    </div>
  );
}

interface FieldGroupProps extends Pick<EditorProps, 'form' | 'path' | 'label' | 'isLabelHeard'> {
  readonly className: 'field-group' | 'builder-list';
  readonly hint?: string;
  readonly children: ReactNode;
}

/** What has several fields: its label, a hint, what is wrong with the whole, and the fields. */
export function FieldGroup({ form, path, label, isLabelHeard, className, hint = '', children }: FieldGroupProps) {
  return (
    <fieldset className={className} id={elementId(form, path)}>
      <legend className={isLabelHeard ? 'heard-only' : undefined}>{label}</legend>
      {hint !== '' && (
        <p className="soft small">
          <Hint text={hint} />
        </p>
      )}
      <FaultAt {...{ form, path }} />
      {children}
    </fieldset>
  );
}

/** What is wrong at the very place, where no field shows it. */
export function FaultAt({ form, path }: { readonly form: BuilderForm; readonly path: Path }) {
  const fault = form.faults.get(formatPath(path));
  return fault === undefined ? null : <p className="trouble">{fault}</p>;
}

/** A text of the schema; what stands between backticks is code. */
function Hint({ text }: { readonly text: string }) {
  // biome-ignore lint/suspicious/noArrayIndexKey: the parts of one text never move
  return text.split('`').map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part));
}
