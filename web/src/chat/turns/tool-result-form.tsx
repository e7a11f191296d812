import { type FormEvent, useId, useState } from 'react';
import type { Reply } from '../../conversation/conversation.ts';
import { useStrings } from '../../strings/strings.tsx';
import { focusMessage } from '../focus-message.ts';
import type { UserMessage } from '../user-message.ts';

interface ToolResultFormProps {
  readonly call: NonNullable<Reply['functionCall']>;
  readonly sendMessage: (message: UserMessage) => void;
}

/** A field for the result of a client tool, which the user runs elsewhere. */
export function ToolResultForm({ call: { name = '', arguments: input = '' }, sendMessage }: ToolResultFormProps) {
  const strings = useStrings();
  const [text, setText] = useState('');
  const id = useId();
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (text.trim() === '') return;
    focusMessage();
    sendMessage({ text: text.trim(), attachments: [], toolName: name });
  };
  return (
    <form className="tool-result" onSubmit={submit}>
      {input !== '' && (
        <pre className="small">
          <code>{input}</code>
        </pre>
      )}
      <label htmlFor={id}>{strings.toolResult(name)}</label>
      <textarea {...{ id, rows: 3, value: text, dir: 'auto' }} onChange={({ target }) => setText(target.value)} />
      <button type="submit" className="button primary" disabled={text.trim() === ''}>
        {strings.submit}
      </button>
    </form>
  );
}
