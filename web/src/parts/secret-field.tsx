import { useEffect, useRef } from 'react';
import { CopyButton } from './copy-button.tsx';
import './secret-field.css';

interface SecretFieldProps {
  readonly secret: string;
  /** Accessible name of the field. */
  readonly name: string;
  readonly copyLabel: string;
}

/** A new secret with a copy button. It is selected, so that the user can also copy it with the keyboard. */
export function SecretField({ secret, name, copyLabel }: SecretFieldProps) {
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    input.current?.focus();
    input.current?.select();
  }, []);
  return (
    <div className="secret-field">
      <input {...{ ref: input, readOnly: true, value: secret, 'aria-label': name }} />
      <CopyButton text={() => secret} label={copyLabel} />
    </div>
  );
}
