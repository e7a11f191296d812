import { type FormEvent, type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import { TextButton } from '../../parts/icon.tsx';
import { isComposing } from '../../parts/is-composing.ts';
import { useStrings } from '../../strings/strings.tsx';

interface TurnEditorProps {
  readonly className: string;
  /** Label of the field. */
  readonly label: string;
  /** Label of the submit button. */
  readonly submitLabel: string;
  /** Text before the edit. */
  readonly text: string;
  readonly canBeEmpty?: boolean;
  /** Whether the text cannot be submitted yet. */
  readonly isBlocked?: boolean;
  /** Whether Enter submits. Otherwise it adds a line, and Ctrl + Enter or ⌘ + Enter submits. */
  readonly submitsOnEnter?: boolean;
  readonly onSubmit: (text: string) => void;
  readonly close: () => void;
  /** Hints about the field. */
  readonly children?: ReactNode;
}

/** An editor for the text of a turn. */
export function TurnEditor({
  className,
  label,
  submitLabel,
  text: initialText,
  canBeEmpty = false,
  isBlocked = false,
  submitsOnEnter = false,
  onSubmit,
  close,
  children,
}: TurnEditorProps) {
  const strings = useStrings();
  const [text, setText] = useState(initialText);
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    field.current?.focus();
    field.current?.form?.scrollIntoView({ block: 'nearest' });
  }, []);
  const submit = (event?: FormEvent): void => {
    event?.preventDefault();
    if (isBlocked || (text.trim() === '' && !canBeEmpty)) return;
    close();
    onSubmit(text);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (isComposing(event.nativeEvent)) return;
    if (event.key === 'Escape') close();
    const isSubmitKey = event.ctrlKey || event.metaKey || (submitsOnEnter && !event.shiftKey);
    if (event.key !== 'Enter' || !isSubmitKey) return;
    event.preventDefault();
    submit();
  };
  return (
    <form className={`${className} editor`} onSubmit={submit}>
      <textarea
        {...{ ref: field, dir: 'auto', 'aria-label': label, rows: 3, value: text, onKeyDown }}
        onChange={({ target }) => setText(target.value)}
      />
      {children}
      <div className="row end">
        <TextButton onClick={close}>{strings.cancel}</TextButton>
        <button type="submit" className="button primary" disabled={isBlocked}>
          {submitLabel}
        </button>
      </div>
    </form>
  );
}
