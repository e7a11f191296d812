import { type FormEvent, Fragment, useId, useState } from 'react';
import type { ClientCall, UserMessage } from '../../conversation/conversation.ts';
import { useStrings } from '../../strings/strings.tsx';
import { focusMessage } from '../focus-message.ts';

interface ToolResultFormProps {
  readonly calls: readonly ClientCall[];
  readonly sendMessage: (message: UserMessage) => void;
}

/** A field for the result of each client tool, which the user runs elsewhere. */
export function ToolResultForm({ calls, sendMessage }: ToolResultFormProps) {
  const strings = useStrings();
  const [texts, setTexts] = useState<readonly string[]>(() => calls.map(() => ''));
  const id = useId();
  const canSend = texts.every((text) => text.trim() !== '');
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (!canSend) return;
    focusMessage();
    const results = calls.map((call, index) => ({ ...call, text: texts[index]?.trim() ?? '' }));
    const toolResults = results.flatMap(({ id: callId, name, text }) =>
      callId === undefined ? [] : [{ id: callId, name, text }],
    );
    sendMessage({
      text: results.map(({ text }) => text).join('\n\n'),
      attachments: [],
      ...(toolResults.length > 0 ? { toolResults } : { toolName: calls[0]?.name ?? '' }),
    });
  };
  return (
    <form className="tool-result" onSubmit={submit}>
      <p>{strings.runTools(calls.length)}</p>
      {calls.map(({ id: callId, name, input }, index) => (
        <Fragment key={callId}>
          <label htmlFor={`${id} ${index}`}>{strings.toolResult(name)}</label>
          {input !== '' && (
            <pre className="small">
              <code>{input}</code>
            </pre>
          )}
          <textarea
            {...{ id: `${id} ${index}`, rows: 3, value: texts[index], dir: 'auto' }}
            onChange={({ target }) => setTexts(texts.map((text, at) => (at === index ? target.value : text)))}
          />
        </Fragment>
      ))}
      <button type="submit" className="button primary" disabled={!canSend}>
        {strings.submit}
      </button>
    </form>
  );
}
