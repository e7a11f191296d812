import type { ReactNode } from 'react';
import { formatPath, type Path } from '#contract/configuration/fault.ts';
import { useWords } from '../words/words.tsx';
import { faultsUnder } from './field-faults.ts';
import { type BuilderForm, elementId } from './form.ts';

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
  /** What is wrong before the service is asked. */
  readonly fault?: string | undefined;
  readonly children: (control: ControlProps) => ReactNode;
}

/** A label, a hint, what is written, and what is wrong with it. */
export function FieldFrame({ form, path, label, hint = '', isRequired, isSwitch, fault, children }: FieldFrameProps) {
  const words = useWords();
  const id = elementId(form, path);
  const faults = fault === undefined ? faultsUnder(form.faults, formatPath(path)) : [fault];
  const described = [hint !== '' && `${id}-hint`, faults.length > 0 && `${id}-fault`].filter(Boolean).join(' ');
  return (
    <div className={isSwitch ? 'field switch' : 'field'}>
      <label htmlFor={id}>
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

/** What is wrong at the very place, where no field shows it. */
export function FaultAt({ form, path }: { readonly form: BuilderForm; readonly path: Path }) {
  const fault = form.faults.get(formatPath(path));
  return fault === undefined ? null : <p className="trouble">{fault}</p>;
}

/** A text of the schema; what stands between backticks is code. */
export function Hint({ text }: { readonly text: string }) {
  // biome-ignore lint/suspicious/noArrayIndexKey: the parts of one text never move
  return text.split('`').map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part));
}
