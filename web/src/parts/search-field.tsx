import { type KeyboardEvent, useId, useRef } from 'react';
import { useStrings } from '../strings/strings.tsx';
import { Icon, IconButton } from './icon.tsx';

interface SearchFieldProps {
  readonly id?: string;
  readonly label: string;
  readonly value: string;
  readonly onChange: (text: string) => void;
  readonly onFocus?: () => void;
  readonly onKeyDown?: (event: KeyboardEvent) => void;
}

/** A search field with a button that clears it, because the button of the browser cannot be reached by keyboard. */
export function SearchField({ id, label, value, onChange, onFocus, onKeyDown }: SearchFieldProps) {
  const strings = useStrings();
  const generatedId = useId();
  const input = useRef<HTMLInputElement>(null);
  const clear = (): void => {
    onChange('');
    input.current?.focus();
  };
  const inputId = id ?? generatedId;
  return (
    <div className="search">
      <Icon name="search" />
      <label className="visually-hidden" htmlFor={inputId}>
        {label}
      </label>
      <input
        {...{ ref: input, id: inputId, type: 'search', placeholder: label, value, onFocus, onKeyDown }}
        onChange={({ target }) => onChange(target.value)}
      />
      {value !== '' && <IconButton icon="close" onClick={clear} label={strings.clearSearch} />}
    </div>
  );
}
