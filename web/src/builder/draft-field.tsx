import { useId } from 'react';
import { usePage } from '../page/page.tsx';
import { useBuilderWords } from './builder-words.ts';
import type { FieldKind } from './case-draft.ts';

interface DraftFieldProps {
  readonly label: string;
  readonly kind: FieldKind;
  readonly value: string;
  readonly change: (value: string) => void;
  readonly hint?: string;
  readonly fault?: string | undefined;
}

/** A field of a case: its label, what it is written in, and what is wrong with it. */
export function DraftField({ label, kind, value, change, hint, fault }: DraftFieldProps) {
  const id = useId();
  const described = [hint !== undefined && `${id}-hint`, fault !== undefined && `${id}-fault`].filter(Boolean).join(' ');
  const control = { id, 'aria-invalid': fault !== undefined, ...(described !== '' && { 'aria-describedby': described }) };
  const isFlag = kind === 'flag';
  return (
    <div className={isFlag ? 'field switch' : 'field'}>
      <label htmlFor={id}>{label}</label>
      {hint !== undefined && (
        <p className="soft small" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      <Control {...{ control, kind, value, change }} />
      {fault !== undefined && (
        <p className="trouble" id={`${id}-fault`}>
          {fault}
        </p>
      )}
    </div>
  );
}

interface ControlProps extends Pick<DraftFieldProps, 'kind' | 'value' | 'change'> {
  readonly control: { readonly id: string };
}

function Control({ control, kind, value, change }: ControlProps) {
  const onChange = ({ target }: { readonly target: { readonly value: string } }): void => change(target.value);
  if (kind === 'flag')
    return (
      <input
        {...control}
        type="checkbox"
        checked={value === 'true'}
        onChange={({ target }) => change(target.checked ? 'true' : '')}
      />
    );
  if (kind === 'deployment') return <DeploymentChoice {...{ control, value, onChange }} />;
  if (kind === 'text') return <textarea {...{ ...control, value, onChange, rows: 2, className: 'case-words' }} />;
  if (kind === 'object')
    return <textarea {...{ ...control, value, onChange, rows: 3, className: 'code case-words', spellCheck: false }} />;
  const inputMode = kind === 'number' ? 'decimal' : undefined;
  return <input {...{ ...control, value, onChange, inputMode, className: kind === 'code' ? 'code' : undefined }} />;
}

interface DeploymentChoiceProps extends Pick<ControlProps, 'control' | 'value'> {
  readonly onChange: (event: { readonly target: { readonly value: string } }) => void;
}

/** One that is not listed any more stays chosen. */
function DeploymentChoice({ control, value, onChange }: DeploymentChoiceProps) {
  const words = useBuilderWords();
  const { deployments } = usePage();
  const isListed = value === '' || deployments.some(({ id }) => id === value);
  return (
    <select {...{ ...control, value, onChange }}>
      {value === '' && <option value="">{words.chooseJudge}</option>}
      {!isListed && <option value={value}>{value}</option>}
      {deployments.map(({ id, name }) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </select>
  );
}
